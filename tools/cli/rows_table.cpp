#include "tools/cli/rows_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "base/error.h"
#include "base/lane_bits.h"
#include "circuitgen/formats/reading.h"
#include "tools/cli/log.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kRowsAtOnce = std::uint64_t{1} << 13;

// NAME or NAME:TYPE.
struct ColumnName {
  std::string name, type;
};
ColumnName column_name(const std::string& text) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  return {text.substr(0, colon), colon < text.size() ? text.substr(colon + 1) : ""};
}

// By --type, the name of the column, or the circuit, in this order. A list is one number.
template <class Bundle>
circuit::ColumnType type_of(const NamedCircuit& circuit, const CircuitSpec& spec,
                            const Bundle& bundle) {
  const auto given = [&](const std::map<std::string, std::string>& types) {
    const auto found = types.find(bundle.name);
    return found == types.end() ? std::string() : found->second;
  };
  try {
    std::string type = given(spec.types);
    if (std::is_same_v<Bundle, circuit::InputBundle> && type.empty())
      type = given(spec.column_types);
    if (!type.empty())
      circuit.require_fit(bundle, type);
    else if (!spec.msb_first && circuit::ValueType::parse(bundle.type).width == bundle.bits)
      type = bundle.type;
    if (!type.empty() && spec.msb_first)
      throw UsageError("types are for numbers whose lowest bit comes first, not --bit-order msb");
    const circuit::ValueFormat format = circuit::BundleReading(bundle).written_format();
    return {type, bundle.bits, spec.msb_first ? mirrored(format) : format, spec.output_base};
  } catch (const UsageError& error) {
    throw UsageError("column " + bundle.name + ": " + error.what());
  }
}

// Inputs that are the same in all rows.
Values common_values(const NamedCircuit& circuit, const InputTexts& inputs, Party party) {
  Values values = parse_inputs(circuit, inputs);
  std::vector<std::string> missing;
  for (const circuit::InputBundle& bundle : circuit.info().inputs) {
    const bool is_wanted = gives(bundle.source, party) && bundle.same_in_all_lanes,
               is_given = values.contains(bundle.name);
    if (is_wanted && !is_given) missing.push_back("--input " + bundle.name + "=...");
    if (!is_wanted && is_given)
      throw UsageError("--input " + bundle.name +
                       (gives(bundle.source, party) ? ": its values are a column of --rows"
                                                    : " does not belong to this party"));
  }
  refuse_missing(missing, std::string(" (of party ") + letter(party) + ")");
  return values;
}

std::uint64_t rows_of(const RowsSpec& rows, std::optional<InputTable>& table) {
  const std::uint64_t count = table ? table->check() : *rows.count;
  if (count == 0) throw UsageError("--rows: there are no rows");
  if (count > engine::LoadedCircuit::kLanesMax)
    throw UsageError("--rows: at most 2^24 rows in one run");
  return count;
}

}  // namespace

InputTable::InputTable(const NamedCircuit& circuit, const RowsSpec& rows, const CircuitSpec& spec,
                       Party party)
    : circuit_(circuit), path_(rows.file), reader_(rows.reader) {
  std::set<std::size_t> found;
  for (const std::string& text : reader_->header()) {
    const ColumnName column = column_name(text);
    const std::size_t index = circuit.input_index(column.name);
    const circuit::InputBundle& bundle = circuit.info().inputs[index];
    if (!gives(bundle.source, party))
      throw UsageError(path_.string() + ": input " + column.name + " does not belong to party " +
                       letter(party));
    if (bundle.same_in_all_lanes)
      throw UsageError(path_.string() + ": input " + column.name +
                       " is the same in all rows: give it with --input");
    if (!found.insert(index).second)
      throw UsageError(path_.string() + ": column " + column.name + " occurs twice");
    columns_.push_back({index, bundle.name, type_of(circuit, spec, bundle)});
  }
  for (std::size_t i = 0; i < circuit.info().inputs.size(); ++i) {
    const circuit::InputBundle& bundle = circuit.info().inputs[i];
    if (gives(bundle.source, party) && !bundle.same_in_all_lanes && !found.contains(i))
      throw UsageError(path_.string() + " has no column " + bundle.name);
  }
}

std::uint64_t InputTable::check() {
  std::uint64_t rows = 0;
  while (reader_->next()) {
    for (std::size_t i = 0; i < columns_.size(); ++i) (void)parse(i);
    ++rows;
  }
  reader_->restart();
  return rows;
}

void InputTable::skip(std::uint64_t rows) {
  while (rows-- > 0 && reader_->next()) {
  }
}

void InputTable::read(std::uint64_t rows, Values& values) {
  std::vector<LaneMatrix> columns;
  for (const Column& column : columns_)
    columns.emplace_back(rows, circuit_.info().inputs[column.index].bits);
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!reader_->next()) throw UsageError(path_.string() + " has changed while it was read");
    for (std::size_t i = 0; i < columns_.size(); ++i) set_lane(columns[i], row, parse(i));
  }
  for (std::size_t i = 0; i < columns_.size(); ++i)
    values.set(columns_[i].name, std::move(columns[i]));
}

BitVector InputTable::parse(std::size_t i) const {
  const circuit::ColumnType& type = columns_[i].type;
  const std::string_view field = view_of(reader_->fields()[i]);
  try {
    BitVector value = type.parse(field);
    if (const auto& bundle = circuit_.info().inputs[columns_[i].index];
        bundle.conditions != circuit::InputConditions{}) {
      LaneMatrix row(1, bundle.bits);
      set_lane(row, 0, value);
      circuit::require_conditions(bundle, row);
    }
    return value;
  } catch (const UsageError& error) {
    const bool is_list = !type.is_text() && split_values(field).size() > 1;
    throw UsageError(reader_->where() + ", column " + columns_[i].name + ": " + error.what() +
                     (is_list ? "; a cell holds one value: lists take --lanes and --input" : ""));
  }
}

OutputTable::OutputTable(const NamedCircuit& circuit, const RowsSpec& rows, const CircuitSpec& spec,
                         Party party) {
  std::vector<SecretText> header;
  for (std::size_t i = 0; i < circuit.info().outputs.size(); ++i) {
    const circuit::OutputBundle& bundle = circuit.info().outputs[i];
    if (!circuit::receives(bundle.to, party)) continue;
    columns_.push_back({bundle.name, type_of(circuit, spec, bundle)});
    const std::string& type = columns_.back().second.name();
    header.push_back(secret_text(bundle.name + (type.empty() ? "" : ":" + type)));
  }
  if (columns_.empty() != !rows.out)
    throw UsageError(columns_.empty()
                         ? std::string("party ") + letter(party) + " learns no output: no --out"
                         : "--rows needs --out FILE for the outputs");
  if (!rows.out) return;
  path_ = *rows.out;
  if (rows.first > 1) {
    is_empty_ = false;
    require_header(header);
    writer_.emplace(path_, rows.first);  // lines, with that of the names
    return;
  }
  writer_.emplace(path_);
  writer_->write_row(header);
  writer_->flush();
}

void OutputTable::require_header(const std::vector<SecretText>& header) const {
  const system::CsvReader begun(path_);
  if (!std::ranges::equal(begun.header(), header, {}, {}, view_of))
    throw UsageError(path_.string() +
                     " has other columns than this run: its rows are not those before --from-row");
}

OutputTable::~OutputTable() {
  std::error_code error;
  if (writer_ && is_empty_) std::filesystem::remove(path_, error);
}

void OutputTable::write(const Values& outputs, std::uint64_t rows) {
  if (!writer_) return;
  is_empty_ = false;
  std::vector<SecretText> fields(columns_.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      fields[i] = columns_[i].second.print(to_bits(outputs.at(columns_[i].first)[row]));
    writer_->write_row(fields);
  }
  writer_->flush();
}

RowsInput::RowsInput(const NamedCircuit& circuit, const RowsSpec& rows_spec,
                     const InputTexts& inputs, const CircuitSpec& spec, Party party) {
  values = common_values(circuit, inputs, party);
  if (!rows_spec.count) table.emplace(circuit, rows_spec, spec, party);
  const auto is_column = [&](const circuit::InputBundle& bundle) {
    return gives(bundle.source, party) && !bundle.same_in_all_lanes;
  };
  if (rows_spec.count && std::ranges::any_of(circuit.info().inputs, is_column))
    throw UsageError("--rows needs a file with this party's inputs, not a number");
  rows = rows_of(rows_spec, table);
  first = rows_spec.first - 1;
  if (rows_spec.first < 1 || first >= rows)
    throw UsageError("--from-row is out of range: 1 to " + std::to_string(rows));
  if (table) table->skip(first);
}

const Values& RowsInput::next(std::uint64_t count) {
  if (table) table->read(count, values);
  return values;
}

void add_column_types(CircuitSpec& spec, const RowsSpec& rows) {
  if (rows.reader == nullptr) return;
  std::map<std::string, std::string> types;
  for (const std::string& text : rows.reader->header())
    if (const auto [name, type] = column_name(text); !type.empty()) types.emplace(name, type);
  set_column_types(spec, std::move(types));
}

void add_rows_options(Options& options) {
  options.group("Rows")
      .value("rows",
             "FILE.csv: a row for each evaluation, with a column for each input of this party; or "
             "the number of rows, if it has none")
      .value("out", "FILE.csv for the outputs (mode 0600), with a row for each row; a new file")
      .value("from-row",
             "the row to begin with, counted from 1, to go on after a run that broke off: --out "
             "keeps the rows before it; the same at both parties",
             "1")
      .value("rows-at-once",
             "rows that are evaluated together: more take more memory, and less "
             "time on links with a long round-trip time",
             std::to_string(kRowsAtOnce))
      .advanced();
}

std::optional<RowsSpec> rows_from(const CommandLine& line) {
  if (!line.has("rows")) {
    for (const char* option : {"out", "from-row"})
      if (line.is_explicit(option)) throw UsageError("--" + std::string(option) + " is for --rows");
    return std::nullopt;
  }
  const std::string lanes = "each row is a lane", reserved = "material is taken as rows come";
  const std::pair<const char*, std::string> others[] = {
      {"live", "make the material first, with preprocess"},
      {"lanes", lanes},
      {"blocks", lanes},
      {"output", "outputs go to --out"},
      {"reserve-only", reserved},
      {"reservation", reserved},
      {"wait", "it ends with the last job"},
      {"forget", "it is so without it"}};
  for (const auto& [option, why] : others)
    if (line.is_explicit(option))
      throw UsageError("--rows cannot be combined with --" + std::string(option) + ": " + why);
  RowsSpec rows;
  rows.file = line.text("rows") == "-" ? "/dev/stdin" : line.text("rows");
  if (!std::filesystem::exists(rows.file) &&
      rows.file.string().find_first_not_of("0123456789") == std::string::npos)
    rows.count = line.size("rows");
  else
    rows.reader = std::make_shared<system::CsvReader>(rows.file);
  if (line.has("out")) rows.out = line.text("out");
  rows.first = line.size("from-row");
  rows.at_once = line.size("rows-at-once");
  if (rows.at_once < 1 || rows.at_once > engine::LoadedCircuit::kLanesMax)
    throw UsageError("--rows-at-once is out of range: 1 to 2^24");
  return rows;
}

void say_complete_rows(std::uint64_t first, std::uint64_t done) {
  if (done > first)
    log_line(LogLevel::Warning,
             std::to_string(done) + " rows are complete: both parties go on with --from-row " +
                 std::to_string(done + 1) + ", or with the peer's number if it is less");
}

}  // namespace tinyot::tools
