#include "circuitgen/formats/circuit_file.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/file_check.h"
#include "circuitgen/formats/gate_stream.h"
#include "circuitgen/formats/last_reads.h"

namespace tinyot::circuit {
namespace {

class FileCircuit final : public CircuitFile {
 public:
  FileCircuit(std::shared_ptr<const TextSource> text, const std::string& name,
              const CircuitFileOptions& options)
      : text_(std::move(text)), file_(check_file(*text_, options.bundles)),
        reads_(find_last_reads(*text_, file_)) {
    info_.name = name;
    name_bundles(options);
  }

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override;
  bool has_description() const override { return file_.description.has_value(); }

 private:
  void name_bundles(const CircuitFileOptions& options);

  std::shared_ptr<const TextSource> text_;
  CheckedFile file_;
  LastReads reads_;
  CircuitInfo info_;
};

// The bundle that an option names by its number.
template <class Bundles>
auto& bundle_numbered(Bundles& bundles, const std::vector<std::uint32_t>& numbers,
                      std::uint32_t number, const std::string& file, const char* what) {
  const auto found = std::ranges::find(numbers, number);
  if (found == numbers.end())
    throw UsageError(file + ": no " + what + " bundle " + std::to_string(number));
  return bundles[static_cast<std::size_t>(found - numbers.begin())];
}

// Of each of the bundles; those without bits, which only a description has, have none.
template <class Bundles>
std::vector<std::uint32_t> numbers_of(const Bundles& bundles) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(bundles.size());
  std::uint32_t next = 0;
  for (const auto& bundle : bundles) numbers.push_back(bundle.bits == 0 ? UINT32_MAX : next++);
  return numbers;
}

void FileCircuit::name_bundles(const CircuitFileOptions& options) {
  std::vector<std::uint32_t> inputs, outputs;  // numbers
  if (file_.description) {
    info_.inputs = file_.description->inputs;
    info_.outputs = file_.description->outputs;
    inputs = numbers_of(info_.inputs);
    outputs = numbers_of(info_.outputs);
  } else {
    for (std::uint32_t i = 0; i < file_.input_widths.size(); ++i) {
      if (file_.input_widths[i] == 0) continue;
      info_.inputs.push_back({std::to_string(i), file_.input_widths[i], default_source(i),
                              ValueFormat::Integer, false});
      inputs.push_back(i);
    }
    for (std::uint32_t i = 0; i < file_.output_widths.size(); ++i) {
      if (file_.output_widths[i] == 0) continue;
      info_.outputs.push_back(
          {std::to_string(i), file_.output_widths[i], Receiver::Both, ValueFormat::Integer});
      outputs.push_back(i);
    }
  }
  if (options.other_receivers)
    for (OutputBundle& bundle : info_.outputs) bundle.to = *options.other_receivers;
  for (const auto& [number, source] : options.sources)
    bundle_numbered(info_.inputs, inputs, number, text_->name(), "input").source = source;
  for (const auto& [number, to] : options.receivers)
    bundle_numbered(info_.outputs, outputs, number, text_->name(), "output").to = to;
}

void FileCircuit::generate(GateSink& sink) const {
  FileLines lines(*text_);
  GateStream stream(sink, reads_);
  const auto require = [&lines](bool fits) {
    if (!fits) lines.fail_changed();
  };
  for (std::uint64_t i = 0; i < file_.header_lines; ++i) require(lines.next());
  std::size_t index = 0;
  for (std::uint32_t bundle = 0; bundle < info_.inputs.size(); ++bundle) {
    for (std::uint32_t bit = 0; bit < info_.inputs[bundle].bits; ++bit, ++index) {
      require(stream.input(file_.inputs[index], bundle, bit, reads_.input_read[index]));
    }
  }
  FileGate gate{};
  for (std::uint64_t i = 0; i < file_.gate_lines; ++i) {
    require(lines.next() && parse_gate(file_.format, lines.line(), gate) && stream.gate(gate));
  }
  require(!lines.next() && lines.digest() == file_.digest && stream.complete());
  index = 0;
  for (std::uint32_t bundle = 0; bundle < info_.outputs.size(); ++bundle) {
    for (std::uint32_t bit = 0; bit < info_.outputs[bundle].bits; ++bit, ++index) {
      require(stream.output(file_.outputs[index], bundle, bit));
    }
  }
}

}  // namespace

std::unique_ptr<CircuitFile> open_circuit_file(const std::filesystem::path& file,
                                               const CircuitFileOptions& options) {
  return read_circuit(open_text_file(file), file.stem().string(), options);
}

std::unique_ptr<CircuitFile> read_circuit(std::shared_ptr<const TextSource> text,
                                          const std::string& name,
                                          const CircuitFileOptions& options) {
  return std::make_unique<FileCircuit>(std::move(text), name, options);
}

}  // namespace tinyot::circuit
