// A scenario that exercises every use of a store, step by step. The ledger, outside the process,
// records which steps the store has confirmed and how often each object was served.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot::faults {

inline constexpr MaterialKind kAnds = MaterialKind::AuthAndsA, kBits = MaterialKind::AuthBitsB;
inline constexpr std::size_t kUnits = 3, kObjectsMax = 20000;

// Counts of each unit; one unit has more than a batch.
MaterialCounts unit_counts(std::size_t unit);

struct Ledger {
  // Steps that have returned successfully.
  bool is_made = false, is_revoked = false;
  std::uint64_t units = 0, units_unlocked = 0, plan = 0;
  MaterialCounts position;
  // Attempts at units, each by a bit, which is also its risk. An attempt is in `ending` before its
  // unit is made or withdrawn, and in `ended` afterwards.
  std::uint64_t tries = 0, begun = 0, ending = 0, ended = 0;
  // Steps that have been begun.
  bool claim_begun = false, revocation_begun = false;

  std::uint8_t served[2][kObjectsMax] = {};
  std::uint64_t errors = 0;  // StoreErrors
  char violation[512] = {};  // the first violation; empty if there is none

  void report(const std::string& text);
  // Draws all of a reservation and records it.
  void draw(Reservation& reservation);
};

// Pours the next unit.
void pour_unit(Store& store);

class Scenario {
 public:
  // `when_failed` is called after the first error of a step, before the step is repeated.
  Scenario(std::filesystem::path dir, Ledger& ledger, std::function<void()> when_failed);

  // Runs all steps, each repeated once if it fails; returns whether all succeeded.
  bool run();

 private:
  void make();
  void begin_unit();
  // A step that ends the current attempt.
  void end_unit(const std::function<void()>& body);
  void add_units();
  void reserve_and_draw();
  void take_out_of_order();
  void plan_and_claim();
  void end();
  // Steps that take a range, hold it, draw it and finish it.
  void use(const std::function<Grant()>& range);
  bool step(const std::function<void()>& body);

  std::filesystem::path dir_;
  Ledger& ledger_;
  std::function<void()> when_failed_;
  std::vector<std::function<void()>> steps_;
  std::optional<Store> store_;
  std::optional<Reservation> reservation_;
  Grant grant_;
  std::uint64_t units_begun_ = 0, attempt_ = 0;  // the attempt's bit
  Range gap_;
};

}  // namespace tinyot::faults
