// Cheating parties in the online phase, and the expected outcome of the honest party.
#pragma once

#include "tests/online/online_run.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// The messages of `sender` in an honest run.
Messages messages_of(const OnlineJob& job, Party sender, std::uint64_t seed = 1);

// Bits of a message of the online phase, without the padding. Layers have one flight.
std::size_t bits_of_message(const OnlineJob& job, Party sender, const std::string& tag,
                            std::size_t occurrence);

// The first, the middle and the last occurrence of each tag of the online phase.
std::vector<std::pair<std::string, std::size_t>> some_of_each(const Messages& messages);

// Expects the honest party to end with PeerCheated from a check whose name begins with `check`, and
// neither party to hang. Returns the run.
OnlineRun expect_caught(const OnlineJob& job, Party cheater, ChannelWrapper wrapper,
                        const std::string& check, std::uint64_t seed = 1);
// The same for changing one message of a run, which must be sent.
void expect_change_caught(const OnlineJob& job, Party cheater, const std::string& tag,
                          std::size_t occurrence,
                          const std::function<void(std::vector<std::byte>&)>& change,
                          const std::string& check);

inline void flip(std::vector<std::byte>& payload, std::size_t bit) {
  payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
}

}  // namespace tinyot::test
