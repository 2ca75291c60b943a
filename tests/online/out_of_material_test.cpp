// A party's material runs out, or its store fails, in the middle of a run.
#include <gtest/gtest.h>

#include "tests/online/online_run.h"
#include "tests/online/random_circuit.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// An ideal dealer that runs out of material.
class EmptyingDealer : public material::Source {
 public:
  EmptyingDealer(const Session& session, std::size_t draws)
      : dealer_(dealer_of(session, 1)), left_(draws) {}
  material::Batch draw(MaterialKind kind, std::size_t count) override {
    if (left_-- == 0) throw OutOfMaterial("the dealer has none left");
    return dealer_.draw(kind, count);
  }

 private:
  IdealDealer dealer_;
  std::size_t left_;
};

// A run in which one party's dealer fails at a draw: that party reports it, the other one loses the
// connection, and neither has an output. Returns false if the run needs no such draw or fails
// otherwise.
bool run_fails_at(std::size_t draw, AndMaterial form, std::size_t lanes, Party failing) {
  const RandomCircuit circuit(5, 150);
  Rng rng(Seed{{5, 5}});
  const auto inputs = random_inputs(circuit, lanes, rng);
  OnlineRun run;
  run.outcomes = run_sessions(
      [&](Session& session) {
        EmptyingDealer dealer(session, session.me() == failing ? draw : 1000);
        Evaluation result = run_party(session, dealer, {circuit, lanes, inputs, form, 40});
        (session.me() == Party::A ? run.a : run.b) = std::move(result);
      },
      {}, false);
  if (run.outcome(failing).message != "the dealer has none left") {
    EXPECT_EQ(run.outcome(failing).kind, Outcome::Kind::Done) << run.outcome(failing).message;
    return false;
  }
  EXPECT_EQ(run.outcome(peer_of(failing)).kind, Outcome::Kind::Network)
      << run.outcome(peer_of(failing)).message;
  EXPECT_TRUE(run.a.outputs.empty() && run.b.outputs.empty());
  return true;
}

TEST(OutOfMaterial, RunFailsWhenItsMaterialEnds) {
  for (const AndMaterial form : {AndMaterial::AandAot, AndMaterial::Triples}) {
    for (const std::size_t lanes : {3, 300}) {
      std::size_t draw = 0;
      while (run_fails_at(draw, form, lanes, draw % 2 == 0 ? Party::A : Party::B)) ++draw;
      EXPECT_GE(draw, form == AndMaterial::AandAot ? 6u : 3u)
          << "of a run on " << lanes << " lanes";
    }
  }
}

}  // namespace
}  // namespace tinyot
