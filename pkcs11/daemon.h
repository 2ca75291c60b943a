// The daemon of this party, as the module sees it: keys, and calls about them
// (tinyot/v1/keys_socket.proto). Each call has a connection of its own: nothing is left that a fork
// would share, a restart of the daemon would break or the program would have to close.
//
// Fails, all calls: with the return code that says what the daemon answers, and CKR_DEVICE_ERROR if
// it cannot be reached or its answer cannot be used.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_text.h"

namespace tinyot::pkcs11 {

enum class TokenKeyClass { Aead, Mac, Kdf };
enum class TokenKeyAlgorithm { Aes128, Aes256, HmacSha256 };

struct Key {
  std::string id;  // 32 hex digits
  std::string peer, label;
  std::uint64_t version = 1;
  TokenKeyClass key_class = TokenKeyClass::Aead;
  TokenKeyAlgorithm algorithm = TokenKeyAlgorithm::Aes256;
  bool has_callers_nonces = false;
  bool is_imported = false;
  std::string state;
  std::string cka_id;  // may be empty
};

struct NewKey {
  std::string peer, label, cka_id;
  TokenKeyClass key_class = TokenKeyClass::Aead;
  TokenKeyAlgorithm algorithm = TokenKeyAlgorithm::Aes256;
};

using Nonce = std::array<char, 12>;
constexpr std::size_t kTagBytes = 16;

class Daemon {
 public:
  explicit Daemon(std::string socket) : socket_(std::move(socket)) {}

  // The peers with which there is custody, and the keys that the client may see.
  struct Listed {
    std::vector<std::string> peers;
    std::vector<Key> keys;
  };
  Listed list(const std::string& peer = {});
  Key create(const NewKey& key);

  // Without a nonce it is one of the parties' coins.
  struct Sealed {
    Nonce nonce{};
    std::string text;  // the ciphertext and its tag
  };
  Sealed encrypt(const Key& key, std::string_view text, std::string_view associated,
                 const std::optional<Nonce>& nonce);
  // `sealed`: the ciphertext and its tag. Empty if the tag is wrong.
  std::optional<SecretText> decrypt(const Key& key, std::string_view sealed,
                                    std::string_view associated, const Nonce& nonce);
  std::string sign(const Key& key, std::string_view message);
  bool verify(const Key& key, std::string_view message, std::string_view tag);

  // Ends the calls that are under way; they and later ones fail.
  void close();

 private:
  class Connection;

  SecretText ask(std::uint32_t call, std::string_view request);

  const std::string socket_;
  std::mutex mutex_;
  bool is_closed_ = false;
  std::set<int> connections_;
};

}  // namespace tinyot::pkcs11
