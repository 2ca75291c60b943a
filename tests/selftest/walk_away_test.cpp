// The attack on commit-and-open at every EQ of a real session: the cheater deviates in the message
// before, receives the honest party's message of EQ, and disconnects. Here it has its own scalar
// and the base point of every candidate password, including that of the honest party's digest.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cstring>

#include "crypto/group.h"
#include "crypto/random_oracle.h"
#include "offline/unit/preprocessor.h"
#include "tests/support/both_parties.h"
#include "tests/support/layers.h"
#include "tools/selftest/adversary/trial.h"
#include "tools/selftest/adversary/unit_making.h"

namespace tinyot::test {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr std::uint32_t kPoint = 0x0201, kAnswer = 0x0202, kConfirmation = 0x0203;
constexpr std::size_t kUnits = 2, kRandomBytes = std::size_t{128} << 10;

const Integer kOrder = (Integer(1) << 252) + Integer("27742317777372353535851937790883648493");

Scalar as_scalar(Integer number) {
  Scalar scalar{};
  for (std::uint8_t& byte : scalar.bytes) {
    byte = static_cast<std::uint8_t>(number & 0xFF);
    number >>= 8;
  }
  return scalar;
}

// As random_scalar makes it of 64 random bytes.
Integer scalar_at(std::span<const std::byte> wide) {
  Integer number;
  for (std::size_t i = 64; i-- > 0;) number = number * 256 + std::to_integer<unsigned>(wide[i]);
  return number % kOrder;
}

Integer inverse(const Integer& scalar) { return powm(scalar, kOrder - 2, kOrder); }

class NoSink final : public material::Sink {
 public:
  void pour(material::Batch) override {}
  void finish_unit() override {}
};

// A session that makes two units, and the randomness of the second one.
struct Played {
  struct OfParty {
    Conduct conduct;
    Ending ending;
    std::vector<std::byte> random;
  };
  OfParty of[2];
  SessionId id{};  // of the second unit

  OfParty& operator[](Party party) { return of[static_cast<std::size_t>(party)]; }

  // The last message of this tag that the party has sent.
  const SeenMessage* last(Party party, std::uint32_t tag) const {
    const Transcript& sent = of[static_cast<std::size_t>(party)].conduct.sent;
    const auto found = std::ranges::find(sent.rbegin(), sent.rend(), tag, &SeenMessage::tag);
    return found == sent.rend() ? nullptr : &*found;
  }
};

Played play(Profile profile, Party cheater, const Deviation* deviation) {
  const auto params = offline::SecurityParameters::make(small_units(profile));
  Played played;
  MemoryStreams streams = make_memory_streams();
  both([&](Party me) {
    Played::OfParty& mine = played[me];
    auto stream = make_deviating_stream(std::move(me == Party::A ? streams.a : streams.b),
                                        me == cheater ? deviation : nullptr, nullptr, mine.conduct);
    mine.ending = ending_of(
        [&](Channel& channel) {
          Rng rng(Seed{{3, static_cast<std::uint64_t>(me)}});
          const SessionIds ids = establish_session(channel, rng, me, {}, std::nullopt);
          PhaseLog log;
          const Delta key = draw_global_key(rng, me, profile, params.material());
          Session session(me, ids, key, channel, std::move(rng), log);
          Session second(session, "unit", kUnits - 1, channel, log);
          mine.random.resize(kRandomBytes);
          second.rng().fill(mine.random);
          if (me == Party::A) played.id = second.id();
          NoSink sink;
          const UnitPlan plan{params.unit(), params.bucket()};
          const std::vector<UnitRequest> requests(kUnits, {plan, 0});
          Preprocessor(session, params).make_units(requests, sink);
        },
        std::move(stream));
  });
  return played;
}

// One run of EQ, as seen on the wire.
struct Equality {
  SessionId id;
  Point u, v;
  Digest confirmation;

  Equality(const SessionId& part, const SeenMessage& point, const SeenMessage& answer) : id(part) {
    std::memcpy(u.bytes.data(), point.payload.data(), 32);
    std::memcpy(v.bytes.data(), answer.payload.data(), 32);
    std::memcpy(confirmation.bytes.data(), answer.payload.data() + 32, 32);
  }

  // The counter for which B's confirmation matches this shared point.
  std::optional<std::uint64_t> fits(const Point& shared) const {
    for (std::uint64_t counter = 0; counter < 8; ++counter)
      if (RandomOracle(id, {"EQ confirm", 'B', counter})
              .absorb_object(u)
              .absorb_object(v)
              .absorb_object(shared)
              .digest()
              .bytes == confirmation.bytes)
        return counter;
    return std::nullopt;
  }

  // Searches the randomness for the scalar that maps `peers` to the shared point.
  Integer find_scalar(const std::vector<std::byte>& random, const Point& peers) const {
    for (std::size_t at = 0; at + 64 <= random.size(); at += 8) {
      const Integer scalar = scalar_at(std::span(random).subspan(at, 64));
      if (fits(times(as_scalar(scalar), peers))) return scalar;
    }
    ADD_FAILURE() << "the test does not know the session's randomness";
    return 1;
  }
};

const SeenMessage& find(const Transcript& sent, std::uint32_t tag, std::size_t occurrence) {
  return *std::ranges::find_if(sent, [&](const SeenMessage& message) {
    return message.tag == tag && message.occurrence == occurrence;
  });
}

Deviation lie_in_last(const Played& honest, Party cheater, std::uint32_t tag, std::size_t bit) {
  const Transcript& sent = honest.of[static_cast<std::size_t>(cheater)].conduct.sent;
  const SeenMessage* message = honest.last(cheater, tag);
  return {.message = static_cast<std::size_t>(message - sent.data()),
          .kind = DeviationKind::FlipRow,
          .bit = bit};
}

struct Lie {
  Profile profile;
  std::uint32_t tag;
  std::string check;  // that detects it
};
const Lie kLies[] = {{Profile::Nnob12, 0x1101, "EQ of LaBit"},
                     {Profile::Nnob12, 0x1202, "EQ of global key"},
                     {Profile::Nnob12, 0x1302, "EQ of leaky objects"},
                     {Profile::Nnob12, 0x1405, "EQ of leaky objects"},
                     {Profile::Fast, 0x1202, "EQ of global key"},
                     {Profile::Fast, 0x1B01, "EQ of leaky triples"},
                     {Profile::Fast, 0x1B02, "EQ of leaky triples"}};

class WalkAway : public testing::TestWithParam<Lie> {};

TEST_P(WalkAway, MessagesOfBAllowNoOfflineTest) {
  const auto& [profile, tag, check] = GetParam();
  Played honest = play(profile, Party::A, nullptr);
  ASSERT_EQ(honest[Party::B].ending.kind, Ending::Kind::Done) << honest[Party::B].ending.text;

  std::optional<Equality> equal;
  std::vector<Equality> attacked;  // with lies at different bits
  for (const std::size_t bit : {0u, 1u, 77u}) {
    const Deviation lie = lie_in_last(honest, Party::A, tag, bit);
    Played cheated = play(profile, Party::A, &lie);
    ASSERT_EQ(cheated[Party::A].ending.check, check) << cheated[Party::A].ending.text;
    EXPECT_EQ(cheated[Party::B].ending.kind, Ending::Kind::Cut) << cheated[Party::B].ending.text;
    EXPECT_EQ(cheated[Party::B].conduct.sent.back().tag, kAnswer) << "B has sent more";
    const SeenMessage& point = *cheated.last(Party::A, kPoint);
    attacked.emplace_back(cheated.id, point, *cheated.last(Party::B, kAnswer));
    // The same run without the lie shows where in the randomness the scalars are.
    if (!equal)
      equal.emplace(honest.id, find(honest[Party::A].conduct.sent, kPoint, point.occurrence),
                    find(honest[Party::B].conduct.sent, kAnswer, point.occurrence));
  }
  const Integer a = equal->find_scalar(honest[Party::A].random, equal->v);
  const Integer b = equal->find_scalar(honest[Party::B].random, equal->u);
  const Scalar of_a = as_scalar(a);

  std::vector<Point> bases = {times(as_scalar(inverse(a)), equal->u)};
  for (const Equality& run : attacked) {
    ASSERT_TRUE(run.fits(times(as_scalar(b), run.u))) << "the test does not follow EQ";
    bases.push_back(times(as_scalar(inverse(a)), run.u));
    bases.push_back(times(as_scalar(inverse(b)), run.v));
    EXPECT_NE(bases.back().bytes, bases[bases.size() - 2].bytes) << "the digests are equal";
  }
  for (const Equality& run : attacked) {
    const Point av = times(of_a, run.v);
    for (const Point& g : bases) {
      const Point ag = times(of_a, g);
      for (const Point& shared :
           {av, g, ag, av - ag, av + ag, ag + run.v, run.v - g, run.u + run.v, run.u, run.v})
        EXPECT_FALSE(run.fits(shared));
    }
  }
}

// A sends nothing except its point until it has verified that B has the same digest.
TEST_P(WalkAway, MessagesOfAAllowNoOfflineTest) {
  const auto& [profile, tag, check] = GetParam();
  Played honest = play(profile, Party::B, nullptr);
  const Deviation lie = lie_in_last(honest, Party::B, tag, 1);
  Played cheated = play(profile, Party::B, &lie);
  EXPECT_EQ(cheated[Party::A].ending.check, check) << cheated[Party::A].ending.text;
  EXPECT_EQ(cheated[Party::A].conduct.sent.back().tag, kPoint);
  EXPECT_EQ(cheated[Party::A].conduct.sent.back().payload.size(), sizeof(Point));
  const std::size_t points = cheated.last(Party::A, kPoint)->occurrence;
  EXPECT_LT(cheated.last(Party::A, kConfirmation)->occurrence, points);
}

std::string name_of_lie(const testing::TestParamInfo<Lie>& tested) {
  char tag[16];
  std::snprintf(tag, sizeof tag, "%04X", tested.param.tag);
  return std::string(name_of(tested.param.profile)) + "_" + tag;
}

INSTANTIATE_TEST_SUITE_P(EveryEq, WalkAway, testing::ValuesIn(kLies), name_of_lie);

}  // namespace
}  // namespace tinyot::test
