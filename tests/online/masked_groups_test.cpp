// Groups in masked runs: the masks of their inputs and the products of these, on both parties'
// shares; runs of circuits with groups, and a party that lies about them.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "online/masked/group_masks.h"
#include "online/masked/masked_round.h"
#include "online/windowed_exchange.h"
#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/random_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Masks = OnlineJob::Masks;
using online::GroupMasks;
using online::Lanes;
using online::PlacedGroup;

// The rounds of a circuit with groups.
std::vector<Round> grouped_rounds(const Circuit& circuit, std::size_t lanes, std::size_t window) {
  struct Sink final : RoundSink {
    void round(Round& round) override { rounds.push_back(round); }
    std::vector<Round> rounds;
  } sink;
  generate_rounds(circuit, lanes, window, sink, GroupsAs::Polynomials);
  return std::move(sink.rounds);
}

// Both parties' masks of the groups of a round, from dealt triples; what is opened is computed from
// both shares. Of the factors that are wires, some are pivots.
class MasksJudge {
 public:
  MasksJudge(const Round& round, std::size_t lanes, std::uint64_t seed)
      : round_(round), lanes_(lanes), rng_(Seed{{seed, 61}}) {
    for (const Party party : {Party::A, Party::B}) {
      IdealDealer dealer(party, seed, global_key_of(Party::A, seed), global_key_of(Party::B, seed));
      deltas_.push_back(global_key_of(party, seed).value);
      auto batch = std::make_shared<material::Batch>(
          dealer.draw(MaterialKind::Triples, round.and_count(lanes)));
      slices_.push_back({{batch, 0, batch->count}});
      masks_.emplace_back(round, lanes_);
    }
    for (const material::Slices& slices : slices_) triples_.emplace_back(slices);
    for (BitVector& bits : opened_) bits = BitVector(round.and_count(lanes));
  }

  void expect_masks() {
    for (std::size_t level = 1; level <= online::kLevelsMost; ++level) {
      open(level);
      for (std::size_t party = 0; party < 2; ++party)
        masks_[party].make(level, round_, lanes_, triples_[party], opened_,
                           {party == 0, deltas_[party]});
      online::for_each_group(round_, lanes_, [&](const PlacedGroup& group) {
        const GroupShape& shape = group.shape();
        for (std::size_t number = 0; number < shape.parts.size(); ++number) {
          const bool is_single = number < shape.single_parts;
          if ((is_single ? 1 : online::level_of(shape.parts[number])) != level) continue;
          for (std::size_t lane = 0; lane < group.width; ++lane) {
            ++checked;
            expect_part(group, number, lane);
          }
        }
      });
    }
  }

  // Results of random public bits.
  void expect_results() {
    online::for_each_group(round_, lanes_, [&](const PlacedGroup& group) {
      const GroupShape& shape = group.shape();
      std::vector<std::uint64_t> l, z;
      for (std::size_t i = 0; i < shape.inputs; ++i) {
        l.push_back(rng_.bits(64).words()[0]);
        const auto input = static_cast<GroupPart>(1u << i);
        const bool has_mask = std::ranges::count(shape.parts, input) > 0;
        z.push_back(l[i] ^ (has_mask ? word_of(group, shape.number_of(input)) : 0));
      }
      const auto terms = online::terms_of(shape, l);
      ASSERT_EQ(terms.size(), shape.results.size());
      for (std::size_t k = 0; k < shape.results.size(); ++k) {
        std::uint64_t got = terms[k].constant, wanted = shape.results[k].constant ? ~0ull : 0;
        for (const auto& [part, factor] : terms[k].parts) got ^= factor & word_of(group, part);
        for (std::size_t i = 0; i < shape.inputs; ++i)
          if ((shape.results[k].linear >> i & 1) != 0) {
            got ^= z[i];
            wanted ^= z[i];
          }
        for (const GroupPart monomial : shape.results[k].monomials) {
          std::uint64_t product = ~0ull;
          for (std::size_t i = 0; i < shape.inputs; ++i)
            if ((monomial >> i & 1) != 0) product &= z[i];
          wanted ^= product;
        }
        EXPECT_EQ((got ^ wanted) << (64 - group.width), 0u);
      }
    });
  }

  std::uint64_t checked = 0;

 private:
  bool factor(std::size_t operand, std::size_t entry) const {
    return triples_[0].bits[operand][entry] != triples_[1].bits[operand][entry];
  }
  std::uint64_t word_of(const PlacedGroup& group, std::size_t part) const {
    return masks_[0].bits(group.part(part), group.width) ^
           masks_[1].bits(group.part(part), group.width);
  }

  void open(std::size_t level) {
    if (level > 1)
      return online::for_each_opened_part(
          round_, lanes_, level,
          [&](std::size_t operand, std::size_t entry, std::size_t part, std::size_t width) {
            const std::uint64_t mask = masks_[0].bits(part, width) ^ masks_[1].bits(part, width);
            for (std::size_t lane = 0; lane < width; ++lane)
              opened_[operand].put(entry + lane,
                                   (mask >> lane & 1) != factor(operand, entry + lane));
          });
    online::for_each_group(round_, lanes_, [&](const PlacedGroup& group) {
      std::map<std::pair<GroupPart, std::size_t>, bool> wires;
      const auto products = group.shape().products();
      for (std::size_t p = 0; p < products.size(); ++p)
        for (std::size_t operand = 0; operand < 2; ++operand)
          for (std::size_t lane = 0; lane < group.width; ++lane) {
            const GroupPart part = factors_of(products[p])[operand];
            if (!std::has_single_bit(part)) continue;
            const std::size_t entry = group.entry(p) + lane;
            // A new mask, or a pivot, whose mask is the factor.
            const bool is_pivot = rng_.below(2) == 0;
            const auto [wire, is_new] = wires.try_emplace(
                {part, lane}, is_pivot ? factor(operand, entry) : rng_.below(2) == 0);
            opened_[operand].put(entry, wire->second != factor(operand, entry));
            if (is_new) lambda_[{&group.group, part, group.tile, lane}] = wire->second;
          }
    });
  }

  void expect_part(const PlacedGroup& group, std::size_t number, std::size_t lane) {
    const GroupPart part = group.shape().parts[number];
    bool wanted = true;
    for (unsigned i = 0; i < 8; ++i)
      if ((part >> i & 1) != 0)
        wanted =
            wanted && lambda_.at({&group.group, static_cast<GroupPart>(1u << i), group.tile, lane});
    EXPECT_EQ((word_of(group, number) >> lane & 1) != 0, wanted);
    const std::size_t place = group.part(number);
    const Block sum =
        masks_[0].blocks(place, group.width)[lane] ^ masks_[1].blocks(place, group.width)[lane];
    const Block product = times(deltas_[0] ^ deltas_[1], wanted);
    EXPECT_TRUE(sum.lo == product.lo && sum.hi == product.hi);
  }

  const Round& round_;
  Lanes lanes_;
  Rng rng_;
  std::vector<Block> deltas_;
  std::vector<material::Slices> slices_;
  std::vector<online::RoundTriples> triples_;
  std::vector<GroupMasks> masks_;
  std::array<BitVector, 2> opened_;
  std::map<std::tuple<const RoundGroup*, GroupPart, std::size_t, std::size_t>, bool> lambda_;
};

// m_A ^ m_B = x.(Delta^A ^ Delta^B) for the mask of each input and each product, in every lane.
TEST(GroupMasks, AreProductsOfMasksAtBothParties) {
  std::uint64_t checked = 0;
  const auto judge = [&](const Circuit& circuit, std::size_t lanes, std::uint64_t seed) {
    for (const Round& round : grouped_rounds(circuit, lanes, 50)) {
      MasksJudge masks(round, lanes, seed);
      masks.expect_masks();
      masks.expect_results();
      checked += masks.checked;
    }
  };
  for (const std::size_t lanes : {1, 3, 63, 64, 65, 129}) judge(grouped_layers(), lanes, lanes);
  for (std::uint64_t seed = 1; seed <= repetitions(100); ++seed) {
    judge(RandomCircuit::of_any_shape(seed), seed % 2 == 0 ? 1 : 70, seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(checked, 1000u);
}

// A factor that masked two bits would show their sum.
TEST(GroupMasks, EachFactorMasksOneOpenedBit) {
  std::array<std::uint64_t, online::kLevelsMost> of_levels{};
  std::uint64_t invariant_groups = 0, mixed_groups = 0;
  for (std::uint64_t seed = 1; seed <= repetitions(300); ++seed) {
    const RandomCircuit random = RandomCircuit::of_any_shape(seed);
    const ListedCircuit listed = grouped_layers();
    const Circuit& circuit = seed % 25 == 0 ? static_cast<const Circuit&>(listed) : random;
    const Lanes lanes(seed % 3 == 0 ? 1 : 66);
    online::MaskPlanner planner(seed % 2 == 0 ? 2 : 128);
    for (const Round& round : grouped_rounds(circuit, lanes.count(), 1 + seed % 9 * 11)) {
      const online::RoundPlan plan = planner.plan(round);
      std::array<std::vector<int>, 2> uses;
      for (std::vector<int>& of : uses) of.resize(round.and_count(lanes.count()));
      const auto use = [&](std::size_t operand, std::size_t entry, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) ++uses[operand].at(entry + i);
        return count;
      };
      for (const online::Pivot& pivot : plan.pivots) {
        const bool is_one = is_invariant(pivot.wire);
        for (std::size_t tile = 0; tile < (is_one ? 1 : lanes.tiles()); ++tile)
          use(pivot.operand, online::entry_of(round, lanes, pivot, tile),
              is_one ? 1 : lanes.width(tile));
      }
      std::array<std::uint64_t, online::kLevelsMost> opened{};
      online::for_each_opened_before(
          round, online::openings_of(round, plan), lanes,
          [&](std::size_t, Slot, std::size_t operand, std::size_t entry, std::size_t,
              std::size_t count) { opened[0] += use(operand, entry, count); });
      for (std::size_t level = 2; level <= online::kLevelsMost; ++level)
        online::for_each_opened_part(
            round, lanes, level,
            [&](std::size_t operand, std::size_t entry, std::size_t, std::size_t count) {
              opened[level - 1] += use(operand, entry, count);
            });
      EXPECT_EQ(opened, online::opened_before(round, plan, lanes));
      for (const std::vector<int>& of : uses)
        for (const int count : of) ASSERT_EQ(count, 1) << "seed " << seed;
      for (std::size_t level = 0; level < opened.size(); ++level) of_levels[level] += opened[level];
      invariant_groups += round.invariant_groups.size();
      for (const RoundGroup& group : round.groups)
        mixed_groups +=
            std::ranges::any_of(std::span(group.inputs).first(group.shape->inputs), is_invariant);
    }
  }
  for (const std::uint64_t opened : of_levels) EXPECT_GT(opened, 0u);
  EXPECT_GT(invariant_groups, 0u);
  EXPECT_GT(mixed_groups, 0u);
}

class MaskedGroups : public testing::TestWithParam<Masks> {};

INSTANTIATE_TEST_SUITE_P(InEachWay, MaskedGroups, testing::Values(Masks::AtOnce, Masks::Prepared),
                         name_of_masks);

TEST_P(MaskedGroups, MatchThePlainEvaluator) {
  const ListedCircuit circuit = grouped_layers();
  for (const std::size_t lanes : {1, 2, 63, 64, 65, 128, 129, 200})
    for (const std::size_t window : {0, 1, 30}) {
      Rng rng(Seed{{lanes, 62}});
      const Inputs inputs = random_inputs(circuit, lanes, rng);
      OnlineJob job{circuit, lanes, inputs, AndMaterial::Triples};
      job.window = window;
      job.masks = GetParam();
      job.atoms_max = window == 30 ? 1 : 128;
      expect_outputs(circuit, run_online(job, {.seed = lanes}), evaluate(circuit, lanes, inputs));
      ASSERT_FALSE(HasFailure()) << lanes << " lanes, window " << window;
    }
}

// More bits than a message has, at two levels and in a round of pivots.
class LargeMaskedGroups : public testing::TestWithParam<Masks> {
 protected:
  static constexpr std::size_t kLanes = 22'000;
  static_assert(3 * kLanes > online::WindowedExchange::kEntries);

  LargeMaskedGroups() {
    const auto x = circuit_.input(Party::A, 4), y = circuit_.input(Party::B, 4);
    std::vector<WireId> z;
    for (std::size_t i = 0; i < 4; ++i) z.push_back(circuit_.and_of(x[i], y[i]));
    circuit_.begin_group();
    const WireId low = circuit_.and_of(z[0], z[1]), high = circuit_.and_of(z[2], z[3]),
                 all = circuit_.and_of(low, high);
    circuit_.free(low);
    circuit_.free(high);
    circuit_.end_group();
    circuit_.output(Receiver::Both, {circuit_.xor_of(all, z[0])});
    Rng rng(Seed{{7, 62}});
    inputs_ = random_inputs(circuit_, kLanes, rng);
    job_.masks = GetParam();
  }

  ListedCircuit circuit_;
  Inputs inputs_;
  OnlineJob job_{circuit_, kLanes, inputs_, AndMaterial::Triples};
};

INSTANTIATE_TEST_SUITE_P(InEachWay, LargeMaskedGroups,
                         testing::Values(Masks::AtOnce, Masks::Prepared), name_of_masks);

TEST_P(LargeMaskedGroups, AreSentInSeveralMessagesAndAreRight) {
  Messages sent;
  PartyOptions options;
  options.wrap_b = recording(sent);
  expect_outputs(circuit_, run_online(job_, options), evaluate(circuit_, kLanes, inputs_));
  std::map<std::string, std::vector<std::size_t>> bytes;
  for (const Message& message : sent) bytes[message.tag].push_back(message.payload.size());
  std::vector<std::size_t> products, operands;
  const auto add = [](std::size_t bits, std::vector<std::size_t>& to) {
    for (; bits > 0; bits -= std::min(bits, online::WindowedExchange::kEntries))
      to.push_back(bytes_for(std::min(bits, online::WindowedExchange::kEntries)));
  };
  // Four ANDs; of the group's 11 products, 6 of two inputs and 4 of three have 16 factors that are
  // wires, of which 4 are pivots; the others are 6 of two inputs.
  add(8 * kLanes, products);
  add((16 - 4) * kLanes, products);
  add(6 * kLanes, products);
  add(4 * kLanes, operands);
  EXPECT_EQ(bytes["masked.products"], products);
  EXPECT_EQ(bytes["masked.operands"], operands);
}

// The last message of each level, and that of the pivots.
TEST_P(LargeMaskedGroups, LiesInLaterMessagesAreCaught) {
  for (const auto& [tag, number] : {std::pair("masked.products", 2),
                                    {"masked.products", 6},
                                    {"masked.products", 8},
                                    {"masked.operands", 1}})
    expect_change_caught(
        job_, number == 2 ? Party::A : Party::B, tag, static_cast<std::size_t>(number),
        [](std::vector<std::byte>& payload) { flip(payload, 0); }, "MAC transcript");
}

class GroupCheating : public testing::TestWithParam<Masks> {};

INSTANTIATE_TEST_SUITE_P(InEachWay, GroupCheating, testing::Values(Masks::AtOnce, Masks::Prepared),
                         name_of_masks);

// A lie, sent or also believed, at each level and in each round.
TEST_P(GroupCheating, IsCaughtAtEveryBit) {
  const ListedCircuit circuit = grouped_layers();
  Rng rng(Seed{{5, 62}});
  const Inputs inputs = random_inputs(circuit, 2, rng);
  OnlineJob job{circuit, 2, inputs, AndMaterial::Triples};
  job.masks = GetParam();
  for (const Party cheater : {Party::A, Party::B}) {
    std::map<std::string, std::size_t> messages;
    for (const Message& message : messages_of(job, cheater)) ++messages[message.tag];
    EXPECT_EQ(messages["masked.products"], 3u * online::kLevelsMost);
    EXPECT_EQ(messages["masked.operands"], 2u);
    std::size_t tried = 0;
    for (const char* tag : {"masked.products", "masked.operands"})
      for (std::size_t occurrence = 0; occurrence < messages[tag]; ++occurrence) {
        const std::size_t bits = bits_of_message(job, cheater, tag, occurrence);
        for (std::size_t bit = 0; bit < bits; bit += 1 + tried % 3) {
          SCOPED_TRACE(std::string(tag) + ", bit " + std::to_string(bit));
          ++tried;
          expect_change_caught(
              job, cheater, tag, occurrence,
              [&](std::vector<std::byte>& payload) { flip(payload, bit); }, "MAC transcript");
          expect_caught(job, cheater, flipping_both_ways(tag, {bit}, occurrence), "MAC transcript");
          if (HasFailure()) return;
        }
      }
    EXPECT_GT(tried, 100u);
  }
}

}  // namespace
}  // namespace tinyot
