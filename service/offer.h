// The message by which a job is offered to the peer.
#pragma once

#include <string>

#include "peer.pb.h"

namespace tinyot::service {

wire::Message offer_of(const std::string& job, const wire::Terms& terms);

// A peer takes a longer message for a violation of the protocol. Fails: UsageError if the link
// cannot carry the offer of such a job.
void require_offerable(const std::string& job, const wire::Terms& terms);

}  // namespace tinyot::service
