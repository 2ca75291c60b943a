// Whole units of a profile whose keys fit triples, between two real parties.
#pragma once

#include <algorithm>
#include <bit>

#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Material that both parties have made in a process.
struct MadeUnits {
  MemorySink sinks[2];
  Outcomes outcomes;
};

// The workers of a party, and how far steps run ahead.
struct UnitWorkers {
  std::size_t count = 1, waiting = 0;
  PipelineDepth depth = {};
};

inline MadeUnits preprocess_units(const ParameterRequest& request, std::uint64_t ands,
                                  std::uint64_t inputs, const UnitWorkers& workers = {},
                                  const PartyOptions& options = {}) {
  MadeUnits made;
  const auto params = SecurityParameters::make(request);
  made.outcomes = run_workers(
      workers.count,
      [&](Session& outer, std::span<const std::unique_ptr<Channel>> more) {
        PhaseLog log;
        Session session(outer.me(), {outer.id(), outer.id()}, key_for_triples(outer.me()),
                        outer.channel(), outer.rng().fork(), log);
        std::vector<UnitRequest> requests;
        for (const UnitPlan& plan : params.plan(ands)) requests.push_back({plan, inputs});
        Preprocessor(session, params, more, workers.depth, workers.waiting)
            .make_units(requests, made.sinks[static_cast<int>(session.me())]);
      },
      options, false);
  return made;
}

inline MaterialCounts expect_good_units(const MadeUnits& made) {
  EXPECT_EQ(made.outcomes.a.kind, Outcome::Kind::Done) << made.outcomes.a.message;
  EXPECT_EQ(made.outcomes.b.kind, Outcome::Kind::Done) << made.outcomes.b.message;
  return test::expect_good(made.sinks[0], made.sinks[1], key_for_triples(Party::A),
                           key_for_triples(Party::B));
}

// The bits and the MACs, or shares of MACs, of a column.
template <class Column>
void expect_balanced(const Column& column, const std::string& name) {
  for (std::size_t first = 0; first + 250 <= column.size(); first += 250) {
    std::size_t ones = 0, mac_ones = 0;
    for (std::size_t j = first; j < first + 250; ++j) {
      ones += column.bits[j];
      mac_ones += static_cast<std::size_t>(std::popcount(column.macs[j].value.lo) +
                                           std::popcount(column.macs[j].value.hi));
    }
    EXPECT_LT(std::abs(static_cast<double>(ones) - 125), 3 * std::sqrt(250))
        << name << " from " << first;
    EXPECT_LT(std::abs(static_cast<double>(mac_ones) - 125 * 128), 3 * std::sqrt(250 * 128))
        << name << " from " << first;
  }
}

inline void expect_balanced(const MadeUnits& made) {
  expect_good_units(made);
  for (const int party : {0, 1}) {
    for (const auto& [material, batches] : made.sinks[party].made) {
      for (const material::Batch& batch : batches) {
        for (const MacColumn& column : batch.mine)
          expect_balanced(column, std::string(name_of(material)));
        for (const AuthShares& column : batch.shares)
          expect_balanced(column, std::string(name_of(material)));
      }
    }
  }
}

inline void expect_ensure_with_wrong_low_bits(const ParameterRequest& request) {
  const auto params = SecurityParameters::make(request);
  MemorySink sinks[2];
  const Outcomes outcomes = run_sessions(
      [&](Session& outer) {
        PhaseLog log;
        Delta wrong = key_for_triples(outer.me());
        wrong.value.lo ^= 1;
        Session session(outer.me(), {outer.id(), outer.id()}, wrong, outer.channel(),
                        outer.rng().fork(), log);
        const UnitRequest unit{params.plan(params.unit()).at(0), 7};
        Preprocessor(session, params).make_units({&unit, 1}, sinks[static_cast<int>(session.me())]);
      },
      {}, false);
  // The slower party may find the channel closed.
  for (const Outcome* outcome : {&outcomes.a, &outcomes.b})
    EXPECT_TRUE(outcome->kind == Outcome::Kind::Other || outcome->kind == Outcome::Kind::Network)
        << outcome->message;
  EXPECT_TRUE(outcomes.a.kind == Outcome::Kind::Other || outcomes.b.kind == Outcome::Kind::Other);
  EXPECT_EQ(sinks[0].units + sinks[1].units, 0);
}

// One altered message, from `bit` on every `stride` bits, and the check that the honest party
// names.
struct UnitAttack {
  const char* tag;
  std::size_t occurrence, bit, stride;
  const char* check;
  std::string_view or_check = check;  // by the other party
};
inline void expect_nothing_made(const ParameterRequest& request, const UnitAttack& attack,
                                Party cheater) {
  SCOPED_TRACE(std::string(attack.tag) + " by " + letter(cheater));
  bool done = false;
  const auto alter = [&](std::string_view tag, std::size_t occurrence,
                         std::vector<std::byte>& payload) {
    if (tag != attack.tag || occurrence != attack.occurrence) return;
    done = true;
    const std::size_t end = attack.stride == 0 ? attack.bit + 1 : 8 * payload.size();
    for (std::size_t bit = attack.bit; bit < end; bit += std::max<std::size_t>(attack.stride, 1))
      payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
  };
  const MadeUnits made = preprocess_units(request, 200, 7, {}, options_with(cheater, 1, alter));
  EXPECT_TRUE(done);
  const std::string check = attack.check;
  const Outcome &honest = of(made.outcomes, peer_of(cheater)), &own = of(made.outcomes, cheater);
  // In EQ A learns the result first, and in the check of silent bits the MAC holder: a cheater that
  // follows the protocol from there on stops by itself.
  if ((cheater == Party::A && check.starts_with("EQ of")) ||
      attack.tag == std::string_view("silent.challenge"))
    EXPECT_EQ(own.check, check) << own.message;
  else
    EXPECT_TRUE(honest.check == check || honest.check == attack.or_check) << honest.message;
  EXPECT_NE(honest.kind, Outcome::Kind::Done);
  EXPECT_EQ(made.sinks[static_cast<int>(peer_of(cheater))].units, 0);
}

}  // namespace tinyot::test
