// Two real parties in one process, each on its own thread, connected by channels in memory, with
// seeded randomness.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "checks/session.h"
#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// The outcome of one party's run.
struct Outcome {
  enum class Kind { Done, PeerCheated, PeerAborted, Network, Other } kind = Kind::Done;
  std::string message;
  std::string check;  // of a PeerCheated
};

struct Outcomes {
  Outcome a, b;
};

struct PartyOptions {
  std::uint64_t seed = 1;
  ChannelWrapper wrap_a = {};
  ChannelWrapper wrap_b = {};
  BaseOt base_ot = BaseOt::Ristretto;
};

// Runs `body` as A and as B until both have ended. A party that ends with PeerCheated sends an
// abort, as the product does.
Outcomes run_channels(const std::function<void(Party, Channel&)>& body,
                      const PartyOptions& options = {});

// The global key of `holder` in run_sessions, under which it holds keys of the peer's bits.
Delta global_key_of(Party holder, std::uint64_t seed);

// The same with an established session. With `expect_done`, the test fails if a party's outcome is
// not Done.
Outcomes run_sessions(const std::function<void(Session&)>& body, const PartyOptions& options = {},
                      bool expect_done = true);

// The same for parties with several workers: `more` are the channels of all but the first worker.
// They are wrapped like the first one.
using WorkersBody = std::function<void(Session&, std::span<const std::unique_ptr<Channel>> more)>;
Outcomes run_workers(std::size_t workers, const WorkersBody& body, const PartyOptions& options = {},
                     bool expect_done = true);

}  // namespace tinyot::test
