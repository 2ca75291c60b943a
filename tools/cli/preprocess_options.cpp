// The options of a preprocessing job: how its material is made, and how much in a new store, or in
// one that it continues or adds to.
#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "engine/run_estimate.h"
#include "offline/unit/preprocessor.h"
#include "storage/store.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/preprocess.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kAndsMax = std::uint64_t{1} << 40;

// "2/8"
std::pair<std::uint32_t, std::uint32_t> shard_from(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos)
    throw UsageError("--shard takes i/n, such as 2/8, not '" + text + "'");
  const std::uint64_t shard = parse_size("shard", text.substr(0, slash)),
                      shards = parse_size("shard", text.substr(slash + 1));
  if (shard < 1 || shard > shards || shards > storage::kShardsMax)
    throw UsageError("--shard is out of range: i/n with 1 <= i <= n <= " +
                     std::to_string(storage::kShardsMax));
  return {static_cast<std::uint32_t>(shard), static_cast<std::uint32_t>(shards)};
}

// "fast or wan"
std::string profiles_with(const std::string& parameter) {
  std::string names;
  for (const Profile profile : all_profiles())
    if (has_parameter(profile, parameter))
      names += (names.empty() ? "" : " or ") + std::string(name_of(profile));
  return names;
}

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
  if (line.is_explicit("runs") && amount != "for")
    throw UsageError("--runs requires --for CIRCUIT");
  return amount;
}

bool has_store(const CommandLine& line, const std::string& amount,
               const std::filesystem::path& store) {
  if (amount == "add" || (amount.empty() && !line.has("session"))) return true;
  return (amount != "ands" || line.has("resume")) && storage::Store::exists(store);
}

// What `amount` counts; empty if that is what --ands gives.
std::optional<engine::Demand> work_from(const CommandLine& line, const std::string& amount,
                                        const storage::Manifest* begun) {
  if (amount == "for") {
    const NamedCircuit circuit(circuit_spec_from(line, line.text("for")));
    const auto parameters = offline::SecurityParameters::make(parameters_from(line, begun));
    return engine::demand_of_runs(circuit, parameters.material(), line.size("runs"));
  }
  if (amount == "add" || amount == "until-left") {
    const std::uint64_t ands = line.size(amount);
    return engine::Demand{ands, default_inputs(ands)};
  }
  if (begun == nullptr && amount.empty())
    throw UsageError("--ands is missing: the store in " + line.text("store") +
                     " is yet to be made");
  if (begun == nullptr) return std::nullopt;
  const std::uint64_t ands = amount.empty() ? begun->ands_requested : line.size("ands");
  return engine::Demand{ands, begun->inputs_requested.value_or(default_inputs(ands))};
}

}  // namespace

void set_own(ParameterRequest& request, const OwnOption& own, const std::string& value) {
  std::vector<NamedValue> values = named_values(
      request.profile, request.own ? *request.own : own_parameters(request.profile, {}));
  const auto known = std::ranges::find(values, own.parameter, &NamedValue::name);
  if (known != values.end())
    known->value = value;
  else
    values.push_back({own.parameter, value});
  try {
    request.own = own_parameters(request.profile, values);
  } catch (const UsageError& error) {
    throw UsageError("--" + std::string(own.option) + ": " + error.what());
  }
}

Profile profile_from(const std::string& name) {
  try {
    return profile_named(name);
  } catch (const UsageError& error) {
    throw UsageError("--profile: " + std::string(error.what()));
  }
}

BucketSizes bucket_from(const std::string& text) {
  if (text.find(',') != std::string::npos)
    throw UsageError(
        "--bucket takes one size here, such as 4 (or 3+2 with --profile wan); "
        "tinyot bench offline takes a list");
  const auto size = [](const std::string& part) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(parse_size("bucket", part), UINT32_MAX));
  };
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return size(text);
  return {size(text.substr(0, plus)), size(text.substr(plus + 1))};
}

std::optional<BaseOt> parse_base_ot(const std::string& name) {
  try {
    return requested_base_ot(name);
  } catch (const UsageError& error) {
    throw UsageError("--base-ot: " + std::string(error.what()));
  }
}

ParameterRequest parameters_from(const CommandLine& line, const storage::Manifest* begun) {
  const auto is_set = [&](const std::string& name) {
    return begun != nullptr ? line.is_explicit(name) : line.has(name);
  };
  const auto small = [&](const std::string& name) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(line.size(name), UINT32_MAX));
  };
  ParameterRequest request;
  if (begun != nullptr) request = engine::begun_parameters(*begun);
  request.unit.reset();  // each job of a store has its own
  request.bucket.reset();
  if (is_set("profile")) {
    const Profile profile = profile_from(line.text("profile"));
    // The store's other parameters would not fit; the engine refuses another profile.
    if (profile != request.profile) request = {};
    request.profile = profile;
  }
  if (line.has("material")) request.material = parse_material(line.text("material"));
  for (const OwnOption& own : kOwnOptions) {
    if (!line.has(own.option)) continue;
    if (!has_parameter(request.profile, own.parameter))
      throw UsageError("--" + std::string(own.option) + " requires --profile " +
                       profiles_with(own.parameter));
    set_own(request, own, line.text(own.option));
  }
  if (is_set("sigma")) request.sigma = small("sigma");
  if (line.has("unit")) request.unit = line.size("unit");
  if (line.has("bucket")) request.bucket = bucket_from(line.text("bucket"));
  request.weak_allowed = line.has("allow-weak");
  request.base_ot = parse_base_ot(line.text("base-ot"));
  return request;
}

void refuse_parameter_options(const CommandLine& line, const std::string& reason) {
  Options parameters;
  add_parameter_options(parameters);
  for (const Option& option : parameters)
    if (line.is_explicit(option.name)) throw UsageError("--" + option.name + " " + reason);
}

void add_parameter_options(Options& options) {
  options.group("Security")
      .value("profile",
             "nnob12 (the paper's protocols), fast (triples, from SoftSpokenOT) or wan (triples, "
             "for slow links: a twentieth of the traffic of fast, six times its work, and LPN is "
             "assumed to be hard)",
             "nnob12")
      .value("material",
             "aand-aot (two aANDs, two aOTs and two aBits per AND, the default of nnob12), triples "
             "(one per AND, the default of the others) or garbling (for all online phases)")
      .value("sigma", "statistical security in bits, 40 to 128", "40")
      .value("bucket",
             "bucket size B; default: the smallest that reaches sigma by the paper's bound, with "
             "a margin for units that are broken off")
      .value("unit",
             "ANDs that are permuted together; memory grows with it; default: the size with the "
             "smallest bucket within --memory")
      .value("labit-columns",
             "nnob12: theorem (22 psi / 3, the default) or experiment (8 psi / 3, as the paper "
             "measured)")
      .alias("columns")
      .advanced()
      .value(
          "softspoken-k",
          "fast, wan: 1, 2 or 4 bits of the global key per tree; traffic falls and work grows with "
          "it; default: 4 with wan, and with fast auto: 2, or 4 over a slow link")
      .advanced()
      .value("abits",
             "fast: softspoken (the default), or silent: 0.4 of the traffic, for twice the work "
             "and the assumption that LPN is hard")
      .advanced()
      .value("silent-set",
             "wan, fast with silent bits: b9, b10, b11 or b12 (the default), the parameter set of "
             "LPN; smaller ones take less memory and cache, and more traffic")
      .advanced()
      .value("base-ot",
             "ml-kem (against later quantum computers; needs OpenSSL 3.5), ristretto "
             "(Diffie-Hellman), or auto: what the peer asks for, or ml-kem if both parties have it",
             "auto")
      .advanced()
      .flag("allow-weak", "accept a bucket that misses sigma, for measurements")
      .advanced();
}

void add_preprocess_options(Options& options) {
  options.group("Material")
      .value("ands", "ANDs in the store in total: 1000000, 1M, 2^20")
      .value("inputs",
             "authenticated bits of each party for inputs, and for outputs from triples that only "
             "one party learns; default: 1024 + ands / 16")
      .flag("resume", "continue a store that was interrupted")
      .value("threads",
             "workers, each with its own thread and connection; the material is the same, memory "
             "grows",
             "1")
      .value("memory",
             "bytes that this party's units in progress may take: decides the unit without --unit, "
             "and which larger buckets broken attempts may lead to",
             std::to_string(kDefaultMemoryBytes))
      .value("session",
             "file of a session that several stores share: shard 1 makes it, all others start from "
             "a copy of it")
      .advanced()
      .flag("discard", "discard the material once it is made, to measure the cost of making it")
      .advanced()
      .value("shard",
             "i/n: make part i of n of the session's ANDs in this store; the same command again "
             "resumes it")
      .advanced();
  add_parameter_options(options);
}

PreprocessRequest preprocess_request_from(const CommandLine& line,
                                          const std::optional<engine::Demand>& wanted,
                                          const storage::Manifest* begun) {
  PreprocessRequest job;
  job.ands = wanted && !line.has("ands") ? wanted->ands : line.size("ands");
  if (job.ands < 1 || job.ands > kAndsMax)
    throw UsageError(std::string(line.has("ands") ? "--ands" : "the number of ANDs") +
                     " is out of range: 1 to 2^40");
  job.inputs =
      line.optional_size("inputs").value_or(wanted ? wanted->inputs : default_inputs(job.ands));
  if (job.inputs > kAndsMax) throw UsageError("--inputs is out of range: 0 to 2^40");
  job.threads = line.size("threads");
  if (job.threads < 1 || job.threads > offline::Preprocessor::kWorkersMax)
    throw UsageError("--threads is out of range: 1 to " +
                     std::to_string(offline::Preprocessor::kWorkersMax));
  job.parameters = parameters_from(line, begun);
  job.memory_bytes = line.size("memory");
  if (line.has("session")) job.session = line.text("session");
  if (line.has("shard")) std::tie(job.shard, job.shards) = shard_from(line.text("shard"));
  if (job.shards > 1 && !job.session)
    throw UsageError("--shard needs --session FILE, which all shards of the session share");
  // With a session, repeating the command resumes the store.
  job.resume = line.has("resume") || job.session;
  job.is_stored = !line.has("discard");
  return job;
}

void add_amount_options(Options& options) {
  options.group("Amount, in place of --ands")
      .value("add", "ANDs that a complete store gets in addition")
      .value("until-left", "ANDs to be left unused in the store: makes as many as are missing")
      .value("for", "a circuit: makes what the store lacks for runs of it")
      .alias("circuit")
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
