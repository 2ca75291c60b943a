#include "circuitgen/formats/gate_stream.h"

#include <algorithm>
#include <bit>

namespace tinyot::circuit {
namespace {

// The function of a truth table over the distinct wires among its inputs.
struct TableFunction {
  std::array<std::size_t, 3>
      operands{};  // index of the first occurrence of each distinct wire among the inputs
  std::uint8_t function = 0;  // argument of and_plan
};

TableFunction function_of(const FileGate& gate) {
  const auto ins = gate.ins();
  TableFunction result;
  std::array<std::size_t, 3> different{};  // by input: its index among the distinct wires
  std::size_t count = 0;
  for (std::size_t i = 0; i < ins.size(); ++i) {
    const auto first =
        static_cast<std::size_t>(std::find(ins.begin(), ins.end(), ins[i]) - ins.begin());
    different[i] = first == i ? count : different[first];
    if (first == i) result.operands[count++] = i;
  }
  for (unsigned row = 0; row < 8; ++row) {
    unsigned table_row = 0;
    for (std::size_t i = 0; i < ins.size(); ++i)
      table_row = 2 * table_row + ((row >> different[i]) & 1);
    result.function =
        static_cast<std::uint8_t>(result.function | ((gate.table >> table_row) & 1) << row);
  }
  return result;
}

}  // namespace

bool GateStream::input(FileWire wire, std::uint32_t bundle, std::uint32_t bit, bool read) {
  return !read || wires_.add(wire, emit(GateKind::Input, bundle, bit));
}

bool GateStream::gate(const FileGate& gate) {
  if (gate.in_count + gate.out_count > reads_.size() - next_read_) return false;
  if (gate.in_count == 2 &&
      (gate.operation == FileOperation::Xor || gate.operation == FileOperation::And))
    return binary(gate);
  // All inputs are looked up before the first output is made: the ANDs of a MAND share the reads of
  // a wire.
  if (operands_.size() < gate.in_count) operands_.resize(gate.in_count);
  for (std::size_t i = 0; i < gate.in_count; ++i) {
    if (!read(gate.wires[i], next_read(), operands_[i])) return false;
  }
  const bool fits = gate.operation == FileOperation::Copy    ? copy(gate)
                    : gate.operation == FileOperation::Table ? table(gate)
                                                             : make(gate);
  for (std::size_t i = 0; i < gate.in_count; ++i) release(operands_[i]);
  return fits;
}

bool GateStream::output(FileWire wire, std::uint32_t bundle, std::uint32_t bit) {
  Operand operand{};
  if (!read(wire, true, operand)) return false;
  sink_.emit({GateKind::Output, bundle, operand.id, bit});
  release(operand);
  return true;
}

bool GateStream::read(FileWire wire, bool last, Operand& operand) {
  const FileWires::Place place = last ? wires_.take(wire) : wires_.find(wire);
  if (place == FileWires::kNone) return false;
  operand = {place, wires_.id(place), last};
  return true;
}

void GateStream::release(const Operand& operand) {
  if (operand.last && wires_.release(operand.place)) free(operand.id);
}

bool GateStream::write(FileWire wire, WireId id, bool read) {
  if (read) return wires_.add(wire, id);
  free(id);
  return true;
}

WireId GateStream::emit(GateKind kind, WireId in0, WireId in1) {
  const WireId id = ids_.take();
  sink_.emit({kind, id, in0, in1});
  return id;
}

// The fast path, for nearly all gates.
bool GateStream::binary(const FileGate& gate) {
  Operand x{}, y{};
  if (!read(gate.wires[0], next_read(), x) || !read(gate.wires[1], next_read(), y)) return false;
  const WireId out =
      emit(gate.operation == FileOperation::Xor ? GateKind::Xor : GateKind::And, x.id, y.id);
  release(x);
  release(y);
  return write(gate.wires[2], out, next_read());
}

// Other gates without a truth table.
bool GateStream::make(const FileGate& gate) {
  const auto outs = gate.outs();
  for (std::size_t i = 0; i < outs.size(); ++i) {
    WireId id = 0;
    switch (gate.operation) {
      case FileOperation::And:
        id = emit(GateKind::And, operands_[i].id, operands_[outs.size() + i].id);
        break;
      case FileOperation::Not:
        id = emit(GateKind::Not, operands_[0].id, 0);
        break;
      default:
        id = emit(GateKind::Const, gate.table, 0);
    }
    if (!write(outs[i], id, next_read())) return false;
  }
  return true;
}

bool GateStream::copy(const FileGate& gate) {
  return !next_read() || wires_.add_name(gate.outs()[0], operands_[0].place);
}

bool GateStream::table(const FileGate& gate) {
  const TableFunction function = function_of(gate);
  const AndPlan& plan = and_plan(function.function);
  const FileWire out = gate.outs()[0];
  const bool read = next_read();
  if (std::popcount(plan.sum) == 1 && (plan.sum & kSumOne) == 0 && plan.ands == 0) {
    const Operand& same =
        operands_[function.operands[static_cast<std::size_t>(std::countr_zero(plan.sum))]];
    return !read || wires_.add_name(out, same.place);
  }
  for (std::size_t i = 0; i < gate.in_count; ++i)
    term_wires_[i] = operands_[function.operands[i]].id;
  for (std::size_t k = 0; k < plan.ands; ++k) {
    const Term x = sum(plan.factors[k][0]), y = sum(plan.factors[k][1]);
    term_wires_[3 + k] = emit(GateKind::And, x.id, y.id);
    free_made(x);
    free_made(y);
  }
  const Term result = sum(plan.sum);
  for (std::size_t k = 0; k < plan.ands; ++k) {
    if (term_wires_[3 + k] != result.id) free(term_wires_[3 + k]);
  }
  return write(out, result.id, read);
}

GateStream::Term GateStream::sum(std::uint8_t terms) {
  constexpr std::uint8_t kWires[5] = {kSumInput[0], kSumInput[1], kSumInput[2], kSumProduct[0],
                                      kSumProduct[1]};
  if ((terms & ~kSumOne) == 0) return {emit(GateKind::Const, (terms & kSumOne) != 0, 0), true};
  Term total{0, false};
  bool any = false;
  const auto replace = [&](WireId id) {
    free_made(total);
    total = {id, true};
  };
  for (std::size_t i = 0; i < std::size(kWires); ++i) {
    if ((terms & kWires[i]) == 0) continue;
    if (any) {
      replace(emit(GateKind::Xor, total.id, term_wires_[i]));
    } else {
      total = {term_wires_[i], false};
      any = true;
    }
  }
  if ((terms & kSumOne) != 0) replace(emit(GateKind::Not, total.id, 0));
  return total;
}

}  // namespace tinyot::circuit
