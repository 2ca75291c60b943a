// A party's randomness is fresh, and no secret or unpredictable value depends on public values
// alone: sessions with the same ids and global keys but different randomness have no message, bit
// or key in common.
#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "crypto/use_ledger.h"
#include "offline/unit/preprocessor.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kFreshUnits = 3;
constexpr std::uint64_t kAnds = 128, kFreshInputs = 256;
constexpr std::size_t kShortest = 16;  // bytes of a message that does not repeat by chance

const SessionIds kIds{{std::array<std::uint8_t, 32>{1}}, {std::array<std::uint8_t, 32>{2}}};

struct FreshnessCase {
  const char* name;
  ParameterRequest request;
};
const FreshnessCase kFreshnessCases[] = {
    {"Pairs", {.own = Nnob12Parameters{Columns::Experiment}, .unit = kAnds}},
    {"TriplesOfPairs",
     {.own = Nnob12Parameters{Columns::Experiment},
      .unit = kAnds,
      .material = AndMaterial::Triples}},
    {"Fast", {.profile = Profile::Fast, .unit = kAnds}}};

using Bytes = std::string;
Bytes bytes_of_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A sink that stores the reference bits as well.
class AllSink : public MemorySink {
 public:
  void add_reference_bits(material::Batch bits) override { kept.push_back(std::move(bits)); }
  std::vector<material::Batch> kept;
};

struct Message {
  std::string tag;
  Bytes payload;
};

// Two such messages are equal by chance with probability at most 2^-128.
bool is_random(const Message& message) {
  return message.payload.size() >= kShortest && message.tag != "unit.begin";
}

// The messages, streams and material of one session.
struct Seen {
  std::array<std::vector<Message>, 2> sent;
  std::array<AllSink, 2> sinks;
  std::vector<Bytes> stream_keys;
};

std::mutex stream_keys_mutex;
std::vector<Bytes> stream_keys;

void note_stream_key(const Use& use) {
  if (use.kind != UseKind::Stream) return;
  const std::lock_guard lock(stream_keys_mutex);
  stream_keys.push_back(bytes_of_text(use.key));
}

class FreshnessOf : public testing::TestWithParam<FreshnessCase> {
 protected:
  // Both parties' randomness is derived from their seeds.
  static Seen run(std::uint64_t seed_of_a, std::uint64_t seed_of_b) {
    Seen seen;
    const auto params = offline::SecurityParameters::make(GetParam().request);
    const auto keep_messages = [&](Party party) {
      auto& sent = seen.sent[static_cast<std::size_t>(party)];
      return cheating([&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        sent.push_back({std::string(tag), bytes_of_text(payload)});
      });
    };
    const Delta keys[] = {key_for_triples(Party::A), key_for_triples(Party::B)};
    stream_keys.clear();
    use_observer = &note_stream_key;
    const Outcomes outcomes = run_channels(
        [&](Party me, Channel& channel) {
          const auto party = static_cast<std::size_t>(me);
          Rng rng(Seed{{me == Party::A ? seed_of_a : seed_of_b, 77u + party}});
          PhaseLog log;
          Session session(me, kIds, keys[party], channel, std::move(rng), log);
          const std::vector<UnitRequest> requests(kFreshUnits,
                                                  {params.plan(kAnds).at(0), kFreshInputs});
          Preprocessor(session, params).make_units(requests, seen.sinks[party]);
        },
        {.wrap_a = keep_messages(Party::A), .wrap_b = keep_messages(Party::B)});
    use_observer = nullptr;
    EXPECT_TRUE(both_done(outcomes));
    std::ranges::sort(stream_keys);
    seen.stream_keys = std::move(stream_keys);
    return seen;
  }
};

void expect_no_message_repeats(const Seen& seen) {
  std::set<Bytes> payloads;
  for (const auto& sent : seen.sent)
    for (const Message& message : sent) {
      if (!is_random(message)) continue;
      EXPECT_TRUE(payloads.insert(message.payload).second) << message.tag;
    }
  EXPECT_GT(payloads.size(), 50u);
}

// Including the reference bits.
void expect_each_bit_once(const AllSink& sink) {
  std::set<Bytes> macs;
  const auto add = [&](const material::Batch& batch) {
    for (const MacColumn& column : batch.mine)
      for (const Mac& mac : column.macs)
        EXPECT_TRUE(macs.insert(bytes_of_text(bytes_of(mac))).second) << name_of(batch.kind);
    for (const AuthShares& column : batch.shares)
      for (const MacShare& mac : column.macs)
        EXPECT_TRUE(macs.insert(bytes_of_text(bytes_of(mac))).second) << name_of(batch.kind);
  };
  ASSERT_EQ(sink.kept.size(), 2u);
  for (const material::Batch& batch : sink.kept) add(batch);
  for (const auto& [kind, batches] : sink.made)
    for (const material::Batch& batch : batches) add(batch);
  EXPECT_GT(macs.size(), kFreshUnits * (kAnds + kFreshInputs));
}

// The bits of `party` that were consumed by Delta-consistency checks, computed from its messages
// and the reference bits, are not a range of the bits in its sink.
void expect_consumed_bits_are_not_served(const Seen& seen, Party party) {
  const auto p = static_cast<std::size_t>(party);
  const AllSink& sink = seen.sinks[p];
  std::set<Bytes> served;
  for (const material::Batch& batch : sink.made.at(material::auth_bits_of(party)))
    for (std::size_t first = 0; first + kReferenceBits <= batch.count; ++first) {
      BitVector range(kReferenceBits);
      for (std::size_t i = 0; i < kReferenceBits; ++i) range.put(i, batch.mine[0].bits[first + i]);
      served.insert(bytes_of_text(std::as_bytes(range.words())));
    }
  std::size_t delta_checks = 0;
  for (const Message& message : seen.sent[p]) {
    if (message.tag != "global_key.e") continue;
    BitVector consumed(kReferenceBits);
    std::memcpy(consumed.words().data(), message.payload.data(), kReferenceBits / 8);
    consumed ^= sink.kept.at(p).mine.at(0).bits;
    EXPECT_TRUE(served.insert(bytes_of_text(std::as_bytes(consumed.words()))).second)
        << delta_checks;
    ++delta_checks;
  }
  EXPECT_EQ(delta_checks, kFreshUnits);
}

TEST_P(FreshnessOf, NoMessageOrBitRepeats) {
  const Seen seen = run(1, 2);
  expect_no_message_repeats(seen);
  for (const Party party : {Party::A, Party::B}) {
    expect_each_bit_once(seen.sinks[static_cast<std::size_t>(party)]);
    expect_consumed_bits_are_not_served(seen, party);
  }
}

void expect_other_messages(Party party, const Seen& one, const Seen& other) {
  const auto p = static_cast<std::size_t>(party);
  std::set<Bytes> payloads;
  for (const Message& message : one.sent[p])
    if (is_random(message)) payloads.insert(message.payload);
  for (const Message& message : other.sent[p])
    EXPECT_FALSE(payloads.contains(message.payload)) << message.tag << " of " << letter(party);
}

// Challenges, permutations and the randomness of session parts are expanded from keys of streams.
void expect_other_streams(const Seen& one, const Seen& other) {
  ASSERT_GT(one.stream_keys.size(), 50u);
  const Bytes absent(sizeof(Block), '\0');  // a node of a tree that is unknown to the key holder
  std::vector<Bytes> common;
  std::ranges::set_intersection(one.stream_keys, other.stream_keys, std::back_inserter(common));
  for (const Bytes& key : common) ASSERT_EQ(key, absent) << "a key that both sessions have";
}

TEST_P(FreshnessOf, MessagesAndStreamsDependOnTheRandomnessOfTheirParty) {
  const Seen one = run(1, 2), with_other_a = run(3, 2), with_other_b = run(1, 4);
  expect_other_messages(Party::A, one, with_other_a);
  expect_other_messages(Party::B, one, with_other_b);
  expect_other_streams(with_other_a, with_other_b);
}

INSTANTIATE_TEST_SUITE_P(EachProfile, FreshnessOf, testing::ValuesIn(kFreshnessCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tinyot
