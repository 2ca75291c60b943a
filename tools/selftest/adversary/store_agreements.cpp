#include <filesystem>
#include <set>

#include "base/error.h"
#include "checks/session.h"
#include "crypto/rng.h"
#include "engine/disk_space.h"
#include "engine/synchronise.h"
#include "engine/top_up.h"
#include "storage/verify.h"
#include "tools/selftest/adversary/scenario.h"
#include "tools/selftest/adversary/unit_making.h"

namespace tinyot::tools {
namespace {

namespace fs = std::filesystem;

constexpr MaterialKind kStoredKind = MaterialKind::Triples;
constexpr std::size_t kStoredUnits = 2, kUnitTriples = 300, kRunTriples = 100, kPlannedTriples = 50;

// Stores are filled, unlocked, drawn from twice, the second time as planned, and compared.
class StoreAgreement final : public Scenario {
 public:
  explicit StoreAgreement(std::uint64_t seed) : seed_(seed), root_(make_stores_directory()) {}
  ~StoreAgreement() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void run(Party me, net::Channel& channel) override {
    crypto::Rng rng(Seed{{seed_, static_cast<std::uint64_t>(me)}});
    const checks::SessionIds ids =
        checks::establish_session(channel, rng, me, {{"command", "store"}}, std::nullopt);
    net::PhaseLog log;
    const Delta key{rng.block()};
    checks::Session session(me, ids, key, channel, rng.fork(), log);
    storage::Store store = storage::Store::create(directory_of(me), manifest_of(me), key, 0);
    pour(store, me, rng);
    engine::synchronise(session, store, engine::SynchroniseFor::Making);
    engine::confirm_completion(session, store);
    agree_on_more(session, store);
    MaterialCounts needed;
    needed[kStoredKind] = kRunTriples;
    storage::Reservation first = engine::reserve_with_peer(session, store, needed);
    draw(me, first, kRunTriples);
    needed[kStoredKind] = kPlannedTriples;
    const std::uint64_t plan =
        engine::grant_with_peer(
            session, store, engine::synchronise(session, store, engine::SynchroniseFor::Running),
            needed, true)
            .plan;
    storage::Reservation second = engine::claim_with_peer(session, store, plan, needed);
    draw(me, second, kPlannedTriples);
    const storage::Verification verification = storage::verify(store);
    engine::compare_halves(session, store, verification.good);
    engine::synchronise(session, store, engine::SynchroniseFor::Running);
  }

  std::string flaw(Party honest) override {
    if (!flaws_[index(honest)].empty() || !fs::exists(directory_of(honest)))
      return flaws_[index(honest)];
    storage::Store store = storage::Store::open(directory_of(honest));
    const storage::Verification verification = storage::verify(store);
    if (!verification.corrupt.empty())
      return "its store is damaged: " + verification.corrupt.front();
    MaterialCounts rest = store.left();
    storage::Reservation reservation = store.reserve({}, rest);
    draw(honest, reservation, rest[kStoredKind]);
    return flaws_[index(honest)];
  }

 private:
  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }
  fs::path directory_of(Party party) const { return root_ / std::string(1, letter(party)); }

  static storage::Manifest manifest_of(Party me) {
    storage::Manifest manifest;
    manifest.me = me;
    manifest.profile = "fast";
    manifest.material = "triples";
    manifest.sigma = 40;
    manifest.bucket = 3;
    manifest.unit = kUnitTriples;
    manifest.own = {{"softspoken-k", "2"}};
    manifest.units_requested = kStoredUnits;
    return manifest;
  }

  // A further job of two units, which is not made.
  static void agree_on_more(checks::Session& session, storage::Store& store) {
    PreprocessRequest request;
    request.party = session.me();
    request.parameters = engine::begun_parameters(store.manifest());
    request.parameters.weak_allowed = true;
    request.ands = kStoredUnits * kUnitTriples;
    const engine::JobPlan plan(request);
    if (engine::reconcile_last_job(session, store, plan))
      throw Disagreement("a job is left to finish");
    engine::agree_on_space(session.channel(), std::nullopt);
    engine::begin_next_job(session, store, plan);
    if (!engine::reconcile_last_job(session, store, plan)) throw Disagreement("the job is lost");
  }

  void pour(storage::Store& store, Party me, crypto::Rng& rng) {
    for (std::size_t unit = 0; unit < kStoredUnits; ++unit) {
      material::Batch batch(kStoredKind, me, kUnitTriples);
      for (MacShare& share : batch.shares[0].macs) {
        share.value = rng.block();
        poured_[index(me)].insert(share.value.lo);
      }
      store.pour(std::move(batch));
      store.finish_unit();
    }
  }

  // Records triples that were never poured or are served again.
  void draw(Party me, storage::Reservation& reservation, std::uint64_t count) {
    const material::Batch batch = reservation.draw(kStoredKind, count);
    for (const MacShare& share : batch.shares[0].macs)
      if (poured_[index(me)].erase(share.value.lo) == 0)
        flaws_[index(me)] = "a triple was never made or is served again";
  }

  std::uint64_t seed_;
  fs::path root_;
  std::set<std::uint64_t> poured_[2];  // and not drawn yet
  std::string flaws_[2];
};

}  // namespace

std::vector<ScenarioKind> store_agreements() {
  return {{"store", "two stores that are filled, drawn from and compared", "stores",
           [](std::uint64_t seed) { return std::make_unique<StoreAgreement>(seed); }}};
}

}  // namespace tinyot::tools
