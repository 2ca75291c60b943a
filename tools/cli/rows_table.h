// Tables whose rows are evaluated one beside the other: of this party's inputs and of its outputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circuitgen/formats/column.h"
#include "system/csv.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::tools {

// What the command line says of them.
struct RowsSpec {
  std::filesystem::path file;
  std::shared_ptr<system::CsvReader> reader;  // of the file; null if there is a count
  std::optional<std::uint64_t> count;         // of rows, of a party without inputs of its own
  std::optional<std::filesystem::path> out;
  std::uint64_t at_once = 0;
  std::uint64_t first = 1;  // the row to begin with, counted from 1
};

// Adds the types of the columns, which may choose the circuit. Fails: as set_column_types().
void add_column_types(CircuitSpec& spec, const RowsSpec& rows);

void add_rows_options(Options& options);
// Absent without --rows. Reads the names of the columns. Fails: UsageError.
std::optional<RowsSpec> rows_from(const CommandLine& line);

// This party's inputs that differ from row to row, by the columns of its table.
class InputTable {
 public:
  // Fails: UsageError, as all below, naming file, line and column, never a value.
  InputTable(const NamedCircuit& circuit, const RowsSpec& rows, const CircuitSpec& spec,
             Party party);

  // Reads everything, and returns the number of rows.
  std::uint64_t check();
  void skip(std::uint64_t rows);
  // Sets the columns in `values` to the next rows.
  void read(std::uint64_t rows, Values& values);

 private:
  struct Column {
    std::size_t index;  // of the bundle
    std::string name;
    circuit::ColumnType type;
  };
  BitVector parse(std::size_t column) const;

  const NamedCircuit& circuit_;
  std::filesystem::path path_;
  std::shared_ptr<system::CsvReader> reader_;
  std::vector<Column> columns_;
};

// Rows in the file are complete. A file without rows is removed. From a later row than the first,
// the file is one that was begun, whose rows before that are kept.
class OutputTable {
 public:
  // Fails: UsageError for --out of a party that learns nothing, and without it of one that does.
  OutputTable(const NamedCircuit& circuit, const RowsSpec& rows, const CircuitSpec& spec,
              Party party);
  ~OutputTable();
  OutputTable(const OutputTable&) = delete;
  OutputTable& operator=(const OutputTable&) = delete;

  void write(const Values& outputs, std::uint64_t rows);

 private:
  void require_header(const std::vector<SecretText>& header) const;

  std::vector<std::pair<std::string, circuit::ColumnType>> columns_;  // by output
  std::filesystem::path path_;
  std::optional<system::CsvWriter> writer_;
  bool is_empty_ = true;
};

// Checks the tables of a party, and reads its inputs that are the same in all rows.
struct RowsInput {
  // Fails: UsageError.
  RowsInput(const NamedCircuit& circuit, const RowsSpec& rows, const InputTexts& inputs,
            const CircuitSpec& spec, Party party);

  Values values;
  std::optional<InputTable> table;
  std::uint64_t rows = 0, first = 0;  // first: rows before the one to begin with

  // The inputs of the next rows.
  const Values& next(std::uint64_t count);
};

// After a failure: how to go on after `done` rows, if there are more than `first`.
void say_complete_rows(std::uint64_t first, std::uint64_t done);

}  // namespace tinyot::tools
