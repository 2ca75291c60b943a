// The life of a store, step by step, with a ledger outside the process that lives it: what the
// store has said to be done, and how often each object has been served.
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

// What each unit holds; one of them more than a batch.
MaterialCounts unit_counts(std::size_t unit);

struct Ledger {
  // Steps of which the store has said that they are done.
  bool is_made = false, is_revoked = false;
  std::uint64_t units = 0, units_unlocked = 0, plan = 0;
  MaterialCounts position;
  // Attempts at units, each by a bit, which is also its risk. Of those that are begun no unit is
  // made, nor withdrawn, before `ending` says so.
  std::uint64_t tries = 0, begun = 0, ending = 0, ended = 0;
  // Steps that have been begun.
  bool claim_begun = false, revocation_begun = false;

  std::uint8_t served[2][kObjectsMax] = {};
  std::uint64_t errors = 0;  // StoreErrors
  char complaint[512] = {};  // what should never happen; empty if all is well

  void complain(const std::string& text);
  // Draws all that a reservation holds, and notes it.
  void draw(Reservation& reservation);
};

// Pours the unit that comes next.
void pour_unit(Store& store);

class Scenario {
 public:
  // `when_failed` is called after the first error of a step, before it is tried again.
  Scenario(std::filesystem::path dir, Ledger& ledger, std::function<void()> when_failed);

  // Whether all steps have been done, some of them in a second try.
  bool run();

 private:
  void make();
  void begin_unit();
  // A step that ends the attempt at hand.
  void end_unit(const std::function<void()>& body);
  void add_units();
  void reserve_and_draw();
  void take_out_of_order();
  void plan_and_claim();
  void end();
  // A step that takes a range, and those that use it.
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
