#include "service/sessions.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/growth.h"
#include "service/event_log.h"
#include "storage/retire.h"

namespace tinyot::service {
namespace {

namespace fs = std::filesystem;

// The budget allows another unit of the parameters that the session has.
bool has_room(const storage::AttemptTotals& attempts, const SecurityParameters& params) {
  const UnitPlan unit = params.plan(params.unit()).front();
  return params.within(unit, attempts.risk).has_value();
}

SessionStock stock_of(std::uint64_t number, const storage::Store& store) {
  const storage::Manifest& manifest = store.manifest();
  ParameterRequest request = engine::begun_parameters(manifest);
  request.weak_allowed = true;
  const SecurityParameters params = SecurityParameters::make(request);
  const storage::AttemptTotals attempts = store.attempts();
  const MaterialCounts left = store.left();
  return {.number = number,
          .id = short_name(engine::session_id_of(manifest)),
          .form = params.material(),
          .profile = params.profile(),
          .sigma = params.sigma(),
          .counts = left,
          .left = engine::work_in(left, params.material()),
          .has_room = has_room(attempts, params),
          .budget_spent = as_double(attempts.risk) / as_double(params.risk_limit()),
          .bytes = store.store_bytes()};
}

}  // namespace

Sessions::Sessions(fs::path directory, std::optional<storage::StoreKey> store_key)
    : directory_(std::move(directory)), store_key_(std::move(store_key)) {
  std::error_code error;
  fs::create_directories(directory_, error);
  fs::permissions(directory_, fs::perms::owner_all, error);
  if (error) throw StoreError("cannot make " + directory_.string() + ": " + error.message());
  for (const std::uint64_t number : numbers()) {
    if (!storage::Store::exists(path_of(number))) continue;
    // Opened alone, a store is recovered.
    (void)storage::Store::open(path_of(number), {.store_key = store_key_});
  }
}

fs::path Sessions::path_of(std::uint64_t number) const {
  std::string name = std::to_string(number);
  name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
  return directory_ / name;
}

std::vector<std::uint64_t> Sessions::numbers() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size() && number > 0 &&
        entry.path() == path_of(number))
      found.push_back(number);
  }
  std::ranges::sort(found);
  return found;
}

storage::Store* Sessions::look_at(std::uint64_t number) {
  auto found = open_.find(number);
  if (found == open_.end()) {
    // It may be about to be made.
    if (!storage::Store::exists(path_of(number))) return nullptr;
    found = open_
                .emplace(number, storage::Store::open(path_of(number),
                                                      {.purpose = storage::Purpose::Inspect,
                                                       .store_key = store_key_}))
                .first;
  }
  found->second.refresh();
  return &found->second;
}

std::vector<SessionStock> Sessions::stock(std::vector<std::string>* revoked) {
  std::vector<SessionStock> sessions;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : numbers()) {
    try {
      const storage::Store* const store = look_at(number);
      if (store == nullptr) continue;
      if (store->manifest().state != storage::SessionState::Revoked) {
        sessions.push_back(stock_of(number, *store));
        continue;
      }
      const std::string reason = store->manifest().revoked_reason;
      if (remove(number) && revoked != nullptr) revoked->push_back(reason);
    } catch (const StoreError& error) {
      open_.erase(number);
      log_event(LogLevel::Warning, "store cannot be read",
                {{"store", path_of(number).string()}, {"error", error.what()}});
    }
  }
  return sessions;
}

std::uint64_t Sessions::last_number() const {
  const auto all = numbers();
  return all.empty() ? 0 : all.back();
}

bool Sessions::remove(std::uint64_t number) {
  open_.erase(number);
  try {
    if (storage::Store::exists(path_of(number))) storage::retire_store(path_of(number), store_key_);
  } catch (const StoreError&) {
    return false;  // in use; the next call tries again
  }
  std::error_code error;
  fs::remove_all(path_of(number), error);
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
      if (const storage::Store* const store = look_at(number))
        all.push_back(storage::take_inventory(*store));
    } catch (const StoreError&) {
      // stock() reports it.
    }
  }
  return all;
}

}  // namespace tinyot::service
