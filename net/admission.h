// Admission: what a new connection must prove before it is treated as the peer's. Until then its
// memory and time are limited, and it does not delay other connections.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "net/byte_stream.h"

namespace tinyot::net {

class TcpStream;

enum class Side { Listens, Connects };

// Called for each rejected connection, with a line that has its address and the reason, and with
// the remedy.
using RejectionLog = std::function<void(const std::string&, Remedy)>;

// A connection that has not been admitted yet.
class PendingStream {
 public:
  virtual ~PendingStream() = default;

  // Proceeds as far as possible without waiting. Returns the stream once it is admitted, null while
  // more data are needed. Fails: NetworkError with the reason of the rejection.
  virtual std::unique_ptr<ByteStream> advance() = 0;
};

class Admission {
 public:
  virtual ~Admission() = default;
  virtual std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream,
                                               Side side) const = 0;
};

// Admits every connection at once.
const Admission& open_admission();

// Plain TCP: the connecting side must begin with a first message of this protocol (handshake.h).
// This rejects misdirected connections; it is no authentication.
const Admission& plain_admission();

}  // namespace tinyot::net
