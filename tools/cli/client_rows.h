// `tinyot client run --rows`: a table through the daemon.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "service/client.h"
#include "tools/cli/rows_table.h"

namespace tinyot::tools {

// What the daemon is told of the circuit of a job beside its name. Fails: UsageError for --to,
// which is for runs without a daemon.
struct JobCircuit {
  std::optional<circuit::CircuitFileOptions> file;  // of a circuit file
  std::string online;                               // the phase; empty: as the daemon is configured
};
JobCircuit job_circuit_from(const CommandLine& line, const CircuitSpec& spec,
                            const NamedCircuit& circuit);

// A job for each `at_once` rows, two of them at a time, on the lanes of a circuit. Their ids have
// the number of all rows, so that nothing is evaluated if the parties have different numbers. All
// rows are read before the first job is submitted. Prints the report, and returns the exit status.
// Fails: UsageError as InputTable; the error of the first job that fails, and the others are
// cancelled, as all are after a signal. Rows in the file of outputs are complete.
int run_client_rows(const CommandLine& line, const RowsSpec& rows,
                    service::DaemonConnection& daemon);

}  // namespace tinyot::tools
