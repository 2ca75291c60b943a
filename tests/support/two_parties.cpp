#include "tests/support/two_parties.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"

namespace tinyot::test {
namespace {

Outcome run_one(Party party, std::unique_ptr<Channel> channel, const std::function<void(Party, Channel&)>& body) {
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

}  // namespace

Outcomes run_channels(const std::function<void(Party, Channel&)>& body, const PartyOptions& options) {
  MemoryStreams streams = make_memory_streams();
  auto a = make_framed_channel(std::move(streams.a)), b = make_framed_channel(std::move(streams.b));
  if (options.wrap_a) a = options.wrap_a(std::move(a));
  if (options.wrap_b) b = options.wrap_b(std::move(b));
  Outcomes outcomes;
  std::thread thread([&] { outcomes.b = run_one(Party::B, std::move(b), body); });
  outcomes.a = run_one(Party::A, std::move(a), body);
  thread.join();
  return outcomes;
}

Delta global_key_of(Party holder, std::uint64_t seed) {
  Rng rng(Seed{{seed, 1000u + static_cast<std::uint64_t>(holder)}});
  return {rng.block()};
}

Outcomes run_sessions(const std::function<void(Session&)>& body, const PartyOptions& options, bool expect_done) {
  const Outcomes outcomes = run_channels(
      [&](Party party, Channel& channel) {
        Rng rng(Seed{{options.seed, static_cast<std::uint64_t>(party)}});
        const SessionIds ids = establish_session(channel, rng, party, {}, std::nullopt);
        PhaseLog log;
        Session session(party, ids, global_key_of(party, options.seed), channel, std::move(rng), log);
        body(session);
      },
      options);
  if (expect_done) {
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  }
  return outcomes;
}

}  // namespace tinyot::test
