#include "engine/top_up.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kLastJob = net::message_tag("store.last_job");
constexpr net::MessageTag kNextJob = net::message_tag("store.next_job");

// Inputs that are made in one unit, however few its ANDs are.
constexpr std::uint64_t kInputsOfOneUnit = std::uint64_t{1} << 18;

// A job, as the parties compare it.
struct Terms {
  std::uint64_t units_before, units_requested;  // of the store
  std::uint64_t ands, inputs, unit;
  std::array<std::uint64_t, BucketSizes::kLevelsMax> bucket;  // 0 on a level that is not used
};
struct LastJob {
  std::uint64_t is_open;
  Terms terms;
};

Terms terms_of(const JobPlan& plan, std::uint64_t units_before) {
  Terms terms{units_before,       units_before + plan.units.size(),
              plan.request.ands,  inputs_of(plan.request),
              plan.params.unit(), {}};
  std::ranges::copy(plan.params.bucket().sizes(), terms.bucket.begin());
  return terms;
}

void check_same(const Terms& mine, const Terms& peers) {
  const auto compare = [](const char* what, std::uint64_t ours, std::uint64_t theirs) {
    if (ours != theirs)
      throw Disagreement(std::string("the parties disagree on the ") + what +
                         " of the job: this party has " + std::to_string(ours) + ", the peer has " +
                         std::to_string(theirs) + "; give both parties the same command");
  };
  compare("units before the begin", mine.units_before, peers.units_before);
  compare("unit", mine.unit, peers.unit);
  for (std::size_t level = 0; level < mine.bucket.size(); ++level)
    compare("bucket", mine.bucket[level], peers.bucket[level]);
  compare("number of ANDs", mine.ands, peers.ands);
  compare("number of inputs", mine.inputs, peers.inputs);
  compare("units at the end", mine.units_requested, peers.units_requested);
}

void forget_last_job(storage::Store& store) {
  const storage::Manifest& manifest = store.manifest();
  if (manifest.units_made != manifest.units_before)
    throw Disagreement(
        "the peer's store does not have the job of which this store has made units: it is an older "
        "copy; the peer has to use its newest one, or start a new session in a new store");
  store.update_manifest([](storage::Manifest& changed) {
    changed.units_requested = changed.units_before;
    changed.ands_requested = changed.ands_before;
    changed.inputs_requested = 0;
    changed.state = StoreState::Complete;
  });
}

}  // namespace

Demand capacity_of(const MaterialCounts& counts, AndMaterial form) {
  const MaterialCounts of_an_and = offline::counts_of({{.ands = 1, .bucket = 1}, 0}, form);
  std::uint64_t ands = ~std::uint64_t{0};
  const MaterialKind bits[] = {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB};
  std::uint64_t of_inputs = std::min(counts[bits[0]], counts[bits[1]]);
  for (const MaterialKind kind : kAllMaterialKinds)
    if (of_an_and[kind] > 0) ands = std::min(ands, counts[kind]);
  if (of_an_and[bits[0]] > 0) of_inputs -= ands;
  return {ands, of_inputs};
}

Demand demand_for(const MaterialCounts& needed, AndMaterial form) {
  const MaterialCounts of_an_and = offline::counts_of({{.ands = 1, .bucket = 1}, 0}, form);
  const auto is_bits = [](MaterialKind kind) {
    return kind == MaterialKind::AuthBitsA || kind == MaterialKind::AuthBitsB;
  };
  Demand demand;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (of_an_and[kind] > 0 && !is_bits(kind)) demand.ands = std::max(demand.ands, needed[kind]);
  demand.inputs = std::max(needed[MaterialKind::AuthBitsA], needed[MaterialKind::AuthBitsB]);
  if (of_an_and[MaterialKind::AuthBitsA] > 0) demand.inputs -= std::min(demand.inputs, demand.ands);
  return demand;
}

Demand shortfall(const Demand& target, const MaterialCounts& left, AndMaterial form,
                 std::uint64_t unit) {
  const MaterialCounts wanted =
      offline::counts_of({{.ands = target.ands, .bucket = 1}, target.inputs}, form);
  MaterialCounts missing;
  for (const MaterialKind kind : kAllMaterialKinds)
    missing[kind] = wanted[kind] - std::min(left[kind], wanted[kind]);
  Demand demand = demand_for(missing, form);
  if (demand.inputs > 0)
    demand.ands =
        std::max(demand.ands, demand.inputs > std::max(unit, kInputsOfOneUnit) ? demand.inputs
                                                                               : std::uint64_t{1});
  return demand;
}

JobPlan next_job(const PreprocessRequest& request, const MaterialCounts& left) {
  PreprocessRequest next = resolve(request);
  if (request.amount == Amount::Left) {
    const offline::SecurityParameters params = offline::SecurityParameters::make(next.parameters);
    const Demand demand =
        shortfall({request.ands, inputs_of(request)}, left, params.material(), params.unit());
    next.ands = demand.ands;
    next.inputs = demand.inputs;
  }
  return JobPlan(next);
}

MaterialCounts left_at_both(const storage::Store& store, const StoreStatuses& statuses) {
  MaterialCounts left;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t unlocked = store.cursors().unlocked[kind];
    left[kind] = unlocked - std::min(unlocked, std::max(statuses.mine.served[kind],
                                                        statuses.peers.served[kind]));
  }
  return left;
}

bool reconcile_last_job(checks::Session& session, storage::Store& store, const JobPlan& plan) {
  const storage::Manifest& manifest = store.manifest();
  const bool is_open = manifest.state == StoreState::Open;
  const Terms mine = terms_of(plan, manifest.units_before);
  net::send_object(session.channel(), kLastJob, LastJob{is_open, mine});
  const auto peers = net::recv_object<LastJob>(session.channel(), kLastJob);
  if (peers.is_open > 1) throw PeerCheated("store status");
  if (is_open && peers.is_open == 1) {
    check_same(mine, peers.terms);
    return true;
  }
  if (is_open) forget_last_job(store);
  return false;
}

void begin_next_job(checks::Session& session, storage::Store& store, const JobPlan& plan) {
  const Terms mine = terms_of(plan, store.manifest().units_made);
  net::send_object(session.channel(), kNextJob, mine);
  check_same(mine, net::recv_object<Terms>(session.channel(), kNextJob));
  store.update_manifest([&](storage::Manifest& manifest) {
    manifest.units_before = manifest.units_made;
    manifest.ands_before = manifest.ands_requested;
    manifest.units_requested = manifest.units_made + plan.units.size();
    manifest.ands_requested += plan.request.ands;
    manifest.inputs_requested = inputs_of(plan.request);
    manifest.unit = plan.params.unit();
    manifest.bucket = plan.params.bucket();
    manifest.sigma_paper_bound =
        std::min(manifest.sigma_paper_bound, plan.estimate.sigma_paper_bound);
    manifest.sigma_exact = std::min(manifest.sigma_exact, plan.estimate.sigma_exact);
    manifest.state = StoreState::Open;
  });
}

}  // namespace tinyot::engine
