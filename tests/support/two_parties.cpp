#include "tests/support/two_parties.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/both_parties.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

Outcome run_one(Party party, std::unique_ptr<Channel> channel,
                const std::function<void(Party, Channel&)>& body) {
  try {
    body(party, *channel);
    channel->flush();
    return {};
  } catch (const PeerCheated& error) {
    channel->send_abort();
    return {Outcome::Kind::PeerCheated, error.what(), error.check()};
  } catch (const PeerAborted& error) {
    return {Outcome::Kind::PeerAborted, error.what(), ""};
  } catch (const NetworkError& error) {
    return {Outcome::Kind::Network, error.what(), ""};
  } catch (const std::exception& error) {
    return {Outcome::Kind::Other, error.what(), ""};
  }
}

struct Channels {
  std::unique_ptr<Channel> a, b;
};

Channels make_channels(const PartyOptions& options) {
  MemoryStreams streams = make_memory_streams();
  Channels channels{make_framed_channel(std::move(streams.a)),
                    make_framed_channel(std::move(streams.b))};
  if (options.wrap_a) channels.a = options.wrap_a(std::move(channels.a));
  if (options.wrap_b) channels.b = options.wrap_b(std::move(channels.b));
  return channels;
}

}  // namespace

Outcomes run_channels(const std::function<void(Party, Channel&)>& body,
                      const PartyOptions& options) {
  Channels channels = make_channels(options);
  Outcomes outcomes;
  both([&](Party party) {
    if (party == Party::A)
      outcomes.a = run_one(party, std::move(channels.a), body);
    else
      outcomes.b = run_one(party, std::move(channels.b), body);
  });
  return outcomes;
}

Delta global_key_of(Party holder, std::uint64_t seed) {
  Rng rng(Seed{{seed, 1000u + static_cast<std::uint64_t>(holder)}});
  return {rng.block()};
}

Outcomes run_workers(std::size_t workers, const WorkersBody& body, const PartyOptions& options,
                     bool expect_done) {
  std::vector<std::unique_ptr<Channel>> more[2];
  for (std::size_t worker = 1; worker < workers; ++worker) {
    auto [a, b] = make_channels(options);
    more[0].push_back(std::move(a));
    more[1].push_back(std::move(b));
  }
  const Outcomes outcomes = run_channels(
      [&](Party party, Channel& channel) {
        Rng rng(Seed{{options.seed, static_cast<std::uint64_t>(party)}});
        const SessionIds ids = establish_session(channel, rng, party, {}, std::nullopt);
        // Destroyed with the party, so that the peer's workers see its channels closed.
        const auto channels = std::move(more[static_cast<int>(party)]);
        for (std::size_t worker = 1; worker < workers; ++worker)
          join_session(*channels[worker - 1], ids, party, worker);
        PhaseLog log;
        Session session(party, ids, global_key_of(party, options.seed), channel, std::move(rng),
                        log, {}, options.base_ot);
        body(session, channels);
      },
      options);
  if (expect_done) {
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  }
  return outcomes;
}

Outcomes run_sessions(const std::function<void(Session&)>& body, const PartyOptions& options,
                      bool expect_done) {
  return run_workers(
      1, [&](Session& session, std::span<const std::unique_ptr<Channel>>) { body(session); },
      options, expect_done);
}

}  // namespace tinyot::test
