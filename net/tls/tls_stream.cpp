#include "net/tls/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl3.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "net/admission.h"
#include "net/tls/certificate.h"

namespace tinyot::net {
namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;
// That leave together: each departure may wake the peer.
constexpr std::size_t kOutBytes = std::size_t{1} << 20;
constexpr std::size_t kInBytes = std::size_t{1} << 20;
constexpr std::size_t kHandshakeInBytes = 16 << 10;
constexpr std::size_t kTlsHelloBytesMax = 4 << 10;  // that an unauthenticated peer may announce
constexpr std::size_t kUnreadBytes = 16 << 10;      // of a rejected peer's, dropped at the end
constexpr std::size_t kExportedBytes = 32;
constexpr std::string_view kExporter = "EXPORTER-tinyot-session";

}  // namespace

TlsStream::TlsStream(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp,
                     Side side)
    : settings_(settings), tcp_(std::move(tcp)), side_(side), ssl_(SSL_new(&context)),
      records_left_(settings.records_per_key) {
  openssl_ensure(ssl_ != nullptr, "begin a connection");
  attach(*ssl_, wire_);
  SSL_set_app_data(ssl_.get(), this);
  if (side == Side::Listens)
    SSL_set_accept_state(ssl_.get());
  else
    SSL_set_connect_state(ssl_.get());
}

TlsStream::~TlsStream() {
  if (!complete_ || !failure_.empty()) return;
  tcp_->set_deadline(std::chrono::steady_clock::now());
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
  try {
    send_out();
  } catch (...) {
    // The peer sees a cut.
  }
}

bool TlsStream::shake_hands() {
  if (!begins_as_tls()) return false;
  received_.resize(kHandshakeInBytes);
  for (;;) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const int error = SSL_get_error(ssl_.get(), result);
    if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) fail(error);
    send_out();
    if (error == SSL_ERROR_NONE) break;
    try {
      wire_.in = std::span(received_).first(tcp_->read_ready(received_));
    } catch (const ConnectionClosed& closed) {
      fail_cut(closed);
    }
    if (wire_.in.empty()) return false;
  }
  bind();
  wire_.dataless = {};
  complete_ = true;
  return true;
}

// A client's hello says in its first bytes what it is and how long it will be: that is judged
// before OpenSSL makes room for it.
bool TlsStream::begins_as_tls() {
  constexpr std::size_t kRecordHeader = 5, kMessageHeader = 4;
  if (judged_ || side_ == Side::Connects) return true;
  const auto head = tcp_->look(kRecordHeader + kMessageHeader);
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(head[i]); };
  if (head.empty()) return false;
  if (byte(0) != SSL3_RT_HANDSHAKE)
    throw NetworkError(
        "it does not speak TLS, and this side does: "
        "give --key and --peer-key on both sides or on neither");
  if (head.size() < kRecordHeader + kMessageHeader) return false;
  if (byte(5) != SSL3_MT_CLIENT_HELLO ||
      (byte(6) << 16 | byte(7) << 8 | byte(8)) > kTlsHelloBytesMax)
    throw NetworkError("its TLS hello is malformed");
  judged_ = true;
  return true;
}

void TlsStream::bind() {
  binding_.resize(kExportedBytes);
  auto* exported = reinterpret_cast<unsigned char*>(binding_.data());
  openssl_ensure(SSL_export_keying_material(ssl_.get(), exported, kExportedBytes, kExporter.data(),
                                            kExporter.size(), nullptr, 0, 0) == 1,
                 "export a secret");
  const auto append = [&](const Fingerprint& fingerprint) {
    const auto bytes = std::as_bytes(std::span(fingerprint.bytes));
    binding_.insert(binding_.end(), bytes.begin(), bytes.end());
  };
  append(side_ == Side::Listens ? settings_.mine : settings_.peers);
  append(side_ == Side::Listens ? settings_.peers : settings_.mine);
}

void TlsStream::write(std::span<const std::byte> bytes, std::span<const std::byte> more) {
  check_usable();
  ERR_clear_error();
  // A header travels in one record with what it heads.
  if (!more.empty() && bytes.size() < kRecordBytes) {
    const auto along = more.first(std::min(more.size(), kRecordBytes - bytes.size()));
    record_.assign(bytes.begin(), bytes.end());
    record_.insert(record_.end(), along.begin(), along.end());
    encrypt(record_);
    bytes = {};
    more = more.subspan(along.size());
  }
  encrypt(bytes);
  encrypt(more);
  send_out();
}

// In full records; those that fill a departure leave.
void TlsStream::encrypt(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (records_left_ == 0) {
      if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) fail(SSL_ERROR_SSL);
      records_left_ = settings_.records_per_key;
    }
    const std::size_t records = std::min<std::uint64_t>(records_left_, kOutBytes / kRecordBytes);
    std::size_t count = 0;
    const auto batch = bytes.first(std::min(bytes.size(), records * kRecordBytes));
    const int result = SSL_write_ex(ssl_.get(), batch.data(), batch.size(), &count);
    if (result != 1) fail(SSL_get_error(ssl_.get(), result));
    bytes = bytes.subspan(count);
    records_left_ -= (count + kRecordBytes - 1) / kRecordBytes;
    if (wire_.out.size() >= kOutBytes) send_out();
  }
}

void TlsStream::send_out() {
  if (wire_.out.empty()) return;
  try {
    tcp_->write(wire_.out);
  } catch (...) {
    // They are on their way or lost, and go only once.
    wire_.out.clear();
    throw;
  }
  wire_.out.clear();
}

void TlsStream::read(std::span<std::byte> bytes) {
  check_usable();
  bytes = bytes.subspan(decrypt_ready(bytes));
  if (bytes.empty()) return;
  received_.resize(kInBytes);
  IdleTimer timer(tcp_->idle_timeout());
  for (;;) {
    try {
      wire_.in = std::span(received_).first(tcp_->receive(received_, timer));
    } catch (const ConnectionClosed& closed) {
      fail_cut(closed);
    }
    const std::size_t count = decrypt_ready(bytes);
    bytes = bytes.subspan(count);
    if (bytes.empty()) return;
    timer.add_progress(count);
    timer.check();
  }
}

// Decrypts what has come, as far as it is wanted, and sends what OpenSSL answers. Returns how many
// bytes of application data there were: if not all that are wanted, all that has come is taken.
std::size_t TlsStream::decrypt_ready(std::span<std::byte> bytes) {
  ERR_clear_error();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &count);
    if (result == 1) {
      wire_.dataless.add_data(count);
      heard_ = true;
      done += count;
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    if (error != SSL_ERROR_WANT_READ) fail(error);
    // Otherwise it was a record without application data.
    if (wire_.in.empty()) break;
  }
  send_out();
  return done;
}

bool TlsStream::accepts(const X509& certificate) noexcept {
  try {
    const Fingerprint shown = fingerprint_of(certificate);
    const std::string of_both = "pinned " + text_of(settings_.peers) + ", shown " + text_of(shown) +
                                " in a certificate of " + dates_of(certificate);
    if (shown != settings_.peers)
      refusal_ = "its key is not the one that --peer-key pins: " + of_both;
    else if (!is_valid_now(certificate))
      refusal_ = "its certificate is not valid now: " + of_both;
    return refusal_.empty();
  } catch (...) {
    unexpected_ = std::current_exception();
    return false;
  }
}

void TlsStream::check_usable() const {
  if (!failure_.empty()) throw NetworkError(failure_);
}

// After an error of OpenSSL's: sends the alert that it has left, and says what the error was.
void TlsStream::fail(int error) {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  const std::string text = openssl_reason();
  if (unexpected_) std::rethrow_exception(unexpected_);
  if (!refusal_.empty())
    failure_ = refusal_;
  else if (wire_.dataless.are_too_many())
    failure_ = "TLS 1.3 failed: too many records without application data";
  else if (error == SSL_ERROR_ZERO_RETURN)
    failure_ = "the peer closed the connection" + hint_if_unheard();
  else if (error == SSL_ERROR_WANT_READ)
    failure_ = "TLS 1.3 failed: an incomplete message after the handshake";
  else if (reason >= SSL_AD_REASON_OFFSET)
    failure_ = "the peer refuses the connection (" + text + ")" + hint_of_pins();
  else
    failure_ = "TLS 1.3 failed: " + text;
  try {
    send_out();
  } catch (const NetworkError&) {
    // Gone already.
  }
  if (!complete_) drop_unread();
  throw NetworkError(failure_);
}

void TlsStream::fail_cut(const ConnectionClosed& closed) {
  failure_ = closed.what() + std::string(" without close_notify (it crashed, or was cut off)");
  failure_ += hint_if_unheard();
  throw NetworkError(failure_);
}

std::string TlsStream::hint_of_pins() const {
  return "; perhaps it pins another key: this side's is " + text_of(settings_.mine);
}

// A peer that pins another key says so after this side has taken the connection for complete.
std::string TlsStream::hint_if_unheard() const {
  return complete_ && !heard_ ? hint_of_pins() : "";
}

// What is closed with bytes unread is reset, and the alert on its way to the other side is lost.
void TlsStream::drop_unread() {
  std::array<std::byte, kUnreadBytes> dropped;
  try {
    tcp_->read_ready(dropped);
  } catch (const NetworkError&) {
    // Gone already.
  }
}

}  // namespace tinyot::net
