// Establishing a session: both parties get the same fresh ids, or an error.
#include "checks/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/checks/transit_channel.h"
#include "tests/support/blocks.h"
#include "tests/support/both_parties.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Kind = Outcome::Kind;

struct Established {
  SessionIds of[2];
  Outcomes outcomes;
};

// Each party may have an existing session.
Established establish(const PartyOptions& options = {}, std::optional<SessionId> of_a = {},
                      std::optional<SessionId> of_b = {}) {
  Established result;
  result.outcomes = run_channels(
      [&](Party party, Channel& channel) {
        Rng rng(Seed{{options.seed, static_cast<std::uint64_t>(party)}});
        try {
          result.of[static_cast<int>(party)] = establish_session(
              channel, rng, party, {{"sigma", "40"}}, party == Party::A ? of_a : of_b);
        } catch (const Disagreement& error) {
          throw std::runtime_error("disagreement: " + std::string(error.what()));
        }
      },
      options);
  return result;
}

SessionId session_of(std::uint8_t fill) {
  SessionId session;
  session.bytes.fill(fill);
  return session;
}

void expect_done(const Established& established) {
  EXPECT_EQ(established.outcomes.a.kind, Kind::Done) << established.outcomes.a.message;
  EXPECT_EQ(established.outcomes.b.kind, Kind::Done) << established.outcomes.b.message;
  EXPECT_EQ(established.of[0].session, established.of[1].session);
  EXPECT_EQ(established.of[0].connection, established.of[1].connection);
}

// Joins a further channel, A as worker `of_a` and B as worker `of_b`, with connection ids that may
// differ.
Outcomes join(std::uint64_t of_a, std::uint64_t of_b, const PartyOptions& options = {},
              std::uint8_t connection_of_b = 1) {
  return run_channels(
      [&](Party party, Channel& channel) {
        const SessionIds ids{session_of(9), session_of(party == Party::A ? 1 : connection_of_b)};
        join_session(channel, ids, party, party == Party::A ? of_a : of_b);
      },
      options);
}

TEST(JoinSession, AcceptsThePeersWorker) {
  const Outcomes outcomes = join(3, 3);
  EXPECT_EQ(outcomes.a.kind, Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Kind::Done) << outcomes.b.message;
}

TEST(JoinSession, RejectsAnyOtherConnection) {
  for (const Outcomes& outcomes : {join(1, 2), join(1, 1, {}, 2),
                                   join(1, 1, {.wrap_b = cheating(flip_bit("session.join", 0, 7))}),
                                   join(1, 1, {.wrap_a = in_transit(reflect("session.join"))})})
    EXPECT_EQ(outcomes.a.kind, Kind::Network) << outcomes.a.message;
}

TEST(JoinSession, ComparesEveryByteOfTheProof) {
  for (const std::size_t bit : {0u, 64u, 128u, 255u}) {
    const auto alter = cheating(flip_bit("session.join", 0, bit));
    EXPECT_EQ(join(1, 1, {.wrap_a = alter}).b.kind, Kind::Network) << bit;
    EXPECT_EQ(join(1, 1, {.wrap_b = alter}).a.kind, Kind::Network) << bit;
  }
}

TEST(JoinSession, ComparesEveryByteOfTheConnectionId) {
  for (const std::size_t byte : {0u, 8u, 31u}) {
    const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
      SessionIds ids{session_of(9), session_of(1)};
      if (party == Party::B) ids.connection.bytes[byte] ^= 1;
      join_session(channel, ids, party, 1);
    });
    EXPECT_EQ(outcomes.a.kind, Kind::Network) << outcomes.a.message;
    EXPECT_EQ(outcomes.b.kind, Kind::Network) << outcomes.b.message;
  }
}

TEST(EstablishSession, GivesBothPartiesTheSameFreshIds) {
  const Established first = establish({.seed = 1}), second = establish({.seed = 2});
  expect_done(first);
  expect_done(second);
  EXPECT_NE(first.of[0].session, first.of[0].connection);
  EXPECT_NE(first.of[0].session, second.of[0].session);
  EXPECT_NE(first.of[0].connection, second.of[0].connection);
}

TEST(EstablishSession, KeepsExistingSessionIdWithNewConnectionId) {
  const Established first = establish({.seed = 1}, session_of(7), session_of(7)),
                    second = establish({.seed = 2}, session_of(7), session_of(7));
  expect_done(first);
  expect_done(second);
  EXPECT_EQ(first.of[0].session, session_of(7));
  EXPECT_EQ(second.of[1].session, session_of(7));
  EXPECT_NE(first.of[0].connection, second.of[0].connection);
}

TEST(EstablishSession, OneNewNonceGivesNewConnectionId) {
  for (const bool by_a : {false, true}) {
    SessionIds of[2];
    for (const std::uint64_t run : {0, 1}) {
      run_channels([&](Party party, Channel& channel) {
        Rng rng(Seed{{(party == Party::A) == by_a ? run : 0, static_cast<std::uint64_t>(party)}});
        const SessionIds ids = establish_session(channel, rng, party, {}, session_of(3));
        if (party == Party::A) of[run] = ids;
      });
    }
    EXPECT_NE(of[0].connection, of[1].connection);
  }
}

TEST(EstablishSession, RejectsAnotherSession) {
  for (const auto& [of_a, of_b] :
       {std::pair<std::optional<SessionId>, std::optional<SessionId>>{session_of(1), session_of(2)},
        {session_of(1), std::nullopt},
        {std::nullopt, session_of(1)}}) {
    const Established established = establish({}, of_a, of_b);
    for (const Outcome& outcome : {established.outcomes.a, established.outcomes.b})
      EXPECT_NE(outcome.message.find("disagreement: the parties disagree on session"),
                std::string::npos)
          << outcome.message;
  }
}

TEST(EstablishSession, ComparesEveryByteOfTheSession) {
  for (std::size_t byte = 0; byte < 32; ++byte) {
    SessionId other = session_of(1);
    other.bytes[byte] ^= 0x80;
    const Established established = establish({}, session_of(1), other);
    for (const Outcome& outcome : {established.outcomes.a, established.outcomes.b})
      EXPECT_NE(outcome.message.find("disagree on session"), std::string::npos) << outcome.message;
  }
}

void expect_handshake_cheated(const Outcome& outcome) {
  EXPECT_EQ(outcome.kind, Kind::PeerCheated) << outcome.message;
  EXPECT_EQ(outcome.check, "handshake");
}

PartyOptions attacked(Party honest, const InTransit& alter) {
  return honest == Party::A ? PartyOptions{.wrap_a = in_transit(alter)}
                            : PartyOptions{.wrap_b = in_transit(alter)};
}

const Outcome& of(const Outcomes& outcomes, Party party) {
  return party == Party::A ? outcomes.a : outcomes.b;
}

TEST(EstablishSession, RejectsAlteredConfirmation) {
  for (const Party honest : {Party::A, Party::B}) {
    for (const std::size_t byte : {0u, 15u, 31u}) {
      const Established established = establish(attacked(honest, [=](const Arrival& arrival) {
        if (arrival.tag == "handshake.confirm") arrival.received[byte] ^= std::byte{0x80};
      }));
      expect_handshake_cheated(of(established.outcomes, honest));
    }
  }
}

TEST(EstablishSession, RejectsReflectedConfirmation) {
  for (const Party honest : {Party::A, Party::B})
    expect_handshake_cheated(
        of(establish(attacked(honest, reflect("handshake.confirm"))).outcomes, honest));
}

TEST(EstablishSession, RejectsConfirmationOfAnotherConnection) {
  for (const Party honest : {Party::A, Party::B}) {
    std::vector<std::byte> old;
    establish(attacked(honest,
                       [&](const Arrival& arrival) {
                         if (arrival.tag == "handshake.confirm")
                           old.assign(arrival.received.begin(), arrival.received.end());
                       }),
              session_of(1), session_of(1));
    PartyOptions options = attacked(honest, [&](const Arrival& arrival) {
      if (arrival.tag == "handshake.confirm")
        std::copy(old.begin(), old.end(), arrival.received.begin());
    });
    options.seed = 2;
    expect_handshake_cheated(of(establish(options, session_of(1), session_of(1)).outcomes, honest));
  }
}

// A bit of the nonce is flipped in transit: the Hello is well-formed, but the parties have
// different Hellos.
TEST(EstablishSession, BothRejectAlteredHello) {
  for (const Party receiver : {Party::A, Party::B}) {
    for (const std::size_t byte_of_nonce : {0u, 31u}) {
      const Established established = establish(attacked(receiver, [=](const Arrival& arrival) {
        if (arrival.tag != "handshake.hello") return;
        constexpr std::byte kNonceField[] = {std::byte{0x1a}, std::byte{32}};
        const auto field = std::search(arrival.received.begin(), arrival.received.end(),
                                       std::begin(kNonceField), std::end(kNonceField));
        ASSERT_NE(field, arrival.received.end());
        *(field + 2 + static_cast<long>(byte_of_nonce)) ^= std::byte{1};
      }));
      expect_handshake_cheated(established.outcomes.a);
      expect_handshake_cheated(established.outcomes.b);
    }
  }
}

TEST(EstablishSession, CostsAsDocumented) {
  run_channels([](Party party, Channel& channel) {
    Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
    establish_session(channel, rng, party, {}, std::nullopt);
    EXPECT_EQ(channel.counters().messages_sent, 2u);
    EXPECT_EQ(channel.counters().rounds, 2u);
  });
}

// A stream that may buffer writes until flush, as TCP's does with what the system does not accept
// at once.
class BufferingStream final : public ByteStream {
 public:
  BufferingStream(std::unique_ptr<ByteStream> inner, bool& is_pending)
      : inner_(std::move(inner)), is_pending_(is_pending) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    is_pending_ = true;
    inner_->write(bytes, more);
  }
  void read(std::span<std::byte> bytes) override { inner_->read(bytes); }
  void flush() override {
    inner_->flush();
    is_pending_ = false;
  }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    inner_->set_deadline(deadline);
  }

 private:
  std::unique_ptr<ByteStream> inner_;
  bool& is_pending_;
};

// Parties that continue on other channels must not leave unsent bytes that the peer is waiting for.
TEST(EstablishSession, FlushesWhenEstablishedOrJoined) {
  MemoryStreams streams = make_memory_streams();
  both([&](Party party) {
    bool is_pending = false;
    const auto channel = make_framed_channel(std::make_unique<BufferingStream>(
        std::move(party == Party::A ? streams.a : streams.b), is_pending));
    Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
    const SessionIds ids = establish_session(*channel, rng, party, {{"sigma", "40"}}, {});
    EXPECT_FALSE(is_pending) << letter(party);
    join_session(*channel, ids, party, 1);
    EXPECT_FALSE(is_pending) << letter(party);
  });
}

// A stream with a channel binding, as TLS has.
class BoundStream final : public ByteStream {
 public:
  BoundStream(std::unique_ptr<ByteStream> inner, std::uint8_t binding)
      : inner_(std::move(inner)), binding_(96, std::byte{binding}) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    inner_->write(bytes, more);
  }
  void read(std::span<std::byte> bytes) override { inner_->read(bytes); }
  void flush() override { inner_->flush(); }
  std::span<const std::byte> binding() const override { return binding_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    inner_->set_deadline(deadline);
  }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::vector<std::byte> binding_;
};

// Whether `work` succeeds for A and for B on a channel with these bindings.
template <class Work>
std::pair<bool, bool> both_succeed(std::uint8_t of_a, std::uint8_t of_b, const Work& work) {
  MemoryStreams streams = make_memory_streams();
  std::pair<bool, bool> succeeded{true, true};
  both([&](Party party) {
    const bool is_a = party == Party::A;
    const auto channel = make_framed_channel(
        std::make_unique<BoundStream>(std::move(is_a ? streams.a : streams.b), is_a ? of_a : of_b));
    try {
      work(party, *channel);
    } catch (const Error&) {
      (is_a ? succeeded.first : succeeded.second) = false;
    }
  });
  return succeeded;
}

// A man in the middle has two connections, whose bindings differ.
TEST(EstablishSession, IsBoundToTheChannel) {
  for (const std::optional<SessionId>& existing :
       {std::optional<SessionId>(), std::optional<SessionId>(session_of(7))}) {
    SessionIds of_binding[3];
    const auto establish_on = [&](SessionIds& ids) {
      return [&](Party party, Channel& channel) {
        Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
        const SessionIds mine = establish_session(channel, rng, party, {}, existing);
        if (party == Party::A) ids = mine;
      };
    };
    SessionIds ignored;
    EXPECT_EQ(both_succeed(1, 2, establish_on(ignored)), std::pair(false, false));
    EXPECT_EQ(both_succeed(1, 1, establish_on(of_binding[1])), std::pair(true, true));
    EXPECT_EQ(both_succeed(2, 2, establish_on(of_binding[2])), std::pair(true, true));
    run_channels(establish_on(of_binding[0]));
    for (const auto& [i, j] : {std::pair{0, 1}, {1, 2}, {0, 2}}) {
      EXPECT_NE(of_binding[i].connection, of_binding[j].connection);
      EXPECT_EQ(of_binding[i].session == of_binding[j].session, existing.has_value());
    }
  }
}

TEST(JoinSession, IsBoundToTheChannel) {
  const auto join = [](Party party, Channel& channel) {
    join_session(channel, {session_of(9), session_of(1)}, party, 1);
  };
  EXPECT_EQ(both_succeed(1, 1, join), std::pair(true, true));
  EXPECT_EQ(both_succeed(1, 2, join), std::pair(false, false));
}

TEST(Session, CountsEquallyOnBothSidesAndKeepsItsKey) {
  run_sessions([](Session& session) {
    EXPECT_EQ(session.next_counter(), 0u);
    EXPECT_EQ(session.next_counter(), 1u);
    EXPECT_EQ(session.peer(), peer_of(session.me()));
    EXPECT_EQ(session.global_key().value.lo, global_key_of(session.me(), 1).value.lo);
  });
}

// The ids and numbers of parts are public.
TEST(Session, RandomnessOfAPartDependsOnNumberAndWhole) {
  const auto channel = make_framed_channel(make_memory_streams().a);
  PhaseLog log;
  const auto first_of_part = [&](Party me, std::uint64_t seed, crypto::Phase kind,
                                 std::uint64_t number) {
    Session whole(me, {session_of(1), session_of(2)}, global_key_of(me, 1), *channel,
                  Rng(Seed{{seed, 0}}), log);
    return Session(whole, kind, number, *channel, log).rng().block();
  };
  const Block drawn = first_of_part(Party::A, 1, "unit", 1);
  EXPECT_TRUE(same(first_of_part(Party::A, 1, "unit", 1), drawn));
  EXPECT_FALSE(same(first_of_part(Party::A, 2, "unit", 1), drawn))
      << "it must not follow from public values";
  EXPECT_FALSE(same(first_of_part(Party::B, 1, "unit", 1), drawn));
  EXPECT_FALSE(same(first_of_part(Party::A, 1, "reference bits", 1), drawn));
  EXPECT_FALSE(same(first_of_part(Party::A, 1, "unit", 2), drawn));
}

TEST(Session, NamesAreHexDigits) {
  SessionId id;
  for (std::size_t i = 0; i < 32; ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 9);
  EXPECT_EQ(hex_of(id).size(), 64u);
  EXPECT_EQ(hex_of(id).substr(0, 16), "0009121b242d363f");
  EXPECT_EQ(short_name(id), "0009121b242d363f");
}

}  // namespace
}  // namespace tinyot
