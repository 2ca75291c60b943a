// Circuits: made by a C++ function over bits and integers, by name, or from a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "tinyot/circuit/gate.h"
#include "tinyot/circuit/word.h"
#include "tinyot/party.h"

namespace tinyot::circuit {

// What a function that makes a circuit works with: it declares inputs and outputs as it goes. Names
// are unique among the inputs, and among the outputs.
class Program {
 public:
  // An integer of `bits` bits, owned by a party.
  Number input(const std::string& name, std::uint32_t bits, Party owner);
  // The same value in all lanes.
  Number common_input(const std::string& name, std::uint32_t bits, Party owner);
  // A value that is shared since an earlier circuit (tinyot/run.h).
  Number shared_input(const std::string& name, std::uint32_t bits);
  template <std::size_t n>
  Word<n> input(const std::string& name, Party owner) {
    return Word<n>(input(name, static_cast<std::uint32_t>(n), owner));
  }

  void output(const std::string& name, BitSpan value, Receiver to = Receiver::Both);
  void output(const std::string& name, const Bit& value, Receiver to = Receiver::Both) {
    output(name, BitSpan(&value, 1), to);
  }

 private:
  friend class FunctionCircuit;
  Program(Builder& builder, CircuitInfo& info, bool declares)
      : builder_(builder), info_(info), declares_(declares) {}
  Number declare(const InputBundle& bundle);

  Builder& builder_;
  CircuitInfo& info_;
  bool declares_;  // the first time; afterwards the declarations must be the same
  std::uint32_t inputs_ = 0, outputs_ = 0;
};

// A circuit from a function. It is called now, to learn its inputs and outputs, and again whenever
// the circuit is generated, from the thread that needs it: each time it makes the same gates.
// Gates are used as they are made, so the circuit may be larger than memory.
// Fails: whatever the function throws; std::logic_error if it declares a name twice, or
// something else than the first time.
std::unique_ptr<Circuit> make_circuit(std::string name, std::function<void(Program&)> function);

// A built-in circuit with its parameters, as "aes128" or "sort:elements=64" (`tinyot circuit list`
// has all of them). Fails: UsageError.
std::unique_ptr<Circuit> named_circuit(const std::string& name);

// From a file in one of the Bristol formats. Input bundle 1 is B's, the others A's; outputs go to
// both parties. Fails: UsageError naming the line.
std::unique_ptr<Circuit> read_circuit_file(const std::filesystem::path& file);

}  // namespace tinyot::circuit
