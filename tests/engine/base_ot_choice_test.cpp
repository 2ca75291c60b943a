// Which base OTs two parties agree on, whatever OpenSSL each of them has.
#include "engine/base_ot_choice.h"

#include "base/error.h"
#include "offline/base_ot/base_ot.h"
#include "offline/parameters.h"
#include "tests/net/raw_peer.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// What a party asks for, and why it has no ML-KEM.
struct Side {
  std::optional<BaseOt> requested;
  std::string shortage;
};
constexpr const char* kShortage = "OpenSSL 3.0.0 has no ML-KEM-768, which 3.5 has";

struct Agreed {
  std::optional<BaseOt> of[2];
  Outcomes outcomes;
};

Agreed agreed_by(const Side& a, const Side& b) {
  Agreed agreed;
  agreed.outcomes = run_channels([&](Party party, Channel& channel) {
    const Side& mine = party == Party::A ? a : b;
    Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
    Agreement agreement;
    establish_session(channel, rng, party, {base_ot_parameter(mine.requested, mine.shortage)},
                      std::nullopt, &agreement);
    agreed.of[static_cast<int>(party)] = agreed_base_ot(agreement);
  });
  return agreed;
}

TEST(BaseOtChoice, IsMlKemWhereBothHaveItUnlessOneAsksForRistretto) {
  const Side with{}, without{{}, kShortage}, ml_kem{BaseOt::MlKem, ""},
      ristretto{BaseOt::Ristretto, ""}, ristretto_alone{BaseOt::Ristretto, kShortage};
  const std::tuple<Side, Side, BaseOt> cases[] = {
      {with, with, BaseOt::MlKem},
      {with, ml_kem, BaseOt::MlKem},
      {ml_kem, ml_kem, BaseOt::MlKem},
      {with, without, BaseOt::Ristretto},
      {without, without, BaseOt::Ristretto},
      {with, ristretto, BaseOt::Ristretto},
      {with, ristretto_alone, BaseOt::Ristretto},
      {without, ristretto, BaseOt::Ristretto},
      {ristretto, ristretto_alone, BaseOt::Ristretto},
  };
  for (const auto& [x, y, expected] : cases)
    for (const auto& [a, b] : {std::pair{x, y}, {y, x}}) {
      const Agreed agreed = agreed_by(a, b);
      EXPECT_EQ(agreed.of[0], expected) << agreed.outcomes.a.message;
      EXPECT_EQ(agreed.of[1], expected) << agreed.outcomes.b.message;
    }
}

TEST(BaseOtChoice, RefusalSaysWhatThePeerLacks) {
  const Side ml_kem{BaseOt::MlKem, ""}, without{{}, kShortage}, ristretto{BaseOt::Ristretto, ""};
  const Outcomes lacking = agreed_by(ml_kem, without).outcomes;
  expect_contains(lacking.a.message,
                  "the parties disagree on base-ot: this party has ml-kem, the peer has ristretto "
                  "(OpenSSL 3.0.0 has no ML-KEM-768, which 3.5 has); give both parties the same");
  expect_contains(lacking.b.message,
                  "this party has ristretto (OpenSSL 3.0.0 has no ML-KEM-768, which 3.5 has), the "
                  "peer has ml-kem");
  const Outcomes different = agreed_by(ml_kem, ristretto).outcomes;
  expect_contains(different.a.message, "this party has ml-kem, the peer has ristretto;");
  expect_contains(different.b.message, "this party has ristretto, the peer has ml-kem;");
}

TEST(BaseOtChoice, IsRefusedBeforeItIsSentIfThisPartyLacksIt) {
  expect_contains(
      message_of<UsageError>([] { require_base_ot(BaseOt::MlKem, kShortage); }),
      "base OTs from ml-kem are not available: OpenSSL 3.0.0 has no ML-KEM-768, which 3.5 has");
  EXPECT_NO_THROW(require_base_ot(BaseOt::Ristretto, kShortage));
  EXPECT_NO_THROW(require_base_ot(std::nullopt, kShortage));
  EXPECT_NO_THROW(require_base_ot(BaseOt::MlKem, ""));
  if (!has_ml_kem()) {
    EXPECT_THROW(require_in_use({.base_ot = BaseOt::MlKem}), UsageError);
  }
}

// A peer of a later release, or one that deviates.
TEST(BaseOtChoice, UnknownOnesOfThePeerAreADisagreement) {
  const Outcomes outcomes = run_channels([](Party party, Channel& channel) {
    Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
    Agreement agreement;
    establish_session(
        channel, rng, party,
        {party == Party::A ? base_ot_parameter({}, "") : Parameter{"base-ot", "frodo"}},
        std::nullopt, &agreement);
    if (party == Party::A) agreed_base_ot(agreement);
  });
  expect_contains(outcomes.a.message, "base OTs that this party does not have");
}

}  // namespace
}  // namespace tinyot
