#include "storage/marks.h"

#include <functional>

#include "marks.pb.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using Record = stored::MarksRecord;
using StoredCounts = google::protobuf::RepeatedPtrField<stored::KindCountRecord>;

constexpr std::uint64_t kCountMax = std::uint64_t{1} << 56;

MaterialCounts counts_from(std::uint64_t first) {
  MaterialCounts counts;
  for (std::uint64_t& count : counts.of) count = first++;
  return counts;
}

Marks test_marks() {
  Marks marks;
  marks.made = counts_from(4000);
  marks.unlocked = counts_from(3000);
  marks.position = counts_from(2000);
  marks.burnt = counts_from(100);
  marks.confirmed = counts_from(5000);
  marks.units_unlocked = 7;
  marks.attempts = 11;
  marks.next_slot = 50;
  marks.next_reservation = 9;
  marks.gaps = {{MaterialKind::AuthAndsA, 10, 20}, {MaterialKind::Triples, 5, 6}};
  marks.planned = {{3, {counts_from(1000), counts_from(1500)}},
                   {8, {counts_from(1500), counts_from(1500)}}};
  marks.slots_to_erase = {1, 49};
  marks.database_identity = 12345;
  marks.keys_identity = ~std::uint64_t{0};
  return marks;
}

std::string marks_error(const std::string& field) {
  return "the marks of the store are corrupt (" + field + "); start a new session in a new store";
}

Marks parsed(const std::string& coded) { return parse_marks(std::as_bytes(std::span(coded))); }
std::string parsed_marks(const std::string& coded) {
  return message_of([&] { parsed(coded); });
}

TEST(Marks, RoundTripKeepsEveryField) {
  EXPECT_EQ(parsed(serialize_marks(test_marks())), test_marks());
  EXPECT_EQ(parsed(serialize_marks({})), Marks());
}

TEST(Marks, LimitsGapsPlansAndSlotsToErase) {
  Marks marks = test_marks();
  marks.position[MaterialKind::AuthBitsA] = marks.unlocked[MaterialKind::AuthBitsA];
  marks.gaps.clear();
  for (std::uint64_t i = 0; i < Marks::kGapsMax; ++i)
    marks.gaps.push_back({MaterialKind::AuthBitsA, 2 * i, 2 * i + 1});
  marks.planned.assign(Marks::kPlannedMax, marks.planned[0]);
  marks.slots_to_erase.assign(Marks::kSlotsToEraseMax, 1);
  EXPECT_EQ(parsed(serialize_marks(marks)), marks);
  const auto refused = [&](const char* field, const std::function<void(Marks&)>& change) {
    Marks more = marks;
    change(more);
    EXPECT_EQ(message_of([&] { serialize_marks(more); }), marks_error(field));
  };
  refused("gaps", [](Marks& m) { m.gaps.push_back(m.gaps[0]); });
  refused("planned reservations", [](Marks& m) { m.planned.push_back(m.planned[0]); });
  refused("slots to erase", [](Marks& m) { m.slots_to_erase.push_back(1); });
}

// Invalid values are rejected when they are read; the error names the field.
void expect_marks_refused(const std::string& field, const std::function<void(Record&)>& change) {
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_marks(test_marks())));
  change(record);
  EXPECT_EQ(parsed_marks(record.SerializeAsString()), marks_error(field));
}

// Each field with counts, with the name in errors.
std::vector<std::pair<std::string, StoredCounts*>> counts_in(Record& record) {
  stored::RangeRecord& range = *record.mutable_planned(1)->mutable_range();
  return {{"made", record.mutable_made()},
          {"unlocked", record.mutable_unlocked()},
          {"position", record.mutable_position()},
          {"burnt", record.mutable_burnt()},
          {"confirmed", record.mutable_confirmed()},
          {"planned reservations", range.mutable_start()},
          {"planned reservations", range.mutable_end()}};
}

TEST(Marks, RejectsListsOfCountsThatAreNotCanonical) {
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_marks(test_marks())));
  for (std::size_t i = 0; i < counts_in(record).size(); ++i) {
    const std::string field = counts_in(record)[i].first;
    const auto refused = [&](const std::string& flaw,
                             const std::function<void(StoredCounts&)>& change) {
      expect_marks_refused(field + ": " + flaw,
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

TEST(Marks, HaveNoEntryOfKindsOfWhichThereIsNothing) {
  Marks marks;
  marks.made[MaterialKind::Triples] = 5;
  Record record;
  ASSERT_TRUE(record.ParseFromString(serialize_marks(marks)));
  ASSERT_EQ(record.made().size(), 1);
  EXPECT_EQ(record.made(0).kind(), static_cast<std::uint32_t>(MaterialKind::Triples));
  EXPECT_EQ(record.made(0).count(), 5u);
  EXPECT_EQ(record.unlocked().size(), 0);
}

TEST(Marks, RejectsValuesOutOfOrder) {
  for (int kind = 0; kind < static_cast<int>(kMaterialKinds); ++kind) {
    expect_marks_refused("unlocked", [&](Record& r) {
      r.mutable_unlocked(kind)->set_count(r.made(kind).count() + 1);
    });
    expect_marks_refused("position", [&](Record& r) {
      r.mutable_position(kind)->set_count(r.unlocked(kind).count() + 1);
    });
    expect_marks_refused("burnt", [&](Record& r) {
      r.mutable_burnt(kind)->set_count(r.position(kind).count() + 1);
    });
  }
  expect_marks_refused("gaps", [](Record& r) { r.mutable_gaps(0)->set_first(20); });
  expect_marks_refused("gaps", [](Record& r) { r.mutable_gaps(0)->set_first(21); });
  expect_marks_refused("gaps", [](Record& r) { r.mutable_gaps(1)->set_end(2007); });
  expect_marks_refused("kind of a gap",
                       [](Record& r) { r.mutable_gaps(1)->set_kind(kMaterialKinds); });
  expect_marks_refused("planned reservations", [](Record& r) {
    r.mutable_planned(0)->mutable_range()->mutable_start(3)->set_count(1504);
  });
  expect_marks_refused("planned reservations", [](Record& r) {
    r.mutable_planned(1)->mutable_range()->mutable_end(0)->set_count(2001);
  });
}

TEST(Marks, ChecksSlotsAndCounters) {
  expect_marks_refused("counters", [](Record& r) { r.set_next_slot(0); });
  expect_marks_refused("counters", [](Record& r) { r.set_next_slot(kCountMax + 1); });
  expect_marks_refused("counters", [](Record& r) { r.set_next_reservation(0); });
  expect_marks_refused("slots to erase", [](Record& r) { r.set_slots_to_erase(0, 0); });
  expect_marks_refused("slots to erase", [](Record& r) { r.set_slots_to_erase(1, 50); });
}

TEST(Marks, PrefixesAndFlippedBitsParseOrAreRejected) {
  const std::string coded = serialize_marks(test_marks());
  const auto parse = [](const std::string& bytes) {
    try {
      // Accepted marks survive a round trip.
      const Marks marks = parsed(bytes);
      EXPECT_EQ(parsed(serialize_marks(marks)), marks);
      return true;
    } catch (const StoreError& error) {
      EXPECT_TRUE(mentions(error.what(), "the marks of the store are corrupt ("));
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
  EXPECT_EQ(parsed_marks(""), marks_error("counters"));
}

}  // namespace
}  // namespace tinyot
