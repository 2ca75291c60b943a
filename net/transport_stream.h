// A ByteStream over a transport that the caller of the library provides.
#pragma once

#include <chrono>
#include <memory>

#include "net/byte_stream.h"
#include "tinyot/endpoint.h"

namespace tinyot::net {

// Runs two threads, one that reads and one that writes, so that the transport may block in either
// direction: both parties can write large amounts at the same time. Destruction shuts the transport
// down; output that it does not accept within a second is lost.
std::unique_ptr<ByteStream> make_transport_stream(std::unique_ptr<Transport> transport,
                                                  std::chrono::milliseconds idle_timeout);

}  // namespace tinyot::net
