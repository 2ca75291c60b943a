// `tinyot bench online`: the online phase on stored material, one row per circuit and number of
// lanes; results are compared with the plain evaluator's.
#include <algorithm>
#include <span>

#include "base/error.h"
#include "circuitgen/formats/values.h"
#include "crypto/rng.h"
#include "engine/run_estimate.h"
#include "system/temporary_directory.h"
#include "tinyot/evaluate.h"
#include "tools/bench/bench.h"
#include "tools/cli/failure.h"
#include "tools/cli/render/circuit.h"

namespace tinyot::tools {
namespace {

struct Row {
  std::string circuit;
  std::uint64_t lanes;
};
const std::vector<Row> kSuite = {{"aes128", 1},
                                 {"aes128:sbox=shallow", 1},
                                 {"aes128", 27},
                                 {"aes128", 54},
                                 {"aes128", 512},
                                 {"aes128", 1024},
                                 {"aes128", 4096},
                                 {"sha256:bytes=55", 1},
                                 {"sha256:bytes=55", 1024},
                                 {"random:width=65536,depth=64", 1},
                                 {"random:width=16,depth=4096", 1},
                                 {"millionaires", 65536},
                                 {"hamming", 1024},
                                 {"set_intersection", 1},
                                 {"sort", 1},
                                 {"comparisons", 1},
                                 {"minimum", 1}};

// Over which link a run is measured, in which phase (none leaves it to the parties), and whether it
// is prepared before its inputs are known.
struct Way {
  LocalLink link;
  std::optional<OnlinePhase> phase;
  bool are_inputs_later;
};

struct OnlineBench {
  ParameterRequest parameters;
  bool live = false;
  std::uint64_t repeat = 3;
  std::optional<std::uint64_t> window;
  std::vector<Way> ways;
};

// Phases of a report: those of its run, but for reserving material, and those of them that a run
// that is prepared has before its inputs.
constexpr const char* kPhases[] = {"masks",  "prepare", "gates",  "rows",
                                   "inputs", "online",  "outputs"};
constexpr std::size_t kPhasesBefore = 2;

std::string random_value(crypto::Rng& rng, const circuit::InputBundle& bundle) {
  return circuit::print_value(rng.bits(bundle.bits), bundle.format, false);
}

InputTexts random_inputs(const NamedCircuit& circuit, crypto::Rng& rng) {
  InputTexts inputs;
  for (const circuit::InputBundle& bundle : circuit.info().inputs) {
    std::string text;
    for (std::size_t lane = 0; lane < (bundle.same_in_all_lanes ? 1 : circuit.lanes()); ++lane)
      text += (lane == 0 ? "" : ",") + random_value(rng, bundle);
    inputs.emplace(bundle.name, secret_text(text));
  }
  return inputs;
}

// As many messages each way as a run has rounds, without computation: the time of the round trips
// alone.
double bare_round_trips_s(std::uint64_t rounds, const LocalLink& link) {
  const auto command = [&] {
    return PairCommand{{"bench", "party", "--rounds", std::to_string(rounds)}};
  };
  return slower_of(require_success(run_pair({command(), command()}, link)))["wall_s"];
}

// A store keeps to the kind of connection that it was made over.
std::filesystem::path store_for(const LocalLink& link, const std::filesystem::path& dir) {
  return dir / (link.channels == Channels::Tls ? "tls" : "plain");
}

// Material for all repetitions on all links of this kind, made without a simulated link: what is
// measured is the run.
void make_material(const OnlineBench& bench, const NamedCircuit& circuit, LocalLink link,
                   const std::filesystem::path& dir) {
  if (std::filesystem::exists(store_for(link, dir))) return;
  const engine::Demand demand = engine::demand_of_runs(
      circuit, offline::SecurityParameters::make(bench.parameters).material(),
      bench.repeat * bench.ways.size());
  PreprocessRequest job;
  job.parameters = bench.parameters;
  job.ands = demand.ands;
  job.inputs = demand.inputs;
  link.shape.reset();
  require_success(run_pair(preprocess_commands(job, store_for(link, dir)), link));
}

// Of a run that is prepared, the time of what comes before its inputs.
double prepare_s(const Json& report) {
  double seconds = 0;
  for (const char* phase : std::span(kPhases).first(kPhasesBefore))
    seconds += wall_of_phase(report, phase);
  return seconds;
}

Json row_of(const Row& row, const Way& way, const std::vector<Json>& runs) {
  std::vector<double> walls;
  walls.reserve(runs.size());
  for (const Json& run : runs) walls.push_back(slower_of(run)["wall_s"]);
  const Json& last = slower_of(runs.back());
  const double wall_s = median(walls), ands = last["ands"];
  const auto measured = std::span(kPhases).subspan(way.are_inputs_later ? kPhasesBefore : 0);
  double bytes = 0, cpu_s = 0;
  for (const Json& phase : last["phases"]) {
    if (std::ranges::find(measured, phase["name"].get<std::string>()) == measured.end()) continue;
    bytes += phase["bytes_sent"].get<double>() + phase["bytes_received"].get<double>();
    cpu_s += phase["cpu_s"].get<double>();
  }
  const std::uint64_t rounds = last["and_rounds"];
  const Json& half_round_trips = last["half_round_trips"];
  const std::uint64_t trips = std::max(half_round_trips["a"].get<std::uint64_t>(),
                                       half_round_trips["b"].get<std::uint64_t>());
  const double bare_s = bare_round_trips_s(trips, way.link), last_s = last["wall_s"];
  const auto share = [&](const char* field) { return last[field].get<double>() / last_s; };
  Json result = {{"circuit", row.circuit},
                 {"lanes", row.lanes},
                 {"ands", last["ands"]},
                 {"wall_s", wall_s},
                 {"ands_per_s", ands / wall_s},
                 {"gates_per_s", last["gates"].get<double>() / wall_s},
                 {"rounds", rounds},
                 {"online", last["online"]},
                 {"online_asked", way.phase ? name_of(*way.phase) : "auto"},
                 {"inputs_later", way.are_inputs_later},
                 {"prepare_s", way.are_inputs_later ? prepare_s(last) : 0},
                 {"half_round_trips", trips},
                 {"bare_round_trips_s", bare_s},
                 {"bits_per_and", 8 * bytes / std::max(ands, 1.0)},
                 {"cpu_s", cpu_s},
                 {"share_wire", share("wire_wait_s")},
                 {"share_store", share("store_wait_s")},
                 {"share_opening", share("opening_s")},
                 {"share_macs", share("blocks_s")},
                 {"peak_rss_mb", last["peak_rss_bytes"].get<double>() / (1 << 20)},
                 {"peak_rss_bytes", last["peak_rss_bytes"]},
                 {"live", last["live"]},
                 {"repeats", runs.size()}};
  add_spread(result, "wall_s", walls);
  for (const char* field :
       {"profile", "material", "sigma", "sigma_paper_bound", "sigma_exact", "bucket", "unit"})
    result[field] = last[field];
  result["weak"] = last["sigma_paper_bound"] < last["sigma"];
  result.update(fields_of(way.link));
  return result;
}

// A row for each way.
std::vector<Json> measure(const OnlineBench& bench, const Row& row) {
  MeasuredRun run;
  run.spec.name = row.circuit;
  run.spec.lanes = row.lanes;
  run.window = bench.window;
  if (bench.live) run.live = bench.parameters;
  const NamedCircuit circuit(run.spec);
  const system::TemporaryDirectory dir;
  for (const Way& way : bench.ways)
    if (!bench.live) make_material(bench, circuit, way.link, dir.path());
  crypto::Rng rng = crypto::Rng::from_system();
  // The ways alternate, so that other load on the machine affects them alike.
  std::vector<std::vector<Json>> runs(bench.ways.size());
  for (std::uint64_t i = 0; i < bench.repeat; ++i) {
    for (std::size_t way = 0; way < bench.ways.size(); ++way) {
      const LocalLink& link = bench.ways[way].link;
      run.phase = bench.ways[way].phase;
      run.are_inputs_later = bench.ways[way].are_inputs_later;
      const InputTexts inputs = random_inputs(circuit, rng);
      runs[way].push_back(require_success(
          run_pair(run_commands(run, circuit, inputs, store_for(link, dir.path())), link)));
      check_outputs(circuit, inputs, runs[way].back());
    }
  }
  std::vector<Json> rows;
  for (std::size_t way = 0; way < bench.ways.size(); ++way)
    rows.push_back(row_of(row, bench.ways[way], runs[way]));
  return rows;
}

// Each phase over each link, prepared and at once as the line says. Fails: UsageError if nothing is
// left.
std::vector<Way> ways_from(const CommandLine& line) {
  std::vector<Way> ways;
  for (const LocalLink& link : links_from(line))
    for (const std::string& later : parse_names(line.text("inputs-later")))
      for (const std::string& name : parse_names(line.text("online"))) {
        if (later != "yes" && later != "no")
          throw UsageError("--inputs-later must be yes or no, not '" + later + "'");
        const bool are_later = later == "yes";
        const std::optional<OnlinePhase> phase = parse_online(name);
        if (!are_later || phase != OnlinePhase::Interactive)
          ways.push_back({link, phase, are_later});
      }
  if (ways.empty()) throw UsageError("a run of the interactive phase cannot be prepared");
  return ways;
}

std::vector<Row> rows_from(const CommandLine& line) {
  if (!line.has("circuit")) {
    if (line.has("lanes")) throw UsageError("--lanes requires --circuit");
    return kSuite;
  }
  const auto sizes = parse_sizes("lanes", line.has("lanes") ? line.text("lanes") : "1");
  std::vector<Row> rows;
  for (const std::string& circuit : line.list("circuit")) {
    CircuitSpec spec;
    spec.name = circuit;
    (void)NamedCircuit(spec);  // a wrong one is refused before another one is measured
    for (const std::uint64_t lanes : sizes) rows.push_back({circuit, lanes});
  }
  return rows;
}

}  // namespace

void check_outputs(const NamedCircuit& circuit, const InputTexts& texts, const Json& report) {
  const Values wanted =
      circuit::evaluate(circuit.circuit(), parse_inputs(circuit, texts), circuit.lanes());
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i) {
    const circuit::OutputBundle& bundle = circuit.info().outputs[i];
    for (const Party party : {Party::A, Party::B})
      if (circuit::receives(bundle.to, party) &&
          report[std::string(1, letter(party))]["outputs"][bundle.name] !=
              json_of({circuit.print(i, wanted.at(bundle.name))})[bundle.name])
        throw CommandError("output " + bundle.name + " of " + circuit.info().name + " is wrong");
  }
}

int online_rows(const Arguments& arguments, const RowSink& sink) {
  CommandLine line("bench online", "[options]",
                   "tinyot bench online --circuit aes128 --lanes 512,1024 --material triples");
  line.options()
      .values("circuit",
              "a circuit, such as levenshtein:rows=200, or a file; may be given several times; "
              "default: a suite of circuits and sizes")
      .value("lanes", "sizes, such as 1,512 or 2^9..2^12; default: 1")
      .value("repeat", "runs of each row; the median is shown", "3")
      .flag("live", "make the material during the run instead of before");
  add_window_option(line.options());
  line.options()
      .value("online", "interactive, garbled, masked or auto, a list", "auto")
      .value(
          "inputs-later",
          "yes: what comes before the inputs is done beforehand, and not in the time of a row; a "
          "list",
          "no");
  ParameterLists lists{.profile = "fast"};
  add_parameter_lists(line.options(), lists);
  Rows::add_options(line.options());
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Rows rows(line, sink,
            {"circuit", "lanes", "online", "rounds", "wall_s", "ands_per_s", "bits_per_and",
             "peak_rss_mb"});
  if (line.is_explicit("material"))
    for (const std::string& name : parse_names(line.text("material")))
      if (parse_material(name) == AndMaterial::AandAot) lists.profile = "nnob12";
  OnlineBench bench;
  bench.live = line.has("live");
  bench.repeat = repeat_from(line);
  bench.window = window_from(line);
  bench.ways = ways_from(line);
  const std::vector<ParameterRequest> points = parameters_listed(line, lists);
  for (const Row& row : rows_from(line)) {
    for (const ParameterRequest& parameters : points) {
      bench.parameters = parameters;
      rows.begin_group();
      for (const Json& measured : measure(bench, row)) rows.add(measured);
    }
  }
  return 0;
}

}  // namespace tinyot::tools
