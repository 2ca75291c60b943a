// What somebody at the other end of a fresh connection has to show before it is taken for the peer.
// Until then it costs little memory, no waiting beyond a short limit, and nobody else's place at
// the door.
#pragma once

#include <memory>

#include "net/byte_stream.h"

namespace tinyot::net {

class TcpStream;

enum class Side { Listens, Connects };

// A connection that is not yet anybody's.
class PendingStream {
 public:
  virtual ~PendingStream() = default;

  // Goes on as far as it can without waiting. Returns the stream once the other side is let in, and
  // null while more has to come from it. Fails: NetworkError saying why it is turned away.
  virtual std::unique_ptr<ByteStream> advance() = 0;
};

class Admission {
 public:
  virtual ~Admission() = default;
  virtual std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream,
                                               Side side) const = 0;
};

// Everybody is let in at once.
const Admission& open_admission();

// Plain TCP: whoever connects begins with a message that opens a connection of this protocol
// (handshake.h). That keeps out strays, and nobody who means harm.
const Admission& plain_admission();

}  // namespace tinyot::net
