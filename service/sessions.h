// The sessions with one peer, each with a store in a directory of its own, named by the session's
// number. Numbers only increase, and both parties use the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan.h"
#include "offline/silent/parameter_sets.h"
#include "service/session_record.h"
#include "storage/inventory.h"
#include "storage/store.h"

namespace tinyot::service {

// A session that is not revoked.
struct SessionStock {
  std::uint64_t number = 0;
  std::string id;
  AndMaterial form = AndMaterial::Triples;
  Profile profile;
  std::uint32_t sigma = 0;
  MaterialCounts counts;  // left
  engine::Demand left;
  bool has_room = false;    // for further units
  double budget_spent = 0;  // part of the session's sigma
  std::uint64_t bytes = 0;
  // The parameter set that the session was made with, if it is retired.
  const offline::RetiredSet* retired = nullptr;
};

struct RevokedSession {
  std::uint64_t number = 0;
  std::string reason;
};

// Thread-safe.
class Sessions {
 public:
  // Makes the directory, and recovers what an earlier process left. Fails: StoreError.
  // `refill_threads`: that refills have, for the memory of their units.
  Sessions(std::filesystem::path directory, std::optional<StoreKey> store_key,
           SessionRecord::Limits limits, std::uint64_t refill_threads = 1);

  // Reads what the constructor will recover, and changes nothing. Fails: StoreError.
  static void check(const std::filesystem::path& directory,
                    const std::optional<StoreKey>& store_key);

  std::filesystem::path path_of(std::uint64_t number) const;
  const std::optional<StoreKey>& store_key() const { return store_key_; }

  SessionRecord& record() { return record_; }

  // Oldest first, without those that have been revoked. These are removed as soon as their stores
  // are no longer in use.
  std::vector<SessionStock> stock();
  // A refill has ended: what has been read of the session's units is old.
  void refilled(std::uint64_t number);

  // Of all units that are outstanding in sessions that have not ended.
  Risk open_risk();
  // Those that stock() has found revoked since the last call.
  std::vector<RevokedSession> take_revoked();

  // Sessions below this number have been retired by an operator; 0 if there are none.
  std::uint64_t first_active_session() const { return record_.first_active_session(); }

  // Ends all sessions below `number` whose stores are not in use: their keys are erased, and the
  // directories removed. Returns their numbers.
  std::vector<std::uint64_t> retire_below(std::uint64_t number);

  // For metrics. Sessions whose store cannot be read are left out.
  std::vector<storage::Inventory> inventories();

 private:
  using Clock = std::chrono::steady_clock;
  // A store to be looked at.
  struct Open {
    Open(storage::Store opened, std::uint64_t refill_threads);
    SessionStock stock(std::uint64_t number);
    void read_budget();
    storage::Store store;
    offline::SecurityParameters params;
    // A unit with a larger bucket takes no more; empty if refills have other parameters.
    std::optional<std::uint64_t> unit_bytes_max;
    Clock::time_point budget_read{};  // its log of attempts is long
    bool has_room = false;
    double budget_spent = 0;
    Risk risk;
  };

  std::vector<std::uint64_t> numbers() const;
  Open* cached_store(std::uint64_t number);
  void end_revoked(std::uint64_t number, const std::string& reason);
  bool remove(std::uint64_t number);
  Risk risk_of(std::uint64_t number);
  bool record_end(std::uint64_t number, const Risk& risk);

  const std::filesystem::path directory_;
  const std::optional<StoreKey> store_key_;
  const std::uint32_t sigma_;
  const std::uint64_t refill_threads_;
  SessionRecord record_;
  std::mutex mutex_;
  std::map<std::uint64_t, Open> open_;
  std::set<std::uint64_t> noted_;           // sessions whose revocation has been reported
  std::set<std::uint64_t> unreadable_;      // whose store has been reported as such
  std::set<std::uint64_t> of_retired_set_;  // sessions that have been reported as such
  std::set<std::uint64_t> unrecorded_;      // whose end has been reported as not recorded
  std::vector<RevokedSession> revoked_;
};

}  // namespace tinyot::service
