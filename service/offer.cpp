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
  throw UsageError("the names of the circuit, of its " + std::to_string(terms.inputs_size()) +
                   " inputs and of its " + std::to_string(terms.outputs_size()) + " outputs take " +
                   std::to_string(bytes) +
                   " bytes in the message that offers the job to the peer, and at most " +
                   std::to_string(PeerLink::kMessageBytesMax) +
                   " are possible: use fewer bundles, or shorter names");
}

}  // namespace tinyot::service
