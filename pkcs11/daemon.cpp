#include "pkcs11/daemon.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "pkcs11/cryptoki.h"
#include "pkcs11/wire.h"

namespace tinyot::pkcs11 {
namespace {

constexpr std::size_t kLengthBytes = 4, kRequestBytesMax = 256 << 10, kReplyBytesMax = 16 << 20;
// A socket whose daemon accepts nobody has the next one wait, and nothing but time ends that wait.
constexpr timeval kWaitToConnect{.tv_sec = 0, .tv_usec = 100'000};

// The calls' numbers in SocketRequest; those of their replies follow from them.
enum Call : std::uint32_t {
  kEncrypt = 1,
  kDecrypt = 2,
  kSign = 3,
  kVerify = 4,
  kList = 5,
  kCreate = 6
};
constexpr std::uint32_t kFirstReply = 3;

// Status codes of gRPC.
CK_RV code_of(std::uint64_t status) {
  switch (status) {
    case 3:  // INVALID_ARGUMENT: all that is left of those is too much text
      return CKR_DATA_LEN_RANGE;
    case 4:  // DEADLINE_EXCEEDED: nobody approved
      return CKR_FUNCTION_REJECTED;
    case 5:  // NOT_FOUND
      return CKR_KEY_HANDLE_INVALID;
    case 6:  // ALREADY_EXISTS
      return CKR_TEMPLATE_INCONSISTENT;
    case 7:  // PERMISSION_DENIED
    case 9:  // FAILED_PRECONDITION: the key's state
      return CKR_KEY_FUNCTION_NOT_PERMITTED;
    case 8:  // RESOURCE_EXHAUSTED
      return CKR_DEVICE_MEMORY;
    default:
      return CKR_DEVICE_ERROR;
  }
}

// A daemon that takes no request may have said why: it is received after an error, too.
void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void receive_all(int socket, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    require(count > 0 || (count < 0 && errno == EINTR), CKR_DEVICE_ERROR);
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::string name_of(TokenKeyClass key_class) {
  return key_class == TokenKeyClass::Aead  ? "aead"
         : key_class == TokenKeyClass::Mac ? "mac"
                                           : "kdf";
}

std::string name_of(TokenKeyAlgorithm algorithm) {
  return algorithm == TokenKeyAlgorithm::Aes128   ? "aes128"
         : algorithm == TokenKeyAlgorithm::Aes256 ? "aes256"
                                                  : "hmac_sha256";
}

template <class Enum>
std::optional<Enum> parse_enum(std::string_view name, std::initializer_list<Enum> values) {
  for (const Enum value : values)
    if (name_of(value) == name) return value;
  return std::nullopt;
}

// Empty for a key of a class or algorithm that this version does not know.
std::optional<Key> key_from(std::string_view message) {
  Key key;
  std::string_view key_class, algorithm;
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) key.id = field.bytes;
    if (field.number == 2) key.peer = field.bytes;
    if (field.number == 3) key.label = field.bytes;
    if (field.number == 4) key.version = field.value;
    if (field.number == 5) key_class = field.bytes;
    if (field.number == 6) algorithm = field.bytes;
    if (field.number == 7) key.has_callers_nonces = field.bytes == "caller";
    if (field.number == 8) key.is_imported = field.bytes == "imported";
    if (field.number == 10) key.state = field.bytes;
    if (field.number == 15) key.cka_id = field.bytes;
  }
  const auto known_class =
      parse_enum(key_class, {TokenKeyClass::Aead, TokenKeyClass::Mac, TokenKeyClass::Kdf});
  const auto known_algorithm = parse_enum(
      algorithm,
      {TokenKeyAlgorithm::Aes128, TokenKeyAlgorithm::Aes256, TokenKeyAlgorithm::HmacSha256});
  if (!known_class || !known_algorithm) return std::nullopt;
  key.key_class = *known_class;
  key.algorithm = *known_algorithm;
  return key;
}

// The beginning of all requests about a key.
WireWriter request_about(const Key& key) {
  WireWriter request;
  request.add(1, key.peer);
  request.add(2, key.id);
  return request;
}

}  // namespace

// Known to the daemon's object as long as it is open, so that close() can end it.
class Daemon::Connection {
 public:
  explicit Connection(Daemon& daemon)
      : daemon_(daemon), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    require(socket_ >= 0, CKR_DEVICE_ERROR);
    const std::lock_guard lock(daemon_.mutex_);
    daemon_.connections_.insert(socket_);
  }
  // A child of a fork may have the descriptor, too; the daemon sees the end all the same.
  ~Connection() {
    (void)::shutdown(socket_, SHUT_RDWR);
    const std::lock_guard lock(daemon_.mutex_);
    daemon_.connections_.erase(socket_);
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void connect() {
    require_open();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = daemon_.socket_;
    require(path.size() < sizeof address.sun_path, CKR_DEVICE_ERROR);
    path.copy(address.sun_path, path.size());
    // close() ends only what is connected.
    require(
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kWaitToConnect, sizeof kWaitToConnect) == 0,
        CKR_DEVICE_ERROR);
    while (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      require(errno == EINTR || errno == EAGAIN, CKR_DEVICE_ERROR);
      require_open();
    }
    require_open();
  }
  int socket() const { return socket_; }

 private:
  void require_open() const {
    const std::lock_guard lock(daemon_.mutex_);
    require(!daemon_.is_closed_, CKR_DEVICE_ERROR);
  }

  Daemon& daemon_;
  const int socket_;
};

void Daemon::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const int socket : connections_) (void)::shutdown(socket, SHUT_RDWR);
}

// Returns the reply of the call.
SecretText Daemon::ask(std::uint32_t call, std::string_view request) {
  WireWriter envelope;
  envelope.add_message(call, request);
  require(envelope.message().size() <= kRequestBytesMax, CKR_DATA_LEN_RANGE);
  std::array<char, kLengthBytes> length{};
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length[i] = static_cast<char>(envelope.message().size() >> (8 * (kLengthBytes - 1 - i)));
  Connection connection(*this);
  connection.connect();
  send_all(connection.socket(), {length.data(), length.size()});
  send_all(connection.socket(), envelope.message());
  receive_all(connection.socket(), length);
  std::size_t size = 0;
  for (const char byte : length) size = size << 8 | static_cast<unsigned char>(byte);
  require(size <= kReplyBytesMax, CKR_DEVICE_ERROR);
  SecretText reply(size);
  receive_all(connection.socket(), reply);
  std::uint64_t status = 0;
  std::optional<std::string_view> result;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);) {
    if (field.number == 1) status = field.value;
    if (field.number == call + kFirstReply) result = field.bytes;
  }
  require(status == 0, code_of(status));
  require(result.has_value(), CKR_DEVICE_ERROR);
  return secret_text(*result);
}

Daemon::Listed Daemon::list(const std::string& peer) {
  WireWriter request;
  request.add(1, peer);
  const SecretText reply = ask(kList, request.message());
  Listed listed;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);) {
    if (field.number == 2) listed.peers.emplace_back(field.bytes);
    if (field.number != 1) continue;
    if (auto key = key_from(field.bytes)) listed.keys.push_back(std::move(*key));
  }
  return listed;
}

Key Daemon::create(const NewKey& key) {
  std::array<char, 16> making{};
  require(::getrandom(making.data(), making.size(), 0) == ssize_t{making.size()}, CKR_DEVICE_ERROR);
  WireWriter request;
  request.add(1, key.peer);
  request.add(2, key.label);
  request.add(3, name_of(key.key_class));
  request.add(4, name_of(key.algorithm));
  request.add(6, {making.data(), making.size()});
  request.add(7, key.cka_id);
  auto made = key_from(view_of(ask(kCreate, request.message())));
  require(made.has_value(), CKR_DEVICE_ERROR);
  return std::move(*made);
}

Daemon::Sealed Daemon::encrypt(const Key& key, std::string_view text, std::string_view associated,
                               const std::optional<Nonce>& nonce) {
  WireWriter request = request_about(key);
  request.add(3, text);
  request.add(4, associated);
  if (nonce) request.add(6, {nonce->data(), nonce->size()});
  const SecretText reply = ask(kEncrypt, request.message());
  std::string_view made_nonce, ciphertext, tag;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);) {
    if (field.number == 2) made_nonce = field.bytes;
    if (field.number == 3) ciphertext = field.bytes;
    if (field.number == 4) tag = field.bytes;
  }
  Sealed sealed;
  require(made_nonce.size() == sealed.nonce.size() && ciphertext.size() == text.size() &&
              tag.size() == kTagBytes,
          CKR_DEVICE_ERROR);
  std::ranges::copy(made_nonce, sealed.nonce.begin());
  require(!nonce || sealed.nonce == *nonce, CKR_DEVICE_ERROR);
  sealed.text.append(ciphertext).append(tag);
  return sealed;
}

std::optional<SecretText> Daemon::decrypt(const Key& key, std::string_view sealed,
                                          std::string_view associated, const Nonce& nonce) {
  const std::size_t text_bytes = sealed.size() - kTagBytes;
  WireWriter request = request_about(key);
  request.add(3, {nonce.data(), nonce.size()});
  request.add(4, sealed.substr(0, text_bytes));
  request.add(5, sealed.substr(text_bytes));
  request.add(6, associated);
  const SecretText reply = ask(kDecrypt, request.message());
  bool is_valid = false;
  std::string_view text;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);) {
    if (field.number == 1) is_valid = field.value != 0;
    if (field.number == 2) text = field.bytes;
  }
  if (!is_valid) return std::nullopt;
  require(text.size() == text_bytes, CKR_DEVICE_ERROR);
  return secret_text(text);
}

std::string Daemon::sign(const Key& key, std::string_view message) {
  WireWriter request = request_about(key);
  request.add(3, message);
  const SecretText reply = ask(kSign, request.message());
  std::string tag;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);)
    if (field.number == 2) tag = field.bytes;
  return tag;
}

bool Daemon::verify(const Key& key, std::string_view message, std::string_view tag) {
  WireWriter request = request_about(key);
  request.add(3, message);
  request.add(4, tag);
  const SecretText reply = ask(kVerify, request.message());
  bool is_valid = false;
  WireReader reader(view_of(reply));
  for (WireField field; reader.next(field);)
    if (field.number == 1) is_valid = field.value != 0;
  return is_valid;
}

}  // namespace tinyot::pkcs11
