// Between OpenSSL and the socket of a TLS connection: records as bytes in memory, and a bound on
// records without application data.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "net/tls/openssl.h"

namespace tinyot::net {

// Counts records without application data (KeyUpdate, ticket, empty record), with which a peer
// could cause unlimited work. kMax of them are accepted, and one more for each kBytesPerRecord of
// application data, but never more than kMax in a row.
class DatalessRecords {
 public:
  static constexpr std::size_t kMax = 32;
  static constexpr std::size_t kBytesPerRecord = std::size_t{16} << 10;

  // A record's header was received. It counts until data of it arrive.
  void begin_record() {
    ++count_;
    is_open_ = true;
  }
  void add_data(std::size_t bytes);
  // The limit is exceeded, not counting the record that has begun.
  bool are_too_many() const { return count_ > kMax + 1; }

 private:
  std::size_t count_ = 0;
  bool is_open_ = false;   // the last record may still have data
  std::size_t bytes_ = 0;  // of data, less than kBytesPerRecord, since the count was last lowered
};

struct TlsWire {
  std::span<const std::byte> in;  // received, not yet read by OpenSSL
  std::vector<std::byte> out;     // records to be sent together
  DatalessRecords dataless;
};

// Makes `ssl` read records from `wire` and write records to it. `wire` outlives `ssl`.
void attach(SSL& ssl, TlsWire& wire);

}  // namespace tinyot::net
