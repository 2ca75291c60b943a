// What protects the bytes of a TLS 1.3 connection after its handshake: records under AES-128-GCM (RFC 8446, sections 5 and 7). The keys
// come from OpenSSL's handshake, and the cipher and the key schedule are OpenSSL's too.
//
// Records are sealed from where the bytes are and opened to where they belong: OpenSSL's own records would copy each byte twice more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "net/openssl.h"

namespace tinyot {

using TrafficSecret = SecretVector<std::byte>;

enum class RecordType : std::uint8_t { Alert = 21, Handshake = 22, Data = 23 };

inline constexpr std::size_t kRecordContentMax = std::size_t{1} << 14;
inline constexpr std::size_t kRecordHeaderBytes = 5;
// Of the bytes behind a record's header, those that are neither content nor padding: the type and the tag.
inline constexpr std::size_t kRecordOverheadBytes = 1 + 16;
inline constexpr std::size_t kRecordBodyMax = kRecordContentMax + kRecordOverheadBytes;

// What is wrong with the other side's records, as it is told (RFC 8446, section 6).
class RecordError : public NetworkError {
 public:
  RecordError(std::uint8_t alert_to_send, const std::string& what) : NetworkError(what), alert(alert_to_send) {}
  const std::uint8_t alert;
};

// The key of one direction (7.3), and how many records it has protected.
class RecordKey {
 public:
  enum class Use { Seals, Opens };

  RecordKey(TrafficSecret secret, Use use);

  // The next key (7.2). Who has the new one cannot tell the old one.
  void renew();

 protected:
  // Begins the next record: its nonce, and its header, which is authenticated.
  void begin(std::span<const unsigned char> header);
  std::size_t update(std::span<const unsigned char> from, unsigned char* to);

  CipherContextPtr cipher_;

 private:
  void set_key();

  TrafficSecret secret_;
  Use use_;
  std::array<unsigned char, 12> iv_{};
  std::uint64_t sequence_ = 0;
};

class RecordSealer : private RecordKey {
 public:
  explicit RecordSealer(TrafficSecret secret) : RecordKey(std::move(secret), Use::Seals) {}
  using RecordKey::renew;

  // Appends one record to `out`, of the content `first` and `rest`, kRecordContentMax bytes together at most.
  void seal(RecordType type, std::span<const std::byte> first, std::span<const std::byte> rest, SecretVector<std::byte>& out);
};

class RecordOpener : private RecordKey {
 public:
  explicit RecordOpener(TrafficSecret secret) : RecordKey(std::move(secret), Use::Opens) {}
  using RecordKey::renew;

  // The bytes that follow a record's header, from kRecordOverheadBytes to kRecordBodyMax. Fails: RecordError.
  static std::size_t body_bytes(std::span<const std::byte, kRecordHeaderBytes> header);

  struct Content {
    RecordType type;
    std::size_t size;
  };
  // The next record's content goes to the front of `content`, which has room for all of `body` but
  // kRecordOverheadBytes; where padding was, it is overwritten. Fails: RecordError; `content` then holds nothing that may be used.
  Content open(std::span<const std::byte, kRecordHeaderBytes> header, std::span<const std::byte> body, std::span<std::byte> content);
};

}  // namespace tinyot
