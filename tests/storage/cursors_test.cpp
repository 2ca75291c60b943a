#include "storage/cursors.h"

#include <functional>

#include "cursors.pb.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using Record = stored::CursorsRecord;
using StoredCounts = google::protobuf::RepeatedPtrField<stored::KindCountRecord>;

constexpr std::uint64_t kCountMax = std::uint64_t{1} << 56;

MaterialCounts counts_from(std::uint64_t first) {
  MaterialCounts counts;
  for (std::uint64_t& count : counts.of) count = first++;
  return counts;
}

MaterialCursors test_cursors() {
  MaterialCursors cursors;
  cursors.made = counts_from(4000);
  cursors.unlocked = counts_from(3000);
  cursors.served = counts_from(2000);
  cursors.burnt = counts_from(100);
  cursors.confirmed = counts_from(5000);
  cursors.units_unlocked = 7;
  cursors.attempts = 11;
  cursors.next_slot = 50;
  cursors.next_reservation = 9;
  cursors.gaps = {{MaterialKind::AuthAndsA, 10, 20}, {MaterialKind::Triples, 5, 6}};
  cursors.planned = {{3, {counts_from(1000), counts_from(1500)}},
                     {8, {counts_from(1500), counts_from(1500)}}};
  cursors.slots_to_erase = {1, 49};
  cursors.database_identity = 12345;
  cursors.keys_identity = ~std::uint64_t{0};
  return cursors;
}

std::string cursors_error(const std::string& field) {
  return "the cursors of the store are corrupt (" + field + "); start a new session in a new store";
}

MaterialCursors parsed(const std::string& coded) {
  return parse_cursors(std::as_bytes(std::span(coded)));
}
std::string parsed_marks(const std::string& coded) {
  return message_of([&] { parsed(coded); });
}

TEST(MaterialCursors, RoundTripKeepsEveryField) {
  EXPECT_EQ(parsed(serialize_cursors(test_cursors())), test_cursors());
  EXPECT_EQ(parsed(serialize_cursors({})), MaterialCursors());
}

TEST(MaterialCursors, LimitsGapsPlansAndSlotsToErase) {
  MaterialCursors cursors = test_cursors();
  cursors.served[MaterialKind::AuthBitsA] = cursors.unlocked[MaterialKind::AuthBitsA];
  cursors.gaps.clear();
  for (std::uint64_t i = 0; i < MaterialCursors::kGapsMax; ++i)
    cursors.gaps.push_back({MaterialKind::AuthBitsA, 2 * i, 2 * i + 1});
  cursors.planned.assign(MaterialCursors::kPlannedMax, cursors.planned[0]);
  cursors.slots_to_erase.assign(MaterialCursors::kSlotsToEraseMax, 1);
  EXPECT_EQ(parsed(serialize_cursors(cursors)), cursors);
  const auto refused = [&](const char* field, const std::function<void(MaterialCursors&)>& change) {
    MaterialCursors more = cursors;
    change(more);
    EXPECT_EQ(message_of([&] { serialize_cursors(more); }), cursors_error(field));
  };
  refused("gaps", [](MaterialCursors& m) { m.gaps.push_back(m.gaps[0]); });
  refused("planned reservations", [](MaterialCursors& m) { m.planned.push_back(m.planned[0]); });
  refused("slots to erase", [](MaterialCursors& m) { m.slots_to_erase.push_back(1); });
}

// Invalid values are rejected when they are read; the error names the field.
void expect_cursors_refused(const std::string& field, const std::function<void(Record&)>& change) {
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_cursors(test_cursors())));
  change(record);
  EXPECT_EQ(parsed_marks(record.SerializeAsString()), cursors_error(field));
}

// Each field with counts, with the name in errors.
std::vector<std::pair<std::string, StoredCounts*>> counts_in(Record& record) {
  stored::RangeRecord& range = *record.mutable_planned(1)->mutable_range();
  return {{"made", record.mutable_made()},
          {"unlocked", record.mutable_unlocked()},
          {"served", record.mutable_served()},
          {"burnt", record.mutable_burnt()},
          {"confirmed", record.mutable_confirmed()},
          {"planned reservations", range.mutable_start()},
          {"planned reservations", range.mutable_end()}};
}

TEST(MaterialCursors, RejectsListsOfCountsThatAreNotCanonical) {
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_cursors(test_cursors())));
  for (std::size_t i = 0; i < counts_in(record).size(); ++i) {
    const std::string field = counts_in(record)[i].first;
    const auto refused = [&](const std::string& flaw,
                             const std::function<void(StoredCounts&)>& change) {
      expect_cursors_refused(field + ": " + flaw,
                             [&](Record& r) { change(*counts_in(r)[i].second); });
    };
    refused("kind " + std::to_string(kMaterialKinds) + " is unknown",
            [](StoredCounts& counts) { counts.Add()->set_kind(kMaterialKinds); });
    refused("kind 4294967295 is unknown",
            [](StoredCounts& counts) { counts.at(0).set_kind(~std::uint32_t{0}); });
    refused("kind " + std::to_string(kMaterialKinds - 1) + " stands twice",
            [](StoredCounts& counts) { *counts.Add() = counts.at(counts.size() - 1); });
    refused("kind 0 is out of order", [](StoredCounts& counts) { counts.SwapElements(0, 1); });
    refused("kind 2 has a count of zero", [](StoredCounts& counts) { counts.at(2).set_count(0); });
    refused("kind 6 has a count that is too large",
            [](StoredCounts& counts) { counts.at(6).set_count(kCountMax + 1); });
    refused("kind 6 has a count that is too large",
            [](StoredCounts& counts) { counts.at(6).set_count(~std::uint64_t{0}); });
  }
}

TEST(MaterialCursors, HaveNoEntryOfKindsOfWhichThereIsNothing) {
  MaterialCursors cursors;
  cursors.made[MaterialKind::Triples] = 5;
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_cursors(cursors)));
  ASSERT_EQ(record.made().size(), 1);
  EXPECT_EQ(record.made(0).kind(), static_cast<std::uint32_t>(MaterialKind::Triples));
  EXPECT_EQ(record.made(0).count(), 5u);
  EXPECT_EQ(record.unlocked().size(), 0);
}

TEST(MaterialCursors, RejectsValuesOutOfOrder) {
  for (int kind = 0; kind < static_cast<int>(kMaterialKinds); ++kind) {
    expect_cursors_refused("unlocked", [&](Record& r) {
      r.mutable_unlocked(kind)->set_count(r.made(kind).count() + 1);
    });
    expect_cursors_refused("served", [&](Record& r) {
      r.mutable_served(kind)->set_count(r.unlocked(kind).count() + 1);
    });
    expect_cursors_refused(
        "burnt", [&](Record& r) { r.mutable_burnt(kind)->set_count(r.served(kind).count() + 1); });
  }
  expect_cursors_refused("gaps", [](Record& r) { r.mutable_gaps(0)->set_first(20); });
  expect_cursors_refused("gaps", [](Record& r) { r.mutable_gaps(0)->set_first(21); });
  expect_cursors_refused("gaps", [](Record& r) { r.mutable_gaps(1)->set_end(2007); });
  expect_cursors_refused("kind of a gap",
                         [](Record& r) { r.mutable_gaps(1)->set_kind(kMaterialKinds); });
  expect_cursors_refused("planned reservations", [](Record& r) {
    r.mutable_planned(0)->mutable_range()->mutable_start(3)->set_count(1504);
  });
  expect_cursors_refused("planned reservations", [](Record& r) {
    r.mutable_planned(1)->mutable_range()->mutable_end(0)->set_count(2001);
  });
}

TEST(MaterialCursors, ChecksSlotsAndCounters) {
  expect_cursors_refused("counters", [](Record& r) { r.set_next_slot(0); });
  expect_cursors_refused("counters", [](Record& r) { r.set_next_slot(kCountMax + 1); });
  expect_cursors_refused("counters", [](Record& r) { r.set_next_reservation(0); });
  expect_cursors_refused("slots to erase", [](Record& r) { r.set_slots_to_erase(0, 0); });
  expect_cursors_refused("slots to erase", [](Record& r) { r.set_slots_to_erase(1, 50); });
}

TEST(MaterialCursors, PrefixesAndFlippedBitsParseOrAreRejected) {
  const std::string coded = serialize_cursors(test_cursors());
  const auto parse = [](const std::string& bytes) {
    try {
      // Accepted cursors survive a round trip.
      const MaterialCursors cursors = parsed(bytes);
      EXPECT_EQ(parsed(serialize_cursors(cursors)), cursors);
      return true;
    } catch (const StoreError& error) {
      EXPECT_TRUE(mentions(error.what(), "the cursors of the store are corrupt ("));
      return false;
    }
  };
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < coded.size(); ++size) accepted += parse(coded.substr(0, size));
  EXPECT_LT(accepted, coded.size() / 2);
  for (std::size_t bit = 0; bit < coded.size() * 8; ++bit) {
    std::string flipped = coded;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    parse(flipped);
  }
  EXPECT_EQ(parsed_marks(""), cursors_error("counters"));
}

}  // namespace
}  // namespace tinyot
