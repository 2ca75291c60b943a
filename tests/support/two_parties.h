// Two real parties in one process: each on a thread of its own, joined by channels in memory, with
// seeded randomness.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "checks/session.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// How one party's run ended.
struct Outcome {
  enum class Kind { Done, PeerCheated, PeerAborted, Network, Other } kind = Kind::Done;
  std::string message;
  std::string check;  // of a PeerCheated
};

struct Outcomes {
  Outcome a, b;
};

// May put something between a party and its channel, as a CheatingChannel.
using ChannelWrapper = std::function<std::unique_ptr<Channel>(std::unique_ptr<Channel>)>;

struct PartyOptions {
  std::uint64_t seed = 1;
  ChannelWrapper wrap_a = {};
  ChannelWrapper wrap_b = {};
};

// Runs `body` as A and as B, to the end of both. A party that ends with PeerCheated tells the peer,
// as the real ones do.
Outcomes run_channels(const std::function<void(Party, Channel&)>& body,
                      const PartyOptions& options = {});

// The global keys that run_sessions gives out: the one that `holder` checks its peer's bits under.
Delta global_key_of(Party holder, std::uint64_t seed);

// The same with an established session. Fails the test if a party ends otherwise than Done, if
// `expect_done`.
Outcomes run_sessions(const std::function<void(Session&)>& body, const PartyOptions& options = {},
                      bool expect_done = true);

// The same for a party with several workers: `more` are the channels of all but the first. Both
// parties wrap them like their own.
using WorkersBody = std::function<void(Session&, std::span<const std::unique_ptr<Channel>> more)>;
Outcomes run_workers(std::size_t workers, const WorkersBody& body, const PartyOptions& options = {},
                     bool expect_done = true);

}  // namespace tinyot::test
