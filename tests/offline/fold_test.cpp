// Every element of every bucket affects the result of aAND, aOT and the fold of layers: if any bit,
// MAC or key of any leaky object is altered, its holder has other objects or another transcript.
#include <algorithm>
#include <map>
#include <numeric>

#include "offline/nnob12/auth_and.h"
#include "offline/nnob12/auth_ot.h"
#include "offline/unit/preprocessor.h"
#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kBuckets = 5, kBucket = 4, kObjects = kBuckets * kBucket;

// A party's columns of leaky objects: bits and MACs of its own bits, keys of the peer's bits.
struct Halves {
  std::vector<MacColumn> mine;
  std::vector<KeyColumn> peers;
};
// Of each column.
using Owners = std::vector<Party>;

Halves dealt_halves(Party me, const Owners& owners) {
  Halves columns;
  for (std::size_t c = 0; c < owners.size(); ++c) {
    Dealt dealt(me, owners[c], kObjects, 1, c);
    if (owners[c] == me)
      columns.mine.push_back(std::move(dealt.mine));
    else
      columns.peers.push_back(std::move(dealt.peers));
  }
  return columns;
}

enum class Element { Bit, Mac, Key };

// The altered element: of an object in one column of a party.
struct Altered {
  Party party;
  Element element;
  std::size_t column, object;
};

void alter(Halves& columns, const Altered& altered) {
  if (altered.element == Element::Bit) {
    BitVector& bits = columns.mine[altered.column].bits;
    bits.put(altered.object, !bits[altered.object]);
  } else if (altered.element == Element::Mac) {
    columns.mine[altered.column].macs[altered.object].value.hi ^= 1;
  } else {
    columns.peers[altered.column].keys[altered.object].value.hi ^= 1;
  }
}

Buckets test_buckets() {
  std::vector<std::uint32_t> order(kObjects);
  std::iota(order.begin(), order.end(), 0u);
  std::rotate(order.begin(), order.begin() + 7, order.end());
  return Buckets(std::move(order), kBucket);
}

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
void append(std::vector<std::byte>& bytes, const MacColumn& column) {
  append(bytes, std::as_bytes(column.bits.words()));
  append(bytes, std::as_bytes(std::span(column.macs)));
}
void append(std::vector<std::byte>& bytes, const KeyColumn& column) {
  append(bytes, std::as_bytes(std::span(column.keys)));
}

// A party's whole result.
using Result = std::vector<std::byte>;

// Folds in two ranges, and concatenates the results of `fold_range`.
template <class FoldRange>
Result results_of(Session& session, const FoldRange& fold_range) {
  Result result;
  for (const BucketRange& range : {BucketRange{0, 2}, BucketRange{2, kBuckets - 2}})
    fold_range(range, result);
  append(result, bytes_of(session.transcripts().mine.settle()));
  append(result, bytes_of(session.transcripts().peers.settle()));
  return result;
}

template <class Column, class Role>
void append_ands(const Role& role, const BucketRange& range, Result& result) {
  Column x(range.count), y(range.count), z(range.count);
  role.fold_into(range, x, y, z);
  for (const Column* column : {&x, &y, &z}) append(result, *column);
}

template <class Messages, class Choices, class Role>
void append_ots(const Role& role, const BucketRange& range, Result& result) {
  Messages x0(range.count), x1(range.count);
  Choices c(range.count), z(range.count);
  role.fold_into(range, x0, x1, c, z);
  for (const Messages* column : {&x0, &x1}) append(result, *column);
  for (const Choices* column : {&c, &z}) append(result, *column);
}

// ANDs of A.
Result fold_ands(Session& session, Halves& c) {
  const Buckets buckets = test_buckets();
  if (session.me() == Party::A) {
    AuthAndMacHolder holder(buckets, c.mine[0].view(), c.mine[1].view(), c.mine[2].view());
    holder.reveal(session);
    return results_of(session, [&](const BucketRange& range, Result& result) {
      append_ands<MacColumn>(holder, range, result);
    });
  }
  AuthAndKeyHolder holder(buckets, c.peers[0].view(), c.peers[1].view(), c.peers[2].view());
  holder.receive(session);
  return results_of(session, [&](const BucketRange& range, Result& result) {
    append_ands<KeyColumn>(holder, range, result);
  });
}

// OTs from A.
Result fold_ots(Session& session, Halves& c) {
  const Buckets buckets = test_buckets();
  if (session.me() == Party::A) {
    AuthOtSender sender(buckets, c.mine[0].view(), c.mine[1].view(), c.peers[0].view(),
                        c.peers[1].view());
    sender.reveal(session);
    return results_of(session, [&](const BucketRange& range, Result& result) {
      append_ots<MacColumn, KeyColumn>(sender, range, result);
    });
  }
  AuthOtReceiver receiver(buckets, c.peers[0].view(), c.peers[1].view(), c.mine[0].view(),
                          c.mine[1].view());
  receiver.receive(session);
  return results_of(session, [&](const BucketRange& range, Result& result) {
    append_ots<KeyColumn, MacColumn>(receiver, range, result);
  });
}

using FoldObjects = Result(Session&, Halves&);

// The result of `party` if it alters its columns.
Result result_of(Party party, FoldObjects& fold_objects, const Owners& owners,
                 const std::optional<Altered>& altered) {
  Result result;
  run_sessions([&](Session& session) {
    Halves columns = dealt_halves(session.me(), owners);
    if (altered && altered->party == session.me()) alter(columns, *altered);
    Result own = fold_objects(session, columns);
    if (session.me() == party) result = std::move(own);
  });
  return result;
}

void expect_every_element_counts(FoldObjects& fold_objects, const Owners& owners) {
  const Buckets buckets = test_buckets();
  for (const Party party : {Party::A, Party::B}) {
    const Result unaltered = result_of(party, fold_objects, owners, std::nullopt);
    for (const Element element : {Element::Bit, Element::Mac, Element::Key}) {
      const Party owner = element == Element::Key ? peer_of(party) : party;
      const auto columns = static_cast<std::size_t>(std::ranges::count(owners, owner));
      for (std::size_t column = 0; column < columns; ++column)
        for (const std::size_t bucket : {std::size_t{0}, kBuckets / 2, kBuckets - 1})
          for (std::size_t position = 0; position < kBucket; ++position) {
            const Altered altered{party, element, column, buckets.object(bucket, position)};
            EXPECT_NE(result_of(party, fold_objects, owners, altered), unaltered)
                << letter(party) << ", element " << static_cast<int>(element) << " of column "
                << column << ", bucket " << bucket << ", position " << position;
          }
    }
  }
}

TEST(Fold, EveryElementOfABucketOfAndsReachesTheResult) {
  expect_every_element_counts(fold_ands, {Party::A, Party::A, Party::A});
}

TEST(Fold, EveryElementOfABucketOfOtsReachesTheResult) {
  expect_every_element_counts(fold_ots, {Party::A, Party::A, Party::B, Party::B});
}

constexpr std::size_t kTriples = 256, kFoldChunk = 128;

// The result of A for three layers that it has altered.
Result folded_layers(const std::function<void(std::vector<TripleLayer>&)>& alter_layers) {
  Result result;
  run_sessions([&](Session& session) {
    std::vector<TripleLayer> layers;
    for (std::uint64_t k = 0; k < 3; ++k)
      layers.push_back(dealt_layer(session.me(), kTriples, 1, k));
    if (session.me() == Party::A) alter_layers(layers);
    LayerFold fold(session, layers, {77, 200});
    run_pipeline(
        object_chunks(kTriples, kFoldChunk), 1,
        [&](const ObjectChunk& chunk) { fold.reveal(chunk); },
        [&](const ObjectChunk& chunk) { fold.fold(chunk); });
    if (session.me() == Party::B) return;
    for (const SharedColumn* column : {&layers[0].x, &layers[0].y, &layers[0].z}) {
      append(result, column->mine);
      append(result, column->peers);
    }
    append(result, bytes_of(session.transcripts().mine.settle()));
    append(result, bytes_of(session.transcripts().peers.settle()));
  });
  return result;
}

TEST(Fold, EveryElementOfALayerReachesTheResult) {
  const Result unaltered = folded_layers([](std::vector<TripleLayer>&) {});
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (const auto column : {&TripleLayer::x, &TripleLayer::y, &TripleLayer::z})
      for (const std::size_t triple : {std::size_t{0}, kFoldChunk, kTriples - 1})
        for (const Element element : {Element::Bit, Element::Mac, Element::Key}) {
          const Result altered = folded_layers([&](std::vector<TripleLayer>& layers) {
            SharedColumn& bits = layers[layer].*column;
            if (element == Element::Bit) bits.mine.bits.put(triple, !bits.mine.bits[triple]);
            if (element == Element::Mac) bits.mine.macs[triple].value.hi ^= 1;
            if (element == Element::Key) bits.peers.keys[triple].value.hi ^= 1;
          });
          EXPECT_NE(altered, unaltered) << "layer " << layer << ", triple " << triple
                                        << ", element " << static_cast<int>(element);
        }
}

// Bytes that A sends with each tag in one unit.
std::map<std::string, std::size_t> bytes_sent(const SecurityParameters& params,
                                              std::uint64_t ands) {
  std::map<std::string, std::size_t> bytes;
  const auto count = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    bytes[std::string(tag)] += payload.size();
  };
  const Outcomes outcomes = run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          const UnitRequest request{params.plan(ands).at(0), 0};
          MemorySink sink;
          Preprocessor(session, params).make_units({&request, 1}, sink);
        });
      },
      options_with(Party::A, 1, count));
  EXPECT_TRUE(both_done(outcomes));
  return bytes;
}

TEST(Fold, UnitMakesAndFoldsTheLeakyObjectsOfItsPlan) {
  constexpr std::size_t kFolded = 64;
  const auto pairs =
      SecurityParameters::make({.own = Nnob12Parameters{Columns::Experiment}, .unit = kFolded});
  const std::size_t b = pairs.plan(kFolded).at(0).bucket.only();
  auto sent = bytes_sent(pairs, kFolded);
  EXPECT_EQ(sent["laand.u"], b * kFolded * sizeof(Block));
  EXPECT_EQ(sent["laot.i"], 2 * b * kFolded * sizeof(Block));
  EXPECT_EQ(sent["aand.d"], (b - 1) * kFolded / 8);
  EXPECT_EQ(sent["aot.d"], (b - 1) * kFolded / 8);

  const auto fast = SecurityParameters::make({.profile = Profile::Fast, .unit = kFolded});
  const std::size_t layers = fast.plan(kFolded).at(0).bucket.only(),
                    population = fast.population(kFolded);
  sent = bytes_sent(fast, kFolded);
  EXPECT_EQ(sent["latriple.g"], layers * population * sizeof(Block));
  EXPECT_EQ(sent["triple.d"], (layers - 1) * population / 8);
}

}  // namespace
}  // namespace tinyot
