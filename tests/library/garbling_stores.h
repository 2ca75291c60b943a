// A store of each party, with material for garbling.
#pragma once

#include "tests/support/two_threads.h"

namespace tinyot::test {

struct GarblingStores {
  explicit GarblingStores(Profile profile, std::uint64_t ands = 8192, std::uint64_t inputs = 512) {
    both([&](Party party) {
      PreprocessRequest request{
          .party = party, .endpoint = endpoints.of(party), .store = of(party)};
      request.parameters.profile = profile;
      request.parameters.material = AndMaterial::Garbling;
      request.ands = ands;
      request.inputs = inputs;
      preprocess(request);
    });
  }
  std::filesystem::path of(Party party) const { return directory / std::string(1, letter(party)); }
  RunRequest run(Party party, std::optional<OnlinePhase> phase) const {
    return {.party = party, .endpoint = endpoints.of(party), .stores = {of(party)}, .phase = phase};
  }

  TestDirectory directory;
  Endpoints endpoints;
};

}  // namespace tinyot::test
