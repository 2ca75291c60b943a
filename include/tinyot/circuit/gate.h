// The representation of circuits: a stream of gates, pushed by the generator and never held as a
// whole.
//
// A wire has one writer. A Free event means that no later gate reads it; its id may then be reused.
// Ids are small numbers that can index tables: the largest is of the order of the maximal number of
// live wires. Everything here is public: a circuit holds no input values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tinyot/export.h"
#include "tinyot/party.h"

namespace tinyot::circuit {

using WireId = std::uint64_t;
inline constexpr WireId kWireIdMax = WireId{1} << 31;  // every id is smaller

enum class GateKind : std::uint8_t {
  Input,   // out = bit `in1` of input bundle `in0`
  Const,   // out = public bit `in0`
  Xor,     // out = in0 ^ in1
  And,     // out = in0 & in1
  Not,     // out = ~in0
  Output,  // bit `in1` of output bundle `out` = wire in0
  Free,    // wire in0 has no further reader

  // Brackets around gates that an online phase may evaluate as one gate of several inputs; all
  // others evaluate the gates one by one. They do not nest. The wires that are made inside and not
  // freed at the end are the results. At most kGroupInputsMax wires from outside are read,
  // constants not counted; kGroupResultsMax results; kGroupAndsMax ANDs.
  GroupBegin,
  GroupEnd,
};
inline constexpr std::size_t kGroupInputsMax = 8, kGroupResultsMax = 8, kGroupAndsMax = 64;

struct Gate {
  GateKind kind;
  WireId out;
  WireId in0;
  WireId in1;
};

// A consumer of gates: layering, plain evaluation, cost, a file.
class TINYOT_API GateSink {
 public:
  virtual ~GateSink() = default;
  virtual void emit(const Gate& gate) = 0;
};

// Where the value of an input comes from: a party; both, who give the same value, which is
// therefore no secret between them (public: its wires are constants and take no material); or an
// output of an earlier circuit of the same session that stayed shared.
enum class InputSource : std::uint8_t { A = 0, B = 1, Shared = 2, Public = 3 };
inline constexpr std::array kInputSources = {InputSource::A, InputSource::B, InputSource::Shared,
                                             InputSource::Public};
// "A", "B", "shared" or "public".
constexpr std::string_view name_of(InputSource source) {
  constexpr std::string_view kNames[] = {"A", "B", "shared", "public"};
  return kNames[static_cast<std::size_t>(source)];
}
constexpr std::optional<InputSource> input_source_named(std::string_view name) {
  for (const InputSource source : kInputSources)
    if (name == name_of(source)) return source;
  return std::nullopt;
}
constexpr InputSource source_of(Party owner) {
  return owner == Party::A ? InputSource::A : InputSource::B;
}
// The party whose secret the input is, if it is one's.
constexpr std::optional<Party> owner_of(InputSource source) {
  if (source == InputSource::A) return Party::A;
  if (source == InputSource::B) return Party::B;
  return std::nullopt;
}
// Whether the party gives the value.
constexpr bool gives(InputSource source, Party party) {
  return source == InputSource::Public || source == source_of(party);
}

// The receivers of an output. An output that no party receives stays shared between them, for later
// circuits of the same session.
enum class Receiver : std::uint8_t { A = 0, B = 1, Both = 2, None = 3 };
// "A", "B", "both" or "none".
constexpr std::string_view name_of(Receiver to) {
  constexpr std::string_view kNames[] = {"A", "B", "both", "none"};
  return kNames[static_cast<std::size_t>(to)];
}
constexpr bool receives(Receiver receiver, Party party) {
  return receiver == Receiver::Both || receiver == (party == Party::A ? Receiver::A : Receiver::B);
}

// The text format of a bundle's values. Bytes: hex digits as in the standards, byte k on wires
// 8k..8k+7, lowest bit first. Integer: 0x..., bit j of the number on wire j. MsbInteger: wire 0 has
// the highest bit.
enum class ValueFormat : std::uint8_t { Bytes, Integer, MsbInteger };
// "bytes", "integer" or "msb-integer".
constexpr std::string_view name_of(ValueFormat format) {
  constexpr std::string_view kNames[] = {"bytes", "integer", "msb-integer"};
  return kNames[static_cast<std::size_t>(format)];
}

// How a circuit reads the bits of an input, and writes those of an output.
enum class Reading : std::uint8_t {
  Bits,      // it computes on bits, or does not say
  Unsigned,  // integers without a sign
  Signed,    // integers in two's complement
  Fixed,     // multiples of 2^-F in two's complement; the type fixN.F has F
  Text,      // strings of bytes, filled up with zeros, in the order of their bytes from the first
};
// "bits", "unsigned", "signed", "fixed" or "text".
constexpr std::string_view name_of(Reading reading) {
  constexpr std::string_view kNames[] = {"bits", "unsigned", "signed", "fixed", "text"};
  return kNames[static_cast<std::size_t>(reading)];
}

// What the owner's values of an input satisfy. The owner's program refuses others before it
// connects; a circuit that must not trust the owner checks them itself. They are no part of the
// fingerprint.
struct InputConditions {
  bool is_ascending = false;  // each value of a list is at least the one before
  bool is_distinct = false;   // no two values of a list are equal
  // Both numbers are included. They have 64 bits, in two's complement if the input is signed.
  struct Range {
    std::uint64_t lowest, highest;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::optional<Range> range = {};
  friend bool operator==(const InputConditions&, const InputConditions&) = default;
};

// `type` of a bundle is how its values are written, as the command's --type has it: "i32" is a
// signed integer of 32 bits, or a list of them if the bundle is wider, value k of which begins at
// bit 32 k. Without a type a bundle is one value. Types and readings are no part of the circuit's
// fingerprint; the reading follows from the type where there is one.
struct InputBundle {
  std::string name;
  std::uint32_t bits;
  InputSource source;
  ValueFormat format;
  // one value for all lanes, such as the AES key; otherwise each lane has its own. A shared value
  // of one lane is such an input.
  bool same_in_all_lanes;
  std::string type = {};
  Reading reading = Reading::Bits;
  InputConditions conditions = {};
};

struct OutputBundle {
  std::string name;
  std::uint32_t bits;
  Receiver to;
  ValueFormat format;
  std::string type = {};
  Reading reading = Reading::Bits;
};

struct CircuitInfo {
  std::string name;
  std::vector<InputBundle> inputs;
  std::vector<OutputBundle> outputs;
};

// A circuit is its interface and a program that emits its gates. generate() may be called any
// number of times and emits the same gates each time, with each input bit at most once and each
// output bit exactly once. The parties compare its fingerprint (tinyot/circuit/fingerprint.h).
class TINYOT_API Circuit {
 public:
  virtual ~Circuit() = default;
  virtual const CircuitInfo& info() const = 0;
  virtual void generate(GateSink& sink) const = 0;
};

}  // namespace tinyot::circuit
