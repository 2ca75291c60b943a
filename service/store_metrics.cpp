#include "service/store_metrics.h"

#include "engine/connection.h"
#include "engine/plan.h"
#include "engine/top_up.h"
#include "service/names.h"

namespace tinyot::service {

void add_store_metrics(const storage::Inventory& store, const MetricLabels& more,
                       const SetGauge& set_gauge) {
  const storage::Manifest& manifest = store.manifest;
  MetricLabels labels = {{"session", short_name(engine::session_id_of(manifest))},
                         {"party", name_of(manifest.me)},
                         {"shard", std::to_string(manifest.shard)}};
  labels.insert(more.begin(), more.end());
  const auto set = [&](const std::string& name, const std::string& help, double value,
                       const MetricLabels& of_value = {}) {
    MetricLabels all = labels;
    all.insert(of_value.begin(), of_value.end());
    set_gauge("tinyot_store_" + name, help, all, value);
  };
  set("complete", "1 if the store has all material that was asked for",
      manifest.state == StoreState::Complete);
  set("revoked", "1 if the session is revoked or retired", manifest.state == StoreState::Revoked);
  set("bytes", "Bytes of the store's files", static_cast<double>(store.store_bytes));
  set("units_outstanding", "Units that were broken off or are being made",
      static_cast<double>(store.attempts.outstanding));
  ParameterRequest request = engine::begun_parameters(manifest);
  request.weak_allowed = true;
  const offline::SecurityParameters params = offline::SecurityParameters::make(request);
  set("budget_spent_ratio", "Part of the session's sigma that outstanding units have spent",
      as_double(store.attempts.risk) / as_double(params.risk_limit()));
  MaterialCounts left;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const KindCounts& of_kind = store.of(kind);
    left[kind] = of_kind.left;
    if (of_kind.made == 0) continue;
    const auto set_objects = [&](const char* state, std::uint64_t count) {
      set("objects", "Objects of material by kind and state", static_cast<double>(count),
          {{"kind", std::string(name_of(kind))}, {"state", state}});
    };
    set_objects("made", of_kind.made);
    set_objects("left", of_kind.left);
    set_objects("reserved", of_kind.planned);
    set_objects("burnt", of_kind.burnt);
    set_objects("unconfirmed", of_kind.unconfirmed);
  }
  const engine::Demand demand = engine::capacity_of(left, params.material());
  set("ands_left", "ANDs that can be evaluated with what is left",
      static_cast<double>(demand.ands));
  set("inputs_left", "Inputs of each party that are left", static_cast<double>(demand.inputs));
}

}  // namespace tinyot::service
