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
// Records are sent in groups of this size: each send may wake the peer.
constexpr std::size_t kOutBytes = std::size_t{1} << 20;
constexpr std::size_t kInBytes = std::size_t{1} << 20;
constexpr std::size_t kHandshakeInBytes = 16 << 10;
constexpr std::size_t kTlsHelloBytesMax = 4 << 10;  // of an unauthenticated peer
constexpr std::size_t kUnreadBytes = 16 << 10;      // of a rejected peer, discarded at the end
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
    // The peer sees the connection end without close_notify.
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
  note_peers_end();
  wire_.dataless = {};
  complete_ = true;
  return true;
}

// Type and length in the first bytes of a ClientHello are checked before OpenSSL allocates memory
// for it.
bool TlsStream::begins_as_tls() {
  constexpr std::size_t kRecordHeader = 5, kMessageHeader = 4;
  if (first_bytes_checked_ || side_ == Side::Connects) return true;
  const auto head = tcp_->peek(kRecordHeader + kMessageHeader);
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(head[i]); };
  if (head.empty()) return false;
  if (byte(0) != SSL3_RT_HANDSHAKE)
    throw NetworkError("the peer does not use TLS, and this side does", {}, Remedy::GiveKeys);
  if (head.size() < kRecordHeader + kMessageHeader) return false;
  if (byte(5) != SSL3_MT_CLIENT_HELLO ||
      (byte(6) << 16 | byte(7) << 8 | byte(8)) > kTlsHelloBytesMax)
    throw NetworkError("the peer's TLS ClientHello is malformed or longer than 4096 bytes");
  first_bytes_checked_ = true;
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

// Once the peer has proved that it has the key: until then the certificate may be anybody's.
void TlsStream::note_peers_end() const {
  if (const X509* const certificate = SSL_get0_peer_certificate(ssl_.get()))
    *settings_.peers_end = Identity::Clock::to_time_t(end_of(*certificate));
}

void TlsStream::write(std::span<const std::byte> bytes, std::span<const std::byte> more) {
  check_usable();
  ERR_clear_error();
  // A header is sent in one record with the beginning of its payload.
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

// Encrypts in full records, and sends them whenever kOutBytes have accumulated.
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
    // The records were buffered by `tcp_` or are lost; they must not be sent twice.
    wire_.out.clear();
    throw;
  }
  wire_.out.clear();
}

void TlsStream::read(std::span<std::byte> bytes) {
  check_usable();
  bytes = bytes.subspan(decrypt_ready(bytes));
  if (bytes.empty()) return;
  IdleTimer timer(tcp_->idle_timeout());
  for (;;) {
    // It grows with what arrives: many connections that are idle take little memory.
    if (is_full_) received_.resize(std::min(4 * received_.size(), kInBytes));
    try {
      wire_.in = std::span(received_).first(tcp_->receive(received_, timer));
      is_full_ = wire_.in.size() == received_.size();
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

// Decrypts received records up to bytes.size() bytes of application data, and sends OpenSSL's
// responses. Returns the number of bytes; if it is less than bytes.size(), all received records
// have been consumed.
std::size_t TlsStream::decrypt_ready(std::span<std::byte> bytes) {
  ERR_clear_error();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &count);
    if (result == 1) {
      wire_.dataless.add_data(count);
      data_received_ = true;
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

// The alert tells the peer which of the two it is: that of an expired certificate also stands for
// one that is not valid yet (RFC 8446, 6.2).
int TlsStream::check(const X509& certificate) noexcept {
  try {
    const Fingerprint shown = fingerprint_of(certificate);
    if (shown != settings_.peers) {
      refusal_ = "the peer's key is not the expected one: expected " + text_of(settings_.peers) +
                 ", but the peer has " + text_of(shown) + " in a certificate valid from " +
                 dates_of(certificate);
      remedy_ = Remedy::CheckPinnedKey;
      return X509_V_ERR_CERT_UNTRUSTED;
    }
    const std::string invalidity = invalidity_of(certificate);
    if (invalidity.empty()) return X509_V_OK;
    refusal_ = "the peer's certificate " + invalidity;
    return X509_V_ERR_CERT_HAS_EXPIRED;
  } catch (...) {
    unexpected_ = std::current_exception();
    return X509_V_ERR_CERT_UNTRUSTED;
  }
}

void TlsStream::check_usable() const {
  if (!failure_.empty()) throw NetworkError(failure_, {}, remedy_);
}

// After an OpenSSL error: sends the alert that OpenSSL has produced, and throws the reason.
void TlsStream::fail(int error) {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  const std::string text = openssl_reason();
  if (unexpected_) std::rethrow_exception(unexpected_);
  if (!refusal_.empty())
    failure_ = refusal_;
  else if (wire_.dataless.are_too_many())
    failure_ = "TLS 1.3 failed: too many records without application data";
  else if (error == SSL_ERROR_ZERO_RETURN)
    failure_ = "the peer closed the connection";
  else if (error == SSL_ERROR_WANT_READ)
    failure_ = "TLS 1.3 failed: an incomplete message after the handshake";
  else if (reason >= SSL_AD_REASON_OFFSET)
    failure_ = "the peer rejected the connection" + reason_of_alert(reason - SSL_AD_REASON_OFFSET);
  else
    failure_ = "TLS 1.3 failed: " + text;
  try {
    send_out();
  } catch (const NetworkError&) {
    // The connection is closed already.
  }
  if (!complete_) drop_unread();
  throw NetworkError(failure_, {}, remedy_);
}

void TlsStream::fail_cut(const ConnectionClosed& closed) {
  failure_ =
      closed.what() + std::string(" without close_notify: it failed, or the connection was cut");
  failure_ += pin_hint_if_no_data();
  throw NetworkError(failure_);
}

std::string TlsStream::reason_of_alert(int alert) const {
  const X509* const mine = SSL_get_certificate(ssl_.get());
  if (alert != SSL_AD_CERTIFICATE_EXPIRED || mine == nullptr) return pin_hint();
  const std::string invalidity = invalidity_of(*mine);
  if (!invalidity.empty()) return ": this party's certificate " + invalidity;
  return ": this party's certificate, valid from " + dates_of(*mine) +
         ", is not valid by the peer's clock: compare the clocks";
}

std::string TlsStream::pin_hint() const {
  return "; it may expect another key: this party's is " + text_of(settings_.mine);
}

// A peer that has pinned another key rejects this side's after the handshake is complete here.
std::string TlsStream::pin_hint_if_no_data() const {
  return complete_ && !data_received_ ? pin_hint() : "";
}

// A connection closed with unread bytes is reset, which would lose the alert sent to the peer.
void TlsStream::drop_unread() {
  std::array<std::byte, kUnreadBytes> dropped;
  try {
    tcp_->read_ready(dropped);
  } catch (const NetworkError&) {
    // The connection is closed already.
  }
}

}  // namespace tinyot::net
