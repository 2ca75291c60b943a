// `tinyot bench ot`: the OT extension, with A as sender and B as receiver, one row per kind and k.
#include <algorithm>

#include "base/error.h"
#include "offline/parameters.h"
#include "offline/silent/parameter_sets.h"
#include "offline/softspoken/ggm_trees.h"
#include "tools/bench/bench.h"
#include "tools/bench/party.h"
#include "tools/cli/failure.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kCountMax = std::uint64_t{1} << 36;
// of one round; all rounds use the same memory
constexpr std::uint64_t kRoundOts = std::uint64_t{1} << 17;
constexpr std::uint64_t kBaseOts = 1024;  // of a row

const Json& phase_of(const Json& report, std::string_view name) {
  for (const Json& phase : report["phases"])
    if (phase["name"] == name) return phase;
  throw CommandError("a measured job has no phase " + std::string(name));
}

// What a chain of silent bits takes before its first one, the set-up apart.
struct Start {
  double seconds = 0;
  std::uint64_t bytes = 0;  // of both parties
};

Start start_in(const Json& a, const Json& b) {
  const auto bytes = [](const Json& report) {
    return phase_of(report, "start")["bytes_sent"].get<std::uint64_t>();
  };
  return {std::max(wall_of_phase(a, "start"), wall_of_phase(b, "start")), bytes(a) + bytes(b)};
}

Json row_of(const OtJob& job, const LocalLink& link, const Json& report) {
  const Json &a = report["A"], &b = report["B"];
  std::vector<double> rates, rates_of_a, rates_of_b;
  const double ots = static_cast<double>(job.ots());
  for (std::uint64_t i = 0; i < job.repeat; ++i) {
    const Json &of_a = phase_of(a, name_of_repeat(i)), &of_b = phase_of(b, name_of_repeat(i));
    rates.push_back(ots / std::max(of_a["wall_s"].get<double>(), of_b["wall_s"].get<double>()));
    rates_of_a.push_back(ots / of_a["cpu_s"].get<double>());
    rates_of_b.push_back(ots / of_b["cpu_s"].get<double>());
  }
  const double to_receiver = phase_of(a, name_of_repeat(0))["bytes_sent"],
               to_sender = phase_of(b, name_of_repeat(0))["bytes_sent"];
  const Start start = job.is_silent() ? start_in(a, b) : Start{};
  Json row = {{"ot_kind", job.kind},
              {"softspoken_k", job.k},
              {"silent_set", job.is_silent() ? job.silent_set : "-"},
              {"ots", job.ots()},
              {"ots_per_cpu_s_sender", median(rates_of_a)},
              {"ots_per_cpu_s_receiver", median(rates_of_b)},
              {"bytes_per_ot", (to_receiver + to_sender) / ots},
              {"bits_per_ot", 8 * (to_receiver + to_sender) / ots},
              {"bytes_per_ot_to_sender", to_sender / ots},
              {"bytes_per_ot_to_receiver", to_receiver / ots},
              {"set_up_s", std::max(wall_of_phase(a, "set-up"), wall_of_phase(b, "set-up"))},
              {"start_s", start.seconds},
              {"start_bytes", start.bytes},
              {"repeats", job.repeat},
              {"rates", rates}};
  add_spread(row, "ots_per_s", rates);
  row.update(fields_of(link));
  return row;
}

}  // namespace

int ot_rows(const Arguments& arguments, const RowSink& sink) {
  CommandLine line(
      "bench ot", "[options]",
      "tinyot bench ot --count 2^22 --kind random,chosen --softspoken-k 1,2,4 --repeat 3");
  line.options()
      .value("count", "OTs of a row; above 2^17 rounded up to a multiple of it", "2^22")
      .value("kind",
             "a list of: delta (x1 = x0 ^ Delta), random, random-for (given choices), correlated "
             "(given offsets), chosen (given messages), and abits: "
             "delta both ways at once, OTs of both counted; silent: these from a code, in whole "
             "iterations; or base-ristretto, base-ml-kem, and for comparison base-naor-pinkas: at "
             "most 1024 base OTs each way",
             "abits,delta,random,random-for,correlated,chosen")
      .value(
          "softspoken-k",
          "bits of Delta per tree, a list of 1, 2, 4: with more bits, more work and less traffic",
          "2")
      .value("silent-set", "of kind silent, a list of b9, b10, b11, b12", "b12")
      .value("repeat", "runs of each row; the median is shown", "1");
  Rows::add_options(line.options());
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Rows rows(line, sink,
            {"ot_kind", "ots", "ots_per_s", "ots_per_cpu_s_sender", "ots_per_cpu_s_receiver",
             "bits_per_ot"});
  const std::vector<LocalLink> links = links_from(line);
  const std::uint64_t count = line.size("count");
  if (count < 1 || count > kCountMax) throw UsageError("--count is out of range: 1 to 2^36");
  const std::uint64_t repeat = repeat_from(line);
  const std::vector<std::string> kinds = parse_names(line.text("kind"));
  for (const std::string& kind : kinds) require_ot_kind(kind);
  const std::vector<std::uint64_t> ks = parse_sizes("softspoken-k", line.text("softspoken-k"));
  for (const std::uint64_t k : ks) offline::require_softspoken_k(k);
  const std::vector<std::string> sets = parse_names(line.text("silent-set"));
  for (const std::string& set : sets) offline::lpn_set_named(set);

  const auto add_rows = [&](const std::string& kind, std::uint64_t k, const std::string& set) {
    OtJob job{
        .kind = kind, .k = static_cast<std::uint32_t>(k), .repeat = repeat, .silent_set = set};
    const std::uint64_t wanted = job.is_base() ? std::min(count, kBaseOts) : count;
    job.round_ots = job.is_silent() ? offline::silent_set(offline::lpn_set_named(set)).net()
                                    : std::min(wanted, kRoundOts);
    job.rounds = (wanted + job.round_ots - 1) / job.round_ots;
    for (const LocalLink& link : links) {
      const auto command = [&] { return PairCommand{arguments_of(job)}; };
      rows.begin_group();
      rows.add(row_of(job, link, require_success(run_pair({command(), command()}, link))));
    }
  };
  for (const std::string& kind : kinds)
    for (const std::uint64_t k : ks)
      for (const std::string& set : kind == "silent" ? sets : std::vector{sets.front()})
        add_rows(kind, k, set);
  return 0;
}

}  // namespace tinyot::tools
