// What a daemon parses; the first byte chooses: its configuration, the policy for a peer, a message
// of the peer's daemon, a client's submission. The result is a value or a UsageError; anything else
// ends the program. A policy that is accepted decides on any terms.
#include <google/protobuf/stubs/logging.h>

#include "base/error.h"
#include "service/configuration.h"
#include "service/policy.h"
#include "service/submission.h"
#include "tests/fuzz/fuzz_circuit.h"

namespace {

using namespace tinyot;
using namespace tinyot::service;

constexpr std::uint64_t kBytesMax = 1 << 16;

// Terms as honest parties have them, and as the text has them.
void try_policy(std::string_view text) {
  const auto end = std::min(text.find('\0'), text.size());
  Policy policy(parse_policy(std::string(text.substr(0, end)), "policy"));
  wire::Terms terms = terms_of(*engine::LoadedCircuit::generated("minimum:count=10", 1));
  const auto now = Policy::Clock::now();
  const bool is_refused = policy.refusal(terms, now).has_value();
  ENSURE(policy.begin(terms, now).has_value() == is_refused);
  terms.set_circuit(std::string(text.substr(end)));
  (void)policy.begin(terms, now);
}

void try_message(std::string_view text) {
  static Policy policy(
      parse_policy("allow { circuit: 'minimum' parameter { name: 'count' max: 100 } }\n"
                   "allow { digest: '00112233445566778899aabbccddeeff"
                   "00112233445566778899aabbccddeeff' lanes_max: 4 }",
                   "policy"));
  wire::Message message;
  if (!message.ParseFromArray(text.data(), static_cast<int>(text.size()))) return;
  if (!message.has_offer()) return;
  (void)policy.begin(message.offer().terms(), Policy::Clock::now());
  (void)is_name(message.offer().job());
  ENSURE(same_terms(message.offer().terms(), message.offer().terms()));
}

// Two messages, of which the first byte is the length of the first.
void try_submission(std::string_view text) {
  if (text.empty()) return;
  const std::size_t length = static_cast<unsigned char>(text[0]);
  text.remove_prefix(1);
  MemoryBudget budget(std::uint64_t{1} << 30);
  Submission submission(kBytesMax, budget);
  for (const std::string_view part :
       {text.substr(0, length), text.substr(std::min(length, text.size()))}) {
    v1::SubmitRequest request;
    if (!request.ParseFromArray(part.data(), static_cast<int>(part.size()))) return;
    // Large circuits are refused by the policy; they would only take time here.
    if (request.has_job() && !request.job().is_file())
      request.mutable_job()->set_circuit("hamming:bits=9");
    if (request.job().lanes() > 64) request.mutable_job()->set_lanes(64);
    submission.add(std::move(request));
  }
  const engine::LoadedCircuit circuit = submission.circuit();
  (void)terms_of(circuit);
  for (const Party me : {Party::A, Party::B}) {
    for (const std::string& name : submission.inputs(circuit, me).names())
      ENSURE(std::ranges::count(circuit.info().inputs, name, &circuit::InputBundle::name) == 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  google::protobuf::SetLogHandler(nullptr);
  if (text.empty() || text.size() > fuzz::kTextMax) return 0;
  try {
    switch (text[0]) {
      case 'c':
        parse_configuration(std::string(text.substr(1)), "configuration");
        break;
      case 'p':
        try_policy(text.substr(1));
        break;
      case 'm':
        try_message(text.substr(1));
        break;
      default:
        try_submission(text.substr(1));
    }
  } catch (const UsageError&) {
  }
  return 0;
}
