#include "tools/selftest/adversary/unit_making.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "checks/session.h"
#include "engine/connection.h"
#include "material/background_sink.h"
#include "offline/unit/preprocessor.h"
#include "storage/store.h"
#include "tools/selftest/adversary/scenario.h"

namespace tinyot::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSmallUnit = 128, kUnitsOfWorker = 2, kInputsOfUnit = 16;

// Around each message of EQ the cheater hangs up.
class BrokenMaking final : public Scenario {
 public:
  BrokenMaking(const ParameterRequest& request, std::uint64_t seed) : making_(request, seed) {}
  void run(Party me, net::Channel& channel) override { making_.run(me, channel); }
  std::string flaw(Party honest) override { return making_.flaw(honest); }

 private:
  UnitMaking making_;
};

ScenarioKind broken_making(const std::string& name, Profile profile) {
  return {.name = name,
          .description = "units that are broken off",
          .group = name,
          .make =
              [=](std::uint64_t seed) {
                return std::make_unique<BrokenMaking>(small_units(profile), seed);
              },
          .is_broken_off = true};
}

}  // namespace

fs::path make_stores_directory() {
  std::string name = (fs::temp_directory_path() / "tinyot_selftest_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw StoreError("cannot make a directory in " + fs::temp_directory_path().string() +
                     " for temporary stores");
  return name;
}

ParameterRequest small_units(Profile profile) {
  ParameterRequest request;
  request.profile = profile;
  request.unit = kSmallUnit;
  if (profile == Profile::Nnob12) request.own = Nnob12Parameters{Columns::Experiment};
  return request;
}

UnitMaking::UnitMaking(const ParameterRequest& request, std::uint64_t seed)
    : params_(offline::SecurityParameters::make(request)), seed_(seed),
      root_(make_stores_directory()) {}

UnitMaking::~UnitMaking() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

fs::path UnitMaking::directory_of(Party party) const {
  return root_ / std::string(1, letter(party));
}

void UnitMaking::run(Party me, net::Channel& channel,
                     std::span<const std::unique_ptr<net::Channel>> more) {
  Record& record = records_[index(me)];
  crypto::Rng rng(Seed{{seed_, static_cast<std::uint64_t>(me)}});
  const checks::SessionIds ids =
      checks::establish_session(channel, rng, me, {{"command", "preprocess"}}, std::nullopt);
  net::PhaseLog log;
  const Delta key = offline::draw_global_key(rng, me, params_.profile(), params_.material());
  checks::Session session(me, ids, key, channel, std::move(rng), log);
  storage::Manifest manifest;
  manifest.me = me;
  manifest.profile = name_of(params_.profile());
  manifest.material = name_of(params_.material());
  manifest.sigma = params_.sigma();
  manifest.bucket = params_.bucket();
  manifest.unit = params_.unit();
  storage::Store store = storage::Store::create(directory_of(me), manifest, key, 0);
  record.has_run = true;
  const std::vector<offline::UnitRequest> requests(
      kUnitsOfWorker * (1 + more.size()), {{params_.unit(), params_.bucket()}, kInputsOfUnit});
  const auto check_failed = [&](const std::exception_ptr&) {
    store.erase_keys();
    const std::lock_guard lock(record.mutex);
    record.erased_at = std::min(record.erased_at, Clock::now());
  };
  const auto note = [&](std::size_t unit, std::string_view, std::uint64_t, std::uint64_t) {
    const std::lock_guard lock(record.mutex);
    record.begun.insert(unit);
  };
  try {
    engine::within_session(std::span(&store, 1), channel, [&] {
      offline::Preprocessor preprocessor(session, params_, more);
      offline::UnitAccount account(store, params_);
      material::BackgroundSink sink(account);
      preprocessor.make_units(requests, sink, account,
                              {.observer = note, .check_failed = check_failed});
      sink.flush();
      channel.flush();
    });
  } catch (const PeerCheated&) {
    record.is_revoked = true;
    throw;
  } catch (const PeerAborted&) {
    record.is_revoked = true;
    throw;
  }
}

std::string UnitMaking::flaw(Party party) const {
  const Record& record = records_[index(party)];
  if (!record.has_run) return {};
  const storage::Store store =
      storage::Store::open(directory_of(party), {.purpose = storage::Purpose::Inspect});
  const bool is_revoked = store.manifest().state == StoreState::Revoked;
  if (is_revoked != record.is_revoked)
    return "the state of its store contradicts how its session ended";
  if (is_revoked) return store.keys_are_gone() ? "" : "keys remain after a failed check";
  const storage::AttemptTotals attempts = store.attempts();
  const std::uint64_t broken = record.begun.size() - store.manifest().units_made;
  if (attempts.outstanding != broken)
    return "of " + std::to_string(broken) + " units that were broken off, " +
           std::to_string(attempts.outstanding) + " are counted";
  Risk risk;
  for (std::uint64_t i = 0; i < broken; ++i)
    risk += params_.risk({params_.unit(), params_.bucket()});
  return attempts.risk == risk ? "" : "the recorded risk of broken units is wrong";
}

std::vector<ScenarioKind> unit_makings() {
  return {broken_making("units-nnob12", Profile::Nnob12),
          broken_making("units-fast", Profile::Fast)};
}

}  // namespace tinyot::tools
