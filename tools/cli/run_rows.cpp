// `tinyot run --rows`.

#include <algorithm>

#include "tinyot/run.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/run.h"
#include "tools/cli/run.h"

namespace tinyot::tools {
namespace {

// The costs of all runs; the phases are those of the connection.
void add(RunResult& sum, RunResult&& more) {
  more.ands += sum.ands;
  more.xors += sum.xors;
  more.and_rounds += sum.and_rounds;
  more.wire_wait_s += sum.wire_wait_s;
  more.store_wait_s += sum.store_wait_s;
  more.opening_s += sum.opening_s;
  more.blocks_s += sum.blocks_s;
  more.wall_s += sum.wall_s;
  more.burnt += sum.burnt;
  more.outputs = {};
  sum = std::move(more);
}

}  // namespace

WorkDone run_rows(const RunRequest& request, const RunSpec& spec) {
  const NamedCircuit circuit(spec.circuit);
  const Party party = request.party;
  RowsInput input(circuit, *spec.rows, spec.inputs, spec.circuit, party);
  const std::uint64_t rows = input.rows;
  OutputTable outputs(circuit, *spec.rows, spec.circuit, party);
  Progress progress("rows", spec.common.quiet);

  Evaluator evaluator(request);
  const auto rows_at = [&](std::uint64_t done) {
    return std::min(spec.rows->at_once, rows - done);
  };
  MaterialCounts needed;
  for (std::uint64_t done = input.first; done < rows; done += rows_at(done))
    needed += evaluator.needed(circuit.circuit(), rows_at(done));
  evaluator.require_material(needed);
  RunResult sum;
  std::uint64_t done = input.first;
  try {
    while (done < rows) {
      const std::uint64_t count = rows_at(done);
      RunResult result =
          evaluator.run(circuit.circuit(), input.next(count), {}, count,
                        std::to_string(rows) + " rows, from row " + std::to_string(done + 1));
      outputs.write(result.outputs, count);
      add(sum, std::move(result));
      done += count;
      progress.observe("rows", done, rows);
    }
  } catch (const Error&) {
    say_complete_rows(input.first, done);
    throw;
  }
  progress.end();
  print(spec.common.format, RunReport{request, circuit, sum, rows_at(input.first), rows, {}});
  return {0, sum.ands, sum.phases};
}

}  // namespace tinyot::tools
