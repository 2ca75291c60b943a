#include "tools/cli/render/run.h"

#include "tools/cli/render/circuit.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

double rate_of(std::uint64_t count, const RunResult& result) {
  return result.wall_s > 0 ? static_cast<double>(count) / result.wall_s : 0;
}

std::uint64_t gates_of(const RunResult& result) { return result.ands + result.xors; }

Json json_of(const RunReport& of) {
  const RunResult& result = of.result;
  Json report = {{"party", std::string(1, letter(of.request.party))},
                 {"command", "run"},
                 {"session", result.session},
                 {"circuit", of.circuit.info().name},
                 {"fingerprint", text_of(of.circuit.fingerprint())},
                 {"ands", result.ands},
                 {"gates", gates_of(result)}};
  if (of.circuit.has_blocks()) report["blocks"] = of.circuit.lanes();
  report["lanes"] = of.lanes;
  report["window"] = result.window;
  report["and_rounds"] = result.and_rounds;
  report["online"] = name_of(result.phase);
  if (result.row_check) report["row_check"] = name_of(*result.row_check);
  report["online_chosen_by"] = name_of(result.phase_chosen_by);
  for (const auto& [phase, expected_s] : result.expected_s)
    report["estimated_s"][std::string(name_of(phase))] = expected_s;
  report["half_round_trips"] = half_round_trips_json(result.half_round_trips);
  report["live"] = of.request.live.has_value();
  add_security(report, result.security);
  add_units(report, result.security);
  if (result.base_ot) report["base_ot"] = name_of(*result.base_ot);
  report["threads"] = 1;
  report["wall_s"] = result.wall_s;
  report["ands_per_s"] = rate_of(result.ands, result);
  report["gates_per_s"] = rate_of(gates_of(result), result);
  report["wire_wait_s"] = result.wire_wait_s;
  report["store_wait_s"] = result.store_wait_s;
  report["opening_s"] = result.opening_s;
  report["blocks_s"] = result.blocks_s;
  report["store_bytes"] = result.store_bytes;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (result.burnt[kind] > 0) report["burnt"][std::string(name_of(kind))] = result.burnt[kind];
  add_measurements(report, result.phases);
  if (of.rows) report["rows"] = *of.rows;
  report["outputs"] = json_of(of.outputs);
  return report;
}

std::string text_of(const RunReport& of) {
  const RunResult& result = of.result;
  std::string text = std::string("party ") + letter(of.request.party) + ": " +
                     of.circuit.info().name + ", " + grouped(result.ands) + " ANDs (" +
                     grouped(gates_of(result)) + " gates) in " + seconds_text(result.wall_s) +
                     ", " + grouped(rate_of(result.ands, result)) + " ANDs/s, " +
                     std::string(name_of(result.phase)) + " on material of " +
                     profile_text(result.security) + "\n";
  for (const MaterialKind kind : kAllMaterialKinds)
    if (result.burnt[kind] > 0)
      text += grouped(result.burnt[kind]) + " " + std::string(name_of(kind)) +
              " were skipped, because the peer's store was ahead\n";
  return text + text_of(of.outputs);
}

}  // namespace

void print(Format format, const RunReport& report) {
  print_report(format, json_of(report), text_of(report));
}

void print(Format format, const ReserveReport& of) {
  const std::string party(1, letter(of.party)), number = std::to_string(of.material.number);
  Json report = {{"party", party},
                 {"command", "run --reserve-only"},
                 {"circuit", of.circuit.info().name},
                 {"fingerprint", text_of(of.circuit.fingerprint())},
                 {"reservation", of.material.number}};
  for (const MaterialKind kind : kAllMaterialKinds)
    if (of.material.count[kind] > 0)
      report["kinds"][std::string(name_of(kind))] = {{"first", of.material.first[kind]},
                                                     {"count", of.material.count[kind]}};
  print_report(format, report,
               "party " + party + ": material for " + of.circuit.info().name +
                   " is reserved; run it with --reservation " + number + "\n");
}

}  // namespace tinyot::tools
