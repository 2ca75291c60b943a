// Two endpoints in this process whose connections are pairs of sockets.
#pragma once

#include <utility>

#include "tinyot/tinyot.h"

namespace tinyot::python {

// The n-th connections that A and B open are the ends of one stream.
std::pair<Endpoint, Endpoint> connected_endpoints();

}  // namespace tinyot::python
