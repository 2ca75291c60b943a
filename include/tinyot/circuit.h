// Circuits: made by a C++ function over bits and integers, by name, or from a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "tinyot/circuit/gate.h"
#include "tinyot/circuit/operators.h"
#include "tinyot/export.h"
#include "tinyot/party.h"

namespace tinyot::circuit {

// The argument of a function that describes a circuit: it declares the inputs and outputs. No two
// inputs have the same name, and no two outputs.
class Program {
 public:
  // An integer of `bits` bits, from a party, from both, or shared (tinyot/run.h).
  TINYOT_API Number input(const std::string& name, std::uint32_t bits, InputSource source);
  Number input(const std::string& name, std::uint32_t bits, Party owner) {
    return input(name, bits, source_of(owner));
  }
  TINYOT_API SignedNumber signed_input(const std::string& name, std::uint32_t bits,
                                       InputSource source);
  SignedNumber signed_input(const std::string& name, std::uint32_t bits, Party owner) {
    return signed_input(name, bits, source_of(owner));
  }
  // The same value in all lanes.
  TINYOT_API Number common_input(const std::string& name, std::uint32_t bits, InputSource source);
  Number common_input(const std::string& name, std::uint32_t bits, Party owner) {
    return common_input(name, bits, source_of(owner));
  }
  template <std::size_t n>
  Word<n> input(const std::string& name, Party owner) {
    return Word<n>(input(name, static_cast<std::uint32_t>(n), owner));
  }
  template <std::size_t n>
  SignedWord<n> signed_input(const std::string& name, Party owner) {
    return SignedWord<n>(signed_input(name, static_cast<std::uint32_t>(n), owner).bits());
  }

  TINYOT_API void output(const std::string& name, BitSpan value, Receiver to = Receiver::Both);
  void output(const std::string& name, const Bit& value, Receiver to = Receiver::Both) {
    output(name, BitSpan(&value, 1), to);
  }
  template <UnsignedInteger W>
  void output(const std::string& name, const W& value, Receiver to = Receiver::Both) {
    output(name, BitSpan(value), to);
    set_output_reading(name, Reading::Unsigned);
  }
  template <class W>
  void output(const std::string& name, const Signed<W>& value, Receiver to = Receiver::Both) {
    output(name, value.bits(), to);
    set_output_reading(name, Reading::Signed);
    set_output_type(name, type_of_signed(value.size()));
  }

  // The type of an input or an output that has been declared (tinyot/circuit/gate.h), such as "u8"
  // for a list of bytes, with the reading that follows from it. Signed ones of at most 2^15 bits
  // have theirs. Fails: UsageError for an unknown name, an unknown type, or one of which the width
  // is no multiple.
  TINYOT_API void set_input_type(const std::string& name, const std::string& type);
  TINYOT_API void set_output_type(const std::string& name, const std::string& type);
  // The reading of a value that has no type, such as bits that are no number. Fails: UsageError for
  // an unknown name.
  TINYOT_API void set_input_reading(const std::string& name, Reading reading);
  TINYOT_API void set_output_reading(const std::string& name, Reading reading);
  // What the owner's values have to satisfy, which its program checks before it connects. Fails:
  // UsageError for an unknown name, or conditions that an input of this reading cannot have.
  TINYOT_API void set_input_conditions(const std::string& name, const InputConditions& conditions);

 private:
  friend class FunctionCircuit;
  Program(Builder& builder, CircuitInfo& info, bool declares)
      : builder_(builder), info_(info), declares_(declares) {}
  Number declare(const InputBundle& bundle);
  TINYOT_API static std::string type_of_signed(std::size_t bits);

  Builder& builder_;
  CircuitInfo& info_;
  bool declares_;  // true in the first call; later calls must make the same declarations
  std::uint32_t inputs_ = 0, outputs_ = 0;
};

// Makes a circuit from a function. The function is called at once, to learn the inputs and outputs,
// and again whenever the circuit is generated, on the thread that generates it; each call must
// declare and emit the same, and a run checks that (tinyot/run.h). Gates are consumed as they are
// emitted, so the circuit may be larger than memory.
// Fails: whatever the function throws; UsageError if it declares a name twice, or no output.
// generate(): as well, and UsageError if the declarations differ from those of the first call.
TINYOT_API std::unique_ptr<Circuit> make_circuit(std::string name,
                                                 std::function<void(Program&)> function);

// A built-in circuit with its parameters, such as "aes128" or "sort:count=64" (`tinyot circuit
// list` prints all of them). Fails: UsageError.
TINYOT_API std::unique_ptr<Circuit> named_circuit(const std::string& name);

// The name of the built-in circuit that is like the named one, but compares values of `type` in the
// input or output `bundle`: "millionaires:signed=1" for "millionaires", "a", "i32". Empty if there
// is none. Fails: UsageError for an unknown type.
TINYOT_API std::string circuit_name_for(const std::string& name, const std::string& bundle,
                                        const std::string& type);

// Reads a circuit from a file in one of the Bristol formats. If the file has no description of them
// (`tinyot circuit convert` writes one), input bundle 1 belongs to B, the others to A, and both
// parties receive the outputs. Fails: UsageError naming the line.
TINYOT_API std::unique_ptr<Circuit> read_circuit_file(const std::filesystem::path& file);

// Writes a circuit as a file in the Bristol Fashion format, with a description of its inputs and
// outputs and their types, so that read_circuit_file() and the command return the same circuit;
// only its name becomes that of the file. The circuit is generated three times. The file gets its
// name when it is complete, and replaces another one. Fails: UsageError for a name that is empty or
// has white space, and for a circuit that is not the same each time; Error if the file cannot be
// written; as generate().
TINYOT_API void write_circuit_file(const Circuit& circuit, const std::filesystem::path& file);

}  // namespace tinyot::circuit
