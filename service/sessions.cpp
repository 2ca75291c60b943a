#include "service/sessions.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/memory.h"
#include "engine/top_up.h"
#include "service/event_log.h"
#include "storage/retire.h"

namespace tinyot::service {
namespace {

namespace fs = std::filesystem;

// A session does not get more: its log of attempts is read now and then, and new keys are safer.
constexpr std::uint64_t kUnitsMax = 4096;
constexpr auto kBudgetInterval = std::chrono::seconds(1);
constexpr std::string_view kRecordFile = "record";

// Of digits alone; 0 for anything else.
std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? number : 0;
}

fs::path path_in(const fs::path& directory, std::uint64_t number) {
  std::string name = std::to_string(number);
  name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
  return directory / name;
}

// Fails: StoreError if they cannot be read. A session that is not seen has neither a risk nor a
// number that is taken.
std::vector<std::uint64_t> numbers_in(const fs::path& directory) {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::uint64_t number = number_in(at->path().filename().string());
    if (number > 0 && at->path() == path_in(directory, number)) found.push_back(number);
  }
  if (error)
    throw StoreError("cannot read the sessions in " + directory.string() + ": " + error.message());
  std::ranges::sort(found);
  return found;
}

fs::path private_directory(fs::path directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  fs::permissions(directory, fs::perms::owner_all, error);
  if (error) throw StoreError("cannot make " + directory.string() + ": " + error.message());
  return directory;
}

}  // namespace

Sessions::Open::Open(storage::Store opened, std::uint64_t refill_threads)
    : store(std::move(opened)),
      params(offline::SecurityParameters::make(engine::begun_parameters(store.manifest()))) {
  // Refills have the profile's usual parameters, which another version may have changed.
  if (params.own() == params.entry().own)
    unit_bytes_max = engine::unit_bytes_max(params, refill_threads, kDefaultMemoryBytes);
}

void Sessions::Open::read_budget() {
  if (Clock::now() < budget_read + kBudgetInterval) return;
  budget_read = Clock::now();
  risk = store.attempts().risk;
  const UnitPlan unit = params.plan(params.unit()).front();
  const std::optional<UnitPlan> next = params.within(unit, risk);
  has_room = unit_bytes_max.has_value() && next.has_value() &&
             (next->bucket == unit.bucket || params.unit_bytes(*next) <= *unit_bytes_max) &&
             store.manifest().units_made < kUnitsMax;
  budget_spent = as_double(risk) / as_double(params.risk_limit());
}

SessionStock Sessions::Open::stock(std::uint64_t number) {
  const storage::Manifest& manifest = store.manifest();
  read_budget();
  const MaterialCounts left = store.left();
  return {.number = number,
          .id = short_name(engine::session_id_of(manifest)),
          .form = params.material(),
          .profile = params.profile(),
          .sigma = params.sigma(),
          .counts = left,
          .left = engine::capacity_of(left, params.material()),
          .has_room = has_room,
          .budget_spent = budget_spent,
          .bytes = store.store_bytes(),
          .retired = offline::find_retired(params.own())};
}

Sessions::Sessions(fs::path directory, std::optional<StoreKey> store_key,
                   SessionRecord::Limits limits, std::uint64_t refill_threads)
    : directory_(private_directory(std::move(directory))), store_key_(std::move(store_key)),
      sigma_(limits.sigma), refill_threads_(refill_threads),
      record_(directory_ / kRecordFile, limits) {
  std::error_code error;
  for (const std::uint64_t number : numbers()) {
    if (!storage::Store::exists(path_of(number))) {
      fs::remove_all(path_of(number), error);  // not made completely
      continue;
    }
    try {
      // Opened alone, a store is recovered.
      (void)storage::Store::open(path_of(number), {.store_key = store_key_});
    } catch (const storage::KeysErased&) {
      // stock() ends the session.
    }
    // The process ended between making the store and recording it.
    if (number > record_.last_number())
      record_.add_begun(number, BeginsBy::OwnAccount, SessionRecord::Clock::now());
  }
}

void Sessions::check(const fs::path& directory, const std::optional<StoreKey>& store_key) {
  (void)SessionRecord(directory / kRecordFile, {});
  std::error_code error;
  if (!fs::exists(directory, error) && !error) return;  // the daemon makes it
  for (const std::uint64_t number : numbers_in(directory)) {
    const fs::path path = path_in(directory, number);
    if (!storage::Store::exists(path)) continue;
    try {
      (void)storage::Store::open(path,
                                 {.purpose = storage::Purpose::Inspect, .store_key = store_key});
    } catch (const storage::KeysErased&) {
    }
  }
}

fs::path Sessions::path_of(std::uint64_t number) const { return path_in(directory_, number); }
std::vector<std::uint64_t> Sessions::numbers() const { return numbers_in(directory_); }

Sessions::Open* Sessions::cached_store(std::uint64_t number) {
  auto found = open_.find(number);
  if (found == open_.end()) {
    // It may be about to be made.
    if (!storage::Store::exists(path_of(number))) return nullptr;
    found = open_
                .try_emplace(
                    number,
                    storage::Store::open(path_of(number), {.purpose = storage::Purpose::Inspect,
                                                           .store_key = store_key_}),
                    refill_threads_)
                .first;
  }
  found->second.store.refresh();
  return &found->second;
}

std::vector<SessionStock> Sessions::stock() {
  std::vector<SessionStock> sessions;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : numbers()) {
    try {
      Open* const open = cached_store(number);
      if (open == nullptr) continue;
      const storage::Manifest& manifest = open->store.manifest();
      const bool is_revoked = manifest.state == StoreState::Revoked;
      if (is_revoked || open->store.revocation()->is_set()) {
        end_revoked(number, is_revoked ? manifest.revocation_reason : "a check has failed");
        continue;
      }
      sessions.push_back(open->stock(number));
      const offline::RetiredSet* const set = sessions.back().retired;
      if (set != nullptr && of_retired_set_.insert(number).second)
        log_event(LogLevel::Warning, "session of a retired parameter set",
                  {{"store", path_of(number).string()}, {"reason", set->refusal()}});
    } catch (const storage::KeysErased& error) {
      // A process ended after it had erased the keys, and before it wrote why.
      end_revoked(number, error.what());
    } catch (const Error& error) {
      open_.erase(number);
      if (unreadable_.insert(number).second)
        log_event(LogLevel::Warning, "store cannot be read",
                  {{"store", path_of(number).string()}, {"error", error.what()}});
    }
  }
  return sessions;
}

// A process may have ended after it had retired the session, with its directory still there.
void Sessions::end_revoked(std::uint64_t number, const std::string& reason) {
  if (noted_.insert(number).second && number >= record_.first_active_session())
    revoked_.push_back({number, reason});
  (void)remove(number);
}

std::vector<RevokedSession> Sessions::take_revoked() {
  const std::lock_guard lock(mutex_);
  return std::exchange(revoked_, {});
}

void Sessions::refilled(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  open_.erase(number);
}

Risk Sessions::open_risk() {
  Risk risk;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : numbers())
    if (!record_.has_ended(number)) risk += risk_of(number);
  return risk;
}

// Of the units that it has outstanding; all that a session may have if it cannot be read.
Risk Sessions::risk_of(std::uint64_t number) {
  try {
    Open* const open = cached_store(number);
    if (open == nullptr) return {};
    open->read_budget();
    return open->risk;
  } catch (const Error&) {
    return risk_limit(sigma_, 1);
  }
}

// False if it cannot be recorded, which is reported once.
bool Sessions::record_end(std::uint64_t number, const Risk& risk) {
  try {
    record_.add_ended(number, risk);
  } catch (const StoreError& error) {
    if (unrecorded_.insert(number).second)
      log_event(LogLevel::Error, "end of session cannot be recorded",
                {{"store", path_of(number).string()}, {"error", error.what()}});
    return false;
  }
  return true;
}

// False if it is in use, or its end cannot be recorded; the next call tries again. Its risk is
// recorded before its log is removed.
bool Sessions::remove(std::uint64_t number) {
  open_.erase(number);  // what it has read may be old
  const Risk risk = risk_of(number);
  open_.erase(number);
  try {
    if (storage::Store::exists(path_of(number))) storage::retire_store(path_of(number), store_key_);
    noted_.insert(number);  // this revocation is no news
  } catch (const StoreError&) {
    return false;
  }
  if (!record_end(number, risk)) return false;
  std::error_code error;
  fs::remove_all(path_of(number), error);
  try {
    if (!error) record_.removed(number);
  } catch (const StoreError&) {
    // Its number stays in the record, which changes nothing.
  }
  return true;
}

std::vector<std::uint64_t> Sessions::retire_below(std::uint64_t number) {
  std::vector<std::uint64_t> retired;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t other : numbers())
    if (other < number && remove(other)) retired.push_back(other);
  return retired;
}

std::vector<storage::Inventory> Sessions::inventories() {
  std::vector<storage::Inventory> all;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : numbers()) {
    try {
      if (const Open* const open = cached_store(number))
        all.push_back(storage::take_inventory(open->store));
    } catch (const Error&) {
      // stock() reports it.
    }
  }
  return all;
}

}  // namespace tinyot::service
