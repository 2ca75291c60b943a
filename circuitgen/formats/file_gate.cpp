#include "circuitgen/formats/file_gate.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "circuitgen/formats/line_scanner.h"

namespace tinyot::circuit {
namespace {

constexpr std::size_t kTableInputsMax = 3;

// The numbers of inputs and outputs, and the wires. Each wire takes at least two characters, so the
// line length bounds the memory.
bool scan_wires(LineScanner& scan, std::size_t line_length, FileGate& gate) {
  std::uint32_t ins = 0, outs = 0;
  if (!scan.number(ins) || !scan.number(outs) || ins > line_length || outs > line_length)
    return false;
  gate.in_count = ins;
  gate.out_count = outs;
  const std::size_t count = gate.in_count + gate.out_count;
  if (count > line_length) return false;
  if (count > gate.wires.size()) gate.wires.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!scan.number(gate.wires[i])) return false;
  }
  return true;
}

struct BristolOperation {
  std::string_view word;
  FileOperation operation;
  std::size_t ins_per_out;
  bool many;
};
constexpr BristolOperation kBristolOperations[] = {
    {"XOR", FileOperation::Xor, 2, false},     {"AND", FileOperation::And, 2, false},
    {"INV", FileOperation::Not, 1, false},     {"EQW", FileOperation::Copy, 1, false},
    {"EQ", FileOperation::Constant, 1, false}, {"MAND", FileOperation::And, 2, true},
};

const BristolOperation* find_operation(std::string_view word) {
  for (const BristolOperation& operation : kBristolOperations) {
    if (operation.word == word) return &operation;
  }
  return nullptr;
}

bool fits(const BristolOperation& operation, std::uint64_t ins, std::uint64_t outs) {
  return (operation.many ? outs >= 1 : outs == 1) && ins == operation.ins_per_out * outs;
}

bool parse_bristol(std::string_view line, FileGate& gate) {
  LineScanner scan(line);
  if (!scan_wires(scan, line.size(), gate)) return false;
  const BristolOperation* operation = find_operation(scan.word());
  if (operation == nullptr || !scan.at_end() || !fits(*operation, gate.in_count, gate.out_count))
    return false;
  gate.operation = operation->operation;
  if (gate.operation == FileOperation::Constant) {
    if (gate.wires[0] > 1) return false;
    gate.table = static_cast<std::uint8_t>(gate.wires[0]);
    gate.wires[0] = gate.wires[1];
    gate.in_count = 0;
  }
  return true;
}

bool parse_table(std::string_view line, FileGate& gate) {
  LineScanner scan(line);
  if (!scan_wires(scan, line.size(), gate) || gate.in_count > kTableInputsMax ||
      gate.out_count != 1)
    return false;
  const std::string_view digits = scan.word();
  if (digits.size() != std::size_t{1} << gate.in_count || !scan.at_end()) return false;
  gate.operation = FileOperation::Table;
  gate.table = 0;
  for (std::size_t row = 0; row < digits.size(); ++row) {
    if (digits[row] != '0' && digits[row] != '1') return false;
    gate.table = static_cast<std::uint8_t>(gate.table | (digits[row] - '0') << row);
  }
  return true;
}

// Diagnoses a rejected line, word by word.
class Refusal {
 public:
  explicit Refusal(const FileLines& lines) : lines_(lines), words_(lines.words()) {}

  [[noreturn]] void bristol() const {
    check_length("operation");
    const BristolOperation* operation = find_operation(words_.back());
    if (operation == nullptr) {
      lines_.fail("unknown operation " + FileLines::shown(words_.back()) +
                  "; the operations are XOR, AND, INV, EQW, EQ, MAND");
    }
    check_counts();
    const std::uint64_t ins = count(0), outs = count(1);
    if (!fits(*operation, ins, outs)) {
      lines_.fail(std::string(operation->word) + " cannot have " + std::to_string(ins) +
                  " inputs and " + std::to_string(outs) + " outputs");
    }
    check_wires();
    if (operation->operation == FileOperation::Constant)
      lines_.fail("the constant of EQ must be 0 or 1");
    lines_.fail("this is not a gate");
  }

  [[noreturn]] void table() const {
    check_length("truth table");
    const std::string_view digits = words_.back();
    if (digits.find_first_not_of("01") != std::string_view::npos) {
      lines_.fail(FileLines::shown(digits) +
                  " is not a truth table, which has the digits 0 and 1 only");
    }
    check_counts();
    if (count(0) > kTableInputsMax)
      lines_.fail("a gate has at most three inputs, not " + std::to_string(count(0)));
    if (count(1) != 1) lines_.fail("a gate has one output, not " + std::to_string(count(1)));
    const std::size_t rows = std::size_t{1} << count(0);
    if (digits.size() != rows) {
      lines_.fail("the truth table has " + std::to_string(digits.size()) + " digits, but " +
                  std::to_string(count(0)) + " inputs need " + std::to_string(rows));
    }
    check_wires();
    lines_.fail("this is not a gate");
  }

 private:
  std::uint64_t count(std::size_t index) const {
    const std::uint64_t value = lines_.integer(words_[index]);
    if (words_[index].size() > LineScanner::kDigitsMax)
      lines_.fail("the number " + FileLines::shown(words_[index]) + " has too many digits");
    return value;
  }

  void check_length(const char* last) const {
    if (words_.size() >= 3) return;
    lines_.fail(
        std::string("a gate needs the numbers of its inputs and outputs, its wires and its ") +
        last);
  }

  void check_counts() const {
    const std::uint64_t ins = count(0), outs = count(1);
    const std::size_t wires = words_.size() - 3;
    if (ins <= wires && outs <= wires && ins + outs == wires) return;
    lines_.fail("the gate announces " + std::to_string(ins) + " inputs and " +
                std::to_string(outs) + " outputs, but " + std::to_string(wires) +
                " wires are given");
  }

  void check_wires() const {
    for (std::size_t i = 2; i + 1 < words_.size(); ++i) {
      if (count(i) >= kFileWiresMax)
        lines_.fail("wire " + std::to_string(count(i)) + " is out of range for any circuit");
    }
  }

  const FileLines& lines_;
  const std::vector<std::string_view> words_;
};

}  // namespace

bool parse_gate(FileFormat format, std::string_view line, FileGate& gate) {
  return format == FileFormat::TruthTables ? parse_table(line, gate) : parse_bristol(line, gate);
}

void refuse_gate(FileFormat format, const FileLines& lines) {
  const Refusal refusal(lines);
  if (format == FileFormat::TruthTables) refusal.table();
  refusal.bristol();
}

}  // namespace tinyot::circuit
