#include "net/tls/tls_wire.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tinyot::net {
namespace {

TlsWire& wire_of(BIO* bio) { return *static_cast<TlsWire*>(BIO_get_data(bio)); }

// OpenSSL reads a record's header and then the rest of it, but nothing of the next record; so it
// calls this function between any two records.
int bio_read(BIO* bio, char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  TlsWire& wire = wire_of(bio);
  *count = 0;
  if (wire.dataless.are_too_many()) return 0;
  if (wire.in.empty()) {
    BIO_set_retry_read(bio);
    return 0;
  }
  *count = std::min(size, wire.in.size());
  std::ranges::copy(wire.in.first(*count), std::as_writable_bytes(std::span(data, size)).begin());
  wire.in = wire.in.subspan(*count);
  return 1;
}

int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* count) noexcept {
  BIO_clear_retry_flags(bio);
  *count = 0;
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    wire_of(bio).out.insert(wire_of(bio).out.end(), bytes.begin(), bytes.end());
  } catch (const std::bad_alloc&) {
    return 0;
  }
  *count = size;
  return 1;
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "TlsWire");
    openssl_ensure(method && BIO_meth_set_read_ex(method, bio_read) == 1 &&
                       BIO_meth_set_write_ex(method, bio_write) == 1 &&
                       BIO_meth_set_ctrl(method, bio_control) == 1,
                   "register a BIO method");
    return method;
  }();
  return kMethod;
}

void note_record(int is_sent, int, int content_type, const void*, std::size_t, SSL*,
                 void* wire) noexcept {
  if (is_sent || content_type != SSL3_RT_HEADER) return;
  static_cast<TlsWire*>(wire)->dataless.begin_record();
}

}  // namespace

void DatalessRecords::add_data(std::size_t bytes) {
  if (std::exchange(is_open_, false)) --count_;
  bytes_ += bytes;
  count_ -= std::min(count_, bytes_ / kBytesPerRecord);
  bytes_ %= kBytesPerRecord;
}

void attach(SSL& ssl, TlsWire& wire) {
  BIO* bio = BIO_new(bio_method());
  openssl_ensure(bio != nullptr, "create a BIO");
  BIO_set_data(bio, &wire);
  BIO_set_init(bio, 1);
  SSL_set_bio(&ssl, bio, bio);
  SSL_set_msg_callback(&ssl, note_record);
  SSL_set_msg_callback_arg(&ssl, &wire);
}

}  // namespace tinyot::net
