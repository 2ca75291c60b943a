#include "engine/two_party_harness.h"

namespace tinyot::engine {

std::filesystem::path store_in(const std::filesystem::path& directory, Party party) {
  return directory / std::string(1, letter(party));
}

PreprocessResult preprocess_as_both(const PreprocessRequest& request,
                                    const std::filesystem::path& directory,
                                    const net::TcpTimeouts& timeouts) {
  return slower_of(as_both_parties(timeouts, [&](Party party, const Endpoint& endpoint) {
    PreprocessRequest mine = request;
    mine.party = party;
    mine.endpoint = endpoint;
    mine.store = store_in(directory, party);
    return preprocess(mine);
  }));
}

}  // namespace tinyot::engine
