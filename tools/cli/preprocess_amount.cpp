// How much a job makes: in a new store, or in one that it continues or adds to.
#include "base/error.h"
#include "engine/run_estimate.h"
#include "storage/store.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {
namespace {

// The option that says how much; empty if there is only --resume.
std::string amount_given(const CommandLine& line) {
  std::string amount;
  for (const char* name : {"ands", "add", "until-left", "for"}) {
    if (!line.has(name)) continue;
    if (!amount.empty()) throw UsageError("--" + amount + " and --" + name + " exclude each other");
    amount = name;
  }
  if (line.has("resume") && amount == "add")
    throw UsageError(
        "--resume continues what was begun, and --add begins something new: leave one of them out");
  if (line.given("runs") && amount != "for") throw UsageError("--runs requires --for CIRCUIT");
  return amount;
}

bool has_store(const CommandLine& line, const std::string& amount,
               const std::filesystem::path& store) {
  if (amount == "add" || (amount.empty() && !line.has("session"))) return true;
  return (amount != "ands" || line.has("resume")) && storage::Store::exists(store);
}

// What `amount` counts; empty if that is what --ands gives.
std::optional<engine::Work> work_from(const CommandLine& line, const std::string& amount,
                                      const storage::Manifest* begun) {
  if (amount == "for") {
    const NamedCircuit circuit(circuit_spec_from(line, line.text("for")));
    const auto parameters = offline::SecurityParameters::make(parameters_from(line, begun));
    return engine::work_of_runs(circuit, parameters.material(), line.size("runs"));
  }
  if (amount == "add" || amount == "until-left") {
    const std::uint64_t ands = line.size(amount);
    return engine::Work{ands, default_inputs(ands)};
  }
  if (begun == nullptr && amount.empty())
    throw UsageError("--ands is missing: the store in " + line.text("store") +
                     " is yet to be made");
  if (begun == nullptr) return std::nullopt;
  const std::uint64_t ands = amount.empty() ? begun->ands_requested : line.size("ands");
  return engine::Work{ands, begun->inputs_requested.value_or(default_inputs(ands))};
}

}  // namespace

void add_amount_options(Options& options) {
  options.group("Amount, in place of --ands")
      .value("add", "ANDs that a complete store gets in addition")
      .value("until-left", "ANDs to be left unused in the store: makes as many as are missing")
      .value("for", "a circuit: makes what the store lacks for runs of it")
      .value("runs", "with --for: the number of runs", "1");
  add_circuit_options(options);
}

std::vector<std::string> amount_options() { return {"ands", "add", "until-left", "for", "resume"}; }

PreprocessRequest stored_request_from(const CommandLine& line, const std::filesystem::path& store) {
  const std::string amount = amount_given(line);
  const auto store_key = store_key_from(line);
  std::optional<storage::Manifest> begun;
  if (has_store(line, amount, store))
    begun =
        storage::Store::open(store, {.purpose = storage::Purpose::Inspect, .store_key = store_key})
            .manifest();
  const storage::Manifest* const manifest = begun ? &*begun : nullptr;
  PreprocessRequest job =
      preprocess_request_from(line, work_from(line, amount, manifest), manifest);
  job.store = store;
  job.store_key = store_key;
  if (amount == "add") job.amount = Amount::More;
  if (amount == "until-left" || amount == "for") job.amount = Amount::Left;
  return job;
}

}  // namespace tinyot::tools
