// `tinyot bench online`: the online phase on stored material, one row per circuit and number of
// lanes; results are compared with the plain evaluator's.
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "circuitgen/formats/values.h"
#include "crypto/rng.h"
#include "engine/connection.h"
#include "engine/run_estimate.h"
#include "tools/bench.h"
#include "tools/failure.h"
#include "tools/local.h"
#include "tools/pair.h"

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

struct OnlineBench {
  ParameterRequest parameters;
  bool live = false;
  std::uint64_t repeat = 3;
  std::optional<std::uint64_t> window;
  std::vector<LocalLink> links;
};

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
  const Json report = succeed(run_pair(
      [&](Party party, const engine::Endpoint& endpoint) {
        constexpr net::MessageTag kTrip{0x7F01, "bench.trip"};
        const auto channel = engine::Connector(endpoint).open();
        crypto::Rng rng = crypto::Rng::from_system();
        checks::establish_session(*channel, rng, party, {{"command", "bench round trips"}},
                                  std::nullopt);
        const auto begin = std::chrono::steady_clock::now();
        for (std::uint64_t i = 0; i < rounds; ++i) {
          net::send_object(*channel, kTrip, i);
          net::recv_object<std::uint64_t>(*channel, kTrip);
        }
        JobResult result;
        result.report["wall_s"] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return result;
      },
      link));
  return slower_of(report)["wall_s"];
}

// Material for all repetitions of a row.
void make_material(const OnlineBench& bench, const LocalLink& link, const NamedCircuit& circuit,
                   const std::filesystem::path& dir) {
  const engine::Work work = engine::work_of_runs(
      circuit, SecurityParameters::make(bench.parameters).material(), bench.repeat);
  PreprocessJob job;
  job.parameters = bench.parameters;
  job.ands = work.ands;
  job.inputs = work.inputs;
  job.quiet = true;
  LocalLink unshaped = link;
  unshaped.shape.reset();  // what is measured is the run
  succeed(preprocess_locally(job, dir, unshaped));
}

Json row_of(const Row& row, const LocalLink& link, const std::vector<Json>& runs) {
  std::vector<double> walls;
  walls.reserve(runs.size());
  for (const Json& run : runs) walls.push_back(slower_of(run)["wall_s"]);
  const Json& last = slower_of(runs.back());
  const double wall_s = median(walls), ands = last["ands"];
  double bytes = 0, cpu_s = 0;
  for (const Json& phase : last["phases"]) {
    const std::string name = phase["name"];
    if (name != "gates" && name != "outputs") continue;
    bytes += phase["bytes_sent"].get<double>() + phase["bytes_received"].get<double>();
    cpu_s += phase["cpu_s"].get<double>();
  }
  const std::uint64_t rounds = last["and_rounds"];
  const double bare_s = bare_round_trips_s(rounds, link), last_s = last["wall_s"];
  const auto share = [&](const char* field) { return last[field].get<double>() / last_s; };
  Json result = {{"circuit", row.circuit},
                 {"lanes", row.lanes},
                 {"ands", last["ands"]},
                 {"wall_s", wall_s},
                 {"ands_per_s", ands / wall_s},
                 {"gates_per_s", last["gates"].get<double>() / wall_s},
                 {"rounds", rounds},
                 {"bare_round_trips_s", bare_s},
                 {"bits_per_and", 8 * bytes / std::max(ands, 1.0)},
                 {"cpu_s", cpu_s},
                 {"share_wire", share("wire_wait_s")},
                 {"share_store", share("store_wait_s")},
                 {"share_macs", share("blocks_s")},
                 {"peak_rss_mb", last["peak_rss_bytes"].get<double>() / (1 << 20)},
                 {"material", last["material"]},
                 {"live", last["live"]}};
  result.update(link.fields());
  return result;
}

Json measure(const OnlineBench& bench, const LocalLink& link, const Row& row) {
  RunJob job;
  job.circuit.name = row.circuit;
  job.circuit.lanes = row.lanes;
  job.window = bench.window;
  if (bench.live) job.live = bench.parameters;
  const NamedCircuit circuit(job.circuit);
  const engine::TemporaryDirectory dir;
  if (!bench.live) make_material(bench, link, circuit, dir.path());
  crypto::Rng rng = crypto::Rng::from_system();
  std::vector<Json> runs;
  for (std::uint64_t i = 0; i < bench.repeat; ++i) {
    job.inputs = random_inputs(circuit, rng);
    runs.push_back(succeed(run_locally(job, dir.path(), link)));
    check_outputs(circuit, job.inputs, runs.back());
  }
  return row_of(row, link, runs);
}

std::vector<Row> rows_from(const CommandLine& line) {
  if (!line.has("circuit")) {
    if (line.has("lanes")) throw UsageError("--lanes requires --circuit");
    return kSuite;
  }
  std::vector<Row> rows;
  for (const std::uint64_t lanes :
       parse_sizes("lanes", line.has("lanes") ? line.text("lanes") : "1"))
    rows.push_back({line.text("circuit"), lanes});
  return rows;
}

}  // namespace

void check_outputs(const NamedCircuit& circuit, const InputTexts& texts, const Json& report) {
  std::vector<circuit::LaneValues> inputs;
  for (auto& values : parse_inputs(circuit, texts)) inputs.push_back(std::move(*values));
  const auto wanted = circuit::evaluate(circuit.circuit(), circuit.lanes(), inputs);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const circuit::OutputBundle& bundle = circuit.info().outputs[i];
    for (const Party party : {Party::A, Party::B})
      if (circuit::receives(bundle.to, party) &&
          report[std::string(1, letter(party))]["outputs"][bundle.name] !=
              circuit.print(i, wanted[i]))
        throw CommandError("output " + bundle.name + " of " + circuit.info().name + " is wrong");
  }
}

int bench_online(const Arguments& arguments) {
  CommandLine line("tinyot bench online [options]",
                   "tinyot bench online --circuit aes128 --lanes 512,1024 --material triples");
  line.options()
      .value("circuit",
             "a circuit, such as levenshtein:rows=200, or a file; default: a suite of circuits and "
             "sizes")
      .value("lanes", "sizes, such as 1,512 or 2^9..2^12; default: 1")
      .value("repeat", "runs of each row; the median is shown", "3")
      .flag("live", "make the material during the run instead of before");
  add_window_option(line.options());
  add_parameter_options(line.options());
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Table table(Table::style_from(line.text("format")));
  OnlineBench bench;
  bench.parameters = parameters_from(line);
  if (!line.given("profile"))
    bench.parameters.profile =
        bench.parameters.material == MaterialForm::Pairs ? Profile::Nnob12 : Profile::Fast;
  SecurityParameters::make(bench.parameters);
  bench.live = line.has("live");
  bench.repeat = line.size("repeat");
  if (bench.repeat < 1) throw UsageError("--repeat must be at least 1");
  bench.window = window_from(line);
  bench.links = links_from(line);
  for (const Row& row : rows_from(line))
    for (const LocalLink& link : bench.links) table.add(measure(bench, link, row));
  return 0;
}

}  // namespace tinyot::tools
