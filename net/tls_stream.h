// What a TLS 1.3 connection carries once its handshake is complete (tls_handshake.h), as a ByteStream over one TCP connection.
#pragma once

#include "net/identity.h"
#include "net/tcp_stream.h"
#include "net/tls_record.h"

namespace tinyot {

// What is alike in all connections of a party.
struct TlsSettings {
  Fingerprint mine;
  Fingerprint peers;
  std::uint64_t records_per_key;
};

// Why the other side may have gone as soon as it could.
std::string hint_of_pins(const TlsSettings& settings);

// An end of the connection below without TLS's goodbye.
std::string text_of_cut(const ConnectionClosed& closed);

// What a handshake has agreed on.
struct TlsSecrets {
  TrafficSecret outgoing, incoming;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, TlsSecrets secrets, std::vector<std::byte> binding);
  // Says goodbye, if that takes no waiting.
  ~TlsStream() override;

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override;
  using ByteStream::write;
  void read(std::span<std::byte> bytes) override;
  void flush() override { tcp_->flush(); }
  std::vector<std::byte> binding() const override { return binding_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override { tcp_->set_deadline(deadline); }

 private:
  void seal(RecordType type, std::span<const std::byte> first, std::span<const std::byte> rest);
  void send_out();
  void say(std::uint8_t level, std::uint8_t alert) noexcept;
  std::string hint_if_unheard() const;
  std::size_t read_record(std::span<std::byte> bytes);
  void await(std::size_t count);
  [[noreturn]] void take_alert(std::span<const std::byte> content);
  void take_key_update(std::span<const std::byte> content);

  const TlsSettings settings_;
  std::unique_ptr<TcpStream> tcp_;
  RecordSealer sealer_;
  RecordOpener opener_;
  std::vector<std::byte> binding_;
  std::string failure_;            // of reading
  bool heard_ = false;             // something has come from the peer
  bool owes_update_ = false;       // the peer has asked for a new key
  std::uint64_t records_ = 0;      // sealed under the present key
  std::size_t empty_records_ = 0;  // opened one after the other
  SecretVector<std::byte> out_;    // records that leave together
  SecretVector<std::byte> in_;     // what has come, from in_begin_ to in_end_
  std::size_t in_begin_ = 0, in_end_ = 0;
  SecretVector<std::byte> content_;  // of a record that was longer than what was asked for, from content_begin_ to content_end_
  std::size_t content_begin_ = 0, content_end_ = 0;
};

}  // namespace tinyot
