#include "net/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl3.h>

#include <algorithm>

#include "base/error.h"
#include "net/certificate.h"

namespace tinyot {
namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t kTlsHelloBytesMax = 4 << 10;  // that a stranger may announce, and we have to make room for
constexpr std::size_t kBatchBytes = 64 << 10;        // that a system call moves
constexpr std::size_t kUnreadBytes = 16 << 10;       // of a stranger's, dropped at the end
constexpr std::size_t kExportedBytes = 32;
constexpr std::string_view kExporter = "EXPORTER-tinyot-session";

TlsStream& stream_of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  TlsStream& stream = stream_of(bio);
  if (stream.read_cipher(std::as_writable_bytes(std::span(data, size)), *count)) return 1;
  if (!stream.failed()) BIO_set_retry_read(bio);
  return 0;
}

int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  *count = size;
  return stream_of(bio).write_cipher(std::as_bytes(std::span(data, size))) ? 1 : 0;
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

TlsStream::TlsStream(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, Side side)
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

TlsStream::~TlsStream() {
  if (!complete_ || broken_) return;
  tcp_->set_deadline(std::chrono::steady_clock::now());
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

bool TlsStream::shake_hands() {
  if (!begins_as_tls()) return false;
  complete_ = perform([&] { return SSL_do_handshake(ssl_.get()); });
  if (!complete_) return false;
  bind();
  return true;
}

// A client's hello says in its first bytes what it is and how long it will be: that is judged before OpenSSL makes room for it.
bool TlsStream::begins_as_tls() {
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

void TlsStream::bind() {
  std::array<unsigned char, kExportedBytes> exported;
  openssl_ensure(SSL_export_keying_material(ssl_.get(), exported.data(), exported.size(), kExporter.data(), kExporter.size(), nullptr, 0, 0) == 1,
                 "export a secret");
  const auto append = [&](const auto& bytes) {
    const auto added = std::as_bytes(std::span(bytes));
    binding_.insert(binding_.end(), added.begin(), added.end());
  };
  append(exported);
  append((side_ == Side::Listens ? settings_.mine : settings_.peers).bytes);
  append((side_ == Side::Listens ? settings_.peers : settings_.mine).bytes);
}

void TlsStream::write(std::span<const std::byte> bytes, std::span<const std::byte> more) {
  gathers_ = true;
  // A header travels in one record with what it heads.
  if (!more.empty() && bytes.size() < kRecordBytes) {
    const auto along = more.first(std::min(more.size(), kRecordBytes - bytes.size()));
    record_.assign(bytes.begin(), bytes.end());
    record_.insert(record_.end(), along.begin(), along.end());
    put(record_);
    bytes = {};
    more = more.subspan(along.size());
  }
  put(bytes);
  put(more);
  gathers_ = false;
  send_out();
}

void TlsStream::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto record = bytes.first(std::min(bytes.size(), kRecordBytes));
    if (++records_ > settings_.records_per_key) {
      perform([&] { return SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED); });
      records_ = 1;
    }
    std::size_t count = 0;
    perform([&] { return SSL_write_ex(ssl_.get(), record.data(), record.size(), &count); });
    bytes = bytes.subspan(count);
  }
}

void TlsStream::send_out() {
  tcp_->write(cipher_out_);
  cipher_out_.clear();
}

void TlsStream::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t count = 0;
    perform([&] { return SSL_read_ex(ssl_.get(), bytes.data(), bytes.size(), &count); });
    bytes = bytes.subspan(count);
    heard_ = heard_ || count > 0;
  }
}

bool TlsStream::accepts(const X509& certificate) noexcept {
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

bool TlsStream::read_cipher(std::span<std::byte> bytes, std::size_t& count) noexcept {
  try {
    if (complete_) {
      take_in(bytes);
      count = bytes.size();
      return true;
    }
    count = tcp_->read_ready(bytes);
    return count > 0;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

bool TlsStream::write_cipher(std::span<const std::byte> bytes) noexcept {
  try {
    cipher_out_.insert(cipher_out_.end(), bytes.begin(), bytes.end());
    if (!gathers_ || cipher_out_.size() >= kBatchBytes) send_out();
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

// OpenSSL asks for a record's header and then for the rest of it; what is there of further records comes along.
void TlsStream::take_in(std::span<std::byte> bytes) {
  const auto take = [&](std::size_t count) {
    std::copy_n(cipher_in_.begin() + static_cast<std::ptrdiff_t>(cipher_begin_), count, bytes.begin());
    bytes = bytes.subspan(count);
    cipher_begin_ += count;
  };
  take(std::min(bytes.size(), cipher_end_ - cipher_begin_));
  if (bytes.empty()) return;
  cipher_in_.resize(kBatchBytes);
  cipher_begin_ = 0;
  cipher_end_ = tcp_->read_at_least(bytes.size(), cipher_in_);
  take(bytes.size());
}

// True if it is done, false if more has to come from the other side.
template <class Operation>
bool TlsStream::perform(const Operation& operation) {
  if (broken_) throw NetworkError("the TLS connection has failed");
  ERR_clear_error();
  const int result = operation();
  if (result > 0) return true;
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ && !failure_) return false;
  fail(error);
}

void TlsStream::fail(int error) {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  const std::string text = openssl_reason();
  const std::string hint = "; perhaps it pins another key: this side's is " + text_of(settings_.mine);
  const std::string hint_if_unheard = complete_ && !heard_ ? hint : "";
  if (error == SSL_ERROR_ZERO_RETURN) throw NetworkError("the peer closed the connection" + hint_if_unheard);
  broken_ = true;
  if (!refusal_.empty()) {
    drop_unread();
    throw NetworkError(refusal_);
  }
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const ConnectionClosed& closed) {
    throw NetworkError(closed.what() + (" without a word (it died, or somebody cut the connection)" + hint_if_unheard));
  }
  if (reason >= SSL_AD_REASON_OFFSET) throw NetworkError("the peer refuses the connection (" + text + ")" + hint);
  throw NetworkError("TLS 1.3 failed: " + text);
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

}  // namespace tinyot
