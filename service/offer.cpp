#include "service/offer.h"

#include "base/error.h"
#include "service/peer_link.h"

namespace tinyot::service {

wire::Message offer_of(const std::string& job, const wire::Terms& terms) {
  wire::Message message;
  message.mutable_offer()->set_job(job);
  *message.mutable_offer()->mutable_terms() = terms;
  return message;
}

void require_offerable(const std::string& job, const wire::Terms& terms) {
  const std::size_t bytes = offer_of(job, terms).ByteSizeLong();
  if (bytes <= PeerLink::kMessageBytesMax) return;
  throw UsageError("the name of the circuit takes " + std::to_string(terms.circuit().size()) +
                   " bytes in the message that offers the job to the peer, which may have " +
                   std::to_string(PeerLink::kMessageBytesMax) + " in all: use a shorter name");
}

}  // namespace tinyot::service
