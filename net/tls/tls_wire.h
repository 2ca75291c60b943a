// What is between OpenSSL and the socket of a TLS connection: records as bytes in memory, and a
// bound on those that bring nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "net/tls/openssl.h"

namespace tinyot::net {

// Counts the records that bring no application data (a KeyUpdate, a ticket, an empty record): work
// that a peer can ask for without end. kMax of them may come, and one more with each
// kBytesPerRecord of application data, but never more than kMax in a row.
class DatalessRecords {
 public:
  static constexpr std::size_t kMax = 32;
  static constexpr std::size_t kBytesPerRecord = std::size_t{16} << 10;

  // A record's header has come. It counts until it turns out to bring data.
  void begin_record() {
    ++count_;
    is_open_ = true;
  }
  void add_data(std::size_t bytes);
  // There are too many, and the record that has begun is one more.
  bool are_too_many() const { return count_ > kMax + 1; }

 private:
  std::size_t count_ = 0;
  bool is_open_ = false;   // the last record may still bring data
  std::size_t bytes_ = 0;  // of data, less than kBytesPerRecord, that count towards the next record
};

struct TlsWire {
  std::span<const std::byte> in;  // what has come and OpenSSL has not taken yet
  std::vector<std::byte> out;     // records that leave together
  DatalessRecords dataless;
};

// From now on `ssl` takes records from `wire` and puts records there. `wire` outlives it.
void attach(SSL& ssl, TlsWire& wire);

}  // namespace tinyot::net
