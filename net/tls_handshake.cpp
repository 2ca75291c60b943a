#include "net/tls_handshake.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl3.h>

#include <algorithm>

#include "base/error.h"
#include "net/certificate.h"

namespace tinyot {
namespace {

constexpr std::size_t kTlsHelloBytesMax = 4 << 10;  // that a stranger may announce, and we have to make room for
constexpr std::size_t kUnreadBytes = 16 << 10;      // of a stranger's, dropped at the end
constexpr std::size_t kExportedBytes = 32;
constexpr std::string_view kExporter = "EXPORTER-tinyot-session";
constexpr std::size_t kSecretBytes = 32;  // of SHA-256, as the one suite has it

TlsHandshake& handshake_of(BIO* bio) { return *static_cast<TlsHandshake*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  TlsHandshake& handshake = handshake_of(bio);
  if (handshake.read_bytes(std::as_writable_bytes(std::span(data, size)), *count)) return 1;
  if (!handshake.failed()) BIO_set_retry_read(bio);
  return 0;
}

int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  *count = size;
  return handshake_of(bio).write_bytes(std::as_bytes(std::span(data, size))) ? 1 : 0;
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TcpStream");
    openssl_ensure(method && BIO_meth_set_read_ex(method, bio_read) == 1 && BIO_meth_set_write_ex(method, bio_write) == 1 &&
                       BIO_meth_set_ctrl(method, bio_control) == 1,
                   "be given a connection");
    return method;
  }();
  return kMethod;
}

}  // namespace

TlsHandshake::TlsHandshake(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, Side side)
    : settings_(settings), tcp_(std::move(tcp)), side_(side), ssl_(SSL_new(&context)) {
  BIO* bio = BIO_new(bio_method());
  openssl_ensure(ssl_ && bio, "begin a connection");
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (side == Side::Listens)
    SSL_set_accept_state(ssl_.get());
  else
    SSL_set_connect_state(ssl_.get());
}

std::unique_ptr<ByteStream> TlsHandshake::advance() {
  if (!begins_as_tls()) return nullptr;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result <= 0) {
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ && !failure_) return nullptr;
    fail(error);
  }
  if (failure_) std::rethrow_exception(failure_);
  if (SSL_has_pending(ssl_.get()) || secrets_.incoming.empty() || secrets_.outgoing.empty())
    throw NetworkError("TLS 1.3 failed: the handshake ended early or late");
  return std::make_unique<TlsStream>(settings_, std::move(tcp_), std::move(secrets_), binding());
}

// A client's hello says in its first bytes what it is and how long it will be: that is judged before OpenSSL makes room for it.
bool TlsHandshake::begins_as_tls() {
  constexpr std::size_t kRecordHeader = 5, kMessageHeader = 4;
  if (judged_ || side_ == Side::Connects) return true;
  const auto head = tcp_->look(kRecordHeader + kMessageHeader);
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(head[i]); };
  if (head.empty()) return false;
  if (byte(0) != SSL3_RT_HANDSHAKE)
    throw NetworkError("it does not speak TLS, and this side does: give --key and --peer-key on both sides or on neither");
  if (head.size() < kRecordHeader + kMessageHeader) return false;
  if (byte(5) != SSL3_MT_CLIENT_HELLO || (byte(6) << 16 | byte(7) << 8 | byte(8)) > kTlsHelloBytesMax)
    throw NetworkError("its TLS hello is malformed");
  judged_ = true;
  return true;
}

// "SERVER_TRAFFIC_SECRET_0 ", the client's random and the secret, in hexadecimal digits; and likewise the client's.
void TlsHandshake::take_secret(const char* line) noexcept {
  const std::string_view text(line);
  const bool is_servers = text.starts_with("SERVER_TRAFFIC_SECRET_0 ");
  if (!is_servers && !text.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) return;
  try {
    TrafficSecret secret(kSecretBytes);
    std::size_t count = 0;
    const char* digits = line + text.rfind(' ') + 1;
    const int parsed = OPENSSL_hexstr2buf_ex(reinterpret_cast<unsigned char*>(secret.data()), secret.size(), &count, digits, '\0');
    openssl_ensure(parsed == 1 && count == kSecretBytes, "hand a connection's secrets out");
    (is_servers == (side_ == Side::Listens) ? secrets_.outgoing : secrets_.incoming) = std::move(secret);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

std::vector<std::byte> TlsHandshake::binding() const {
  std::vector<std::byte> binding;
  std::array<unsigned char, kExportedBytes> exported;
  openssl_ensure(SSL_export_keying_material(ssl_.get(), exported.data(), exported.size(), kExporter.data(), kExporter.size(), nullptr, 0, 0) == 1,
                 "export a secret");
  const auto append = [&](const auto& bytes) {
    const auto added = std::as_bytes(std::span(bytes));
    binding.insert(binding.end(), added.begin(), added.end());
  };
  append(exported);
  append((side_ == Side::Listens ? settings_.mine : settings_.peers).bytes);
  append((side_ == Side::Listens ? settings_.peers : settings_.mine).bytes);
  return binding;
}

bool TlsHandshake::accepts(const X509& certificate) noexcept {
  try {
    const Fingerprint shown = fingerprint_of(certificate);
    const std::string of_both = "pinned " + text_of(settings_.peers) + ", shown " + text_of(shown) + " in a certificate of " + dates_of(certificate);
    if (shown != settings_.peers)
      refusal_ = "its key is not the one that --peer-key pins: " + of_both;
    else if (!is_valid_now(certificate))
      refusal_ = "its certificate is not valid now: " + of_both;
    return refusal_.empty();
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

bool TlsHandshake::read_bytes(std::span<std::byte> bytes, std::size_t& count) noexcept {
  try {
    count = tcp_->read_ready(bytes);
    return count > 0;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

bool TlsHandshake::write_bytes(std::span<const std::byte> bytes) noexcept {
  try {
    tcp_->write(bytes);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

void TlsHandshake::fail(int error) {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  const std::string text = openssl_reason();
  if (error == SSL_ERROR_ZERO_RETURN) throw NetworkError("the peer closed the connection");
  if (!refusal_.empty()) {
    drop_unread();
    throw NetworkError(refusal_);
  }
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const ConnectionClosed& closed) {
    throw NetworkError(text_of_cut(closed));
  }
  if (reason >= SSL_AD_REASON_OFFSET) throw NetworkError("the peer refuses the connection (" + text + ")" + hint_of_pins(settings_));
  throw NetworkError("TLS 1.3 failed: " + text);
}

// What is closed with bytes unread is reset, and the alert on its way to the other side is lost.
void TlsHandshake::drop_unread() {
  std::array<std::byte, kUnreadBytes> dropped;
  try {
    tcp_->read_ready(dropped);
  } catch (const NetworkError&) {
    // Gone already.
  }
}

}  // namespace tinyot
