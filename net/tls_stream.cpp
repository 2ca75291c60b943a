#include "net/tls_stream.h"

#include <openssl/ssl.h>

#include <algorithm>

namespace tinyot {
namespace {

constexpr std::size_t kOutBytes = std::size_t{1} << 20;  // that leave together: each departure may wake the peer
constexpr std::size_t kInBytes = std::size_t{256} << 10;
constexpr std::size_t kEmptyRecordsMax = 32;  // one after the other

// A KeyUpdate's header; its one byte says whether the other side is to follow (RFC 8446, 4.6.3).
constexpr std::array kKeyUpdate = {std::byte{SSL3_MT_KEY_UPDATE}, std::byte{0}, std::byte{0}, std::byte{1}};

}  // namespace

std::string hint_of_pins(const TlsSettings& settings) { return "; perhaps it pins another key: this side's is " + text_of(settings.mine); }

std::string text_of_cut(const ConnectionClosed& closed) {
  return std::string(closed.what()) + " without a word (it died, or somebody cut the connection)";
}

TlsStream::TlsStream(const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, TlsSecrets secrets, std::vector<std::byte> binding)
    : settings_(settings), tcp_(std::move(tcp)), sealer_(std::move(secrets.outgoing)), opener_(std::move(secrets.incoming)),
      binding_(std::move(binding)), in_(kInBytes), content_(kRecordContentMax) {}

TlsStream::~TlsStream() {
  if (!failure_.empty()) return;
  tcp_->set_deadline(std::chrono::steady_clock::now());
  say(SSL3_AL_WARNING, SSL_AD_CLOSE_NOTIFY);
}

void TlsStream::write(std::span<const std::byte> bytes, std::span<const std::byte> more) {
  if (!failure_.empty()) throw NetworkError(failure_);
  // A header travels in one record with what it heads.
  while (!bytes.empty() || !more.empty()) {
    const auto first = bytes.first(std::min(bytes.size(), kRecordContentMax));
    const auto rest = more.first(std::min(more.size(), kRecordContentMax - first.size()));
    seal(RecordType::Data, first, rest);
    bytes = bytes.subspan(first.size());
    more = more.subspan(rest.size());
    if (out_.size() >= kOutBytes) send_out();
  }
  send_out();
}

void TlsStream::seal(RecordType type, std::span<const std::byte> first, std::span<const std::byte> rest) {
  if (++records_ > settings_.records_per_key || owes_update_) {
    sealer_.seal(RecordType::Handshake, kKeyUpdate, std::array{std::byte{SSL_KEY_UPDATE_NOT_REQUESTED}}, out_);
    sealer_.renew();
    records_ = 1;
    owes_update_ = false;
  }
  sealer_.seal(type, first, rest, out_);
}

void TlsStream::send_out() {
  try {
    tcp_->write(out_);
  } catch (...) {
    // They are on their way or lost, and go only once.
    out_.clear();
    throw;
  }
  out_.clear();
}

void TlsStream::say(std::uint8_t level, std::uint8_t alert) noexcept {
  try {
    seal(RecordType::Alert, std::array{std::byte{level}, std::byte{alert}}, {});
    send_out();
  } catch (...) {
    // The other side sees the connection end.
  }
}

// Once reading has failed, the place among the records is lost: it fails again in the same words.
void TlsStream::read(std::span<std::byte> bytes) {
  if (!failure_.empty()) throw NetworkError(failure_);
  try {
    while (!bytes.empty()) {
      const std::size_t ready = std::min(bytes.size(), content_end_ - content_begin_);
      std::ranges::copy(std::span(content_).subspan(content_begin_, ready), bytes.begin());
      content_begin_ += ready;
      bytes = bytes.subspan(ready);
      if (!bytes.empty()) bytes = bytes.subspan(read_record(bytes));
    }
    return;
  } catch (const RecordError& error) {
    say(SSL3_AL_FATAL, error.alert);
    failure_ = std::string("TLS 1.3 failed: ") + error.what();
  } catch (const ConnectionClosed& closed) {
    failure_ = text_of_cut(closed) + hint_if_unheard();
  } catch (const NetworkError& error) {
    failure_ = error.what();
  }
  throw NetworkError(failure_);
}

// A peer that pins another key learns so after it has taken the connection for complete.
std::string TlsStream::hint_if_unheard() const { return heard_ ? "" : hint_of_pins(settings_); }

// Opens the next record: to the front of `bytes` if it fits there, and to content_ otherwise. Returns how much of `bytes` is done.
std::size_t TlsStream::read_record(std::span<std::byte> bytes) {
  await(kRecordHeaderBytes);
  const auto header_now = [&] { return std::span(in_).subspan(in_begin_).first<kRecordHeaderBytes>(); };
  const std::size_t body_bytes = RecordOpener::body_bytes(header_now());
  await(kRecordHeaderBytes + body_bytes);
  const bool fits = body_bytes - kRecordOverheadBytes <= bytes.size();
  const std::span<std::byte> place = fits ? bytes : std::span<std::byte>(content_);
  const auto [type, size] = opener_.open(header_now(), std::span(in_).subspan(in_begin_ + kRecordHeaderBytes, body_bytes), place);
  in_begin_ += kRecordHeaderBytes + body_bytes;
  empty_records_ = size == 0 ? empty_records_ + 1 : 0;
  if (empty_records_ > kEmptyRecordsMax) throw RecordError(SSL_AD_UNEXPECTED_MESSAGE, "too many empty records");
  switch (type) {
    case RecordType::Data:
      heard_ = true;
      if (fits) return size;
      content_begin_ = 0;
      content_end_ = size;
      return 0;
    case RecordType::Alert:
      take_alert(place.first(size));  // throws
    case RecordType::Handshake:
      take_key_update(place.first(size));
      return 0;
  }
  throw RecordError(SSL_AD_UNEXPECTED_MESSAGE, "a record of an unknown kind");
}

// Makes sure of `count` bytes from in_begin_ on; what is there of further records comes along.
void TlsStream::await(std::size_t count) {
  const std::size_t ready = in_end_ - in_begin_;
  if (ready >= count) return;
  std::copy_n(in_.begin() + static_cast<std::ptrdiff_t>(in_begin_), ready, in_.begin());
  in_begin_ = 0;
  in_end_ = ready;
  in_end_ += tcp_->read_at_least(count - ready, std::span(in_).subspan(ready));
}

void TlsStream::take_alert(std::span<const std::byte> content) {
  if (content.size() != 2) throw RecordError(SSL_AD_DECODE_ERROR, "a malformed alert");
  const auto alert = std::to_integer<int>(content[1]);
  if (alert == SSL_AD_CLOSE_NOTIFY) throw NetworkError("the peer closed the connection" + hint_if_unheard());
  throw NetworkError(std::string("the peer refuses the connection (") + SSL_alert_desc_string_long(alert) + ")" + hint_of_pins(settings_));
}

void TlsStream::take_key_update(std::span<const std::byte> content) {
  const bool is_one = content.size() == kKeyUpdate.size() + 1 && std::ranges::equal(content.first(kKeyUpdate.size()), kKeyUpdate) &&
                      std::to_integer<int>(content.back()) <= SSL_KEY_UPDATE_REQUESTED;
  if (!is_one) throw RecordError(SSL_AD_UNEXPECTED_MESSAGE, "a message that is not due");
  owes_update_ = owes_update_ || std::to_integer<int>(content.back()) == SSL_KEY_UPDATE_REQUESTED;
  opener_.renew();
}

}  // namespace tinyot
