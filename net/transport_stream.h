// A ByteStream over a transport that the caller of the library brings.
#pragma once

#include <chrono>
#include <memory>

#include "net/byte_stream.h"
#include "tinyot/endpoint.h"

namespace tinyot::net {

// Two threads of its own, one that reads and one that writes, so that a transport may wait in
// either direction: both parties can write large amounts at a time. Destruction shuts the
// transport down; what it does not take within a second is lost.
std::unique_ptr<ByteStream> make_transport_stream(std::unique_ptr<Transport> transport,
                                                  std::chrono::milliseconds idle_timeout);

}  // namespace tinyot::net
