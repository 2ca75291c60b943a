#include "circuitgen/formats/verilog/cells.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

using Input = std::function<Bits(const std::string&)>;

Bits extended(Bits value, std::size_t width, bool is_signed) {
  const Bit sign = is_signed && !value.empty() ? value.back() : Bit();
  value.resize(std::min(value.size(), width));
  while (value.size() < width) value.push_back(sign);
  return value;
}

// Operands are signed only if both are.
bool is_signed(const Cell& cell) {
  return cell.number("A_SIGNED") != 0 &&
         (!cell.parameters.contains("B_SIGNED") || cell.number("B_SIGNED") != 0);
}

std::size_t width_of(const Cell& cell) { return cell.outputs.begin()->second.size(); }

// `condition` ? -x : x.
Bits negated_if(const Bit& condition, Bits x) {
  for (Bit& bit : x) bit ^= condition;
  Bits one(x.size());
  if (!one.empty()) one[0] = condition;
  add(x, x, one);
  return x;
}

Bits sum(const Cell& cell, const Input& input,
         void (*operation)(std::span<Bit>, BitSpan, BitSpan)) {
  Bits out(width_of(cell));
  operation(out, extended(input("A"), out.size(), is_signed(cell)),
            extended(input("B"), out.size(), is_signed(cell)));
  return out;
}

Bits negative(const Cell& cell, const Input& input) {
  Bits out(width_of(cell));
  subtract(out, Bits(out.size()), extended(input("A"), out.size(), is_signed(cell)));
  return out;
}

// Signed: the products with one sign bit count negatively. A negative bit of weight 2^k is the
// complement with weight 2^k, less 2^k, and all these constants are added at once, so a signed
// product takes the ANDs of an unsigned one (Baugh, Wooley, IEEE Transactions on Computers C-22,
// 1973).
Bits product(const Cell& cell, const Input& input) {
  const Bits a = input("A"), b = input("B");
  const bool is_signed_product = is_signed(cell);
  const std::size_t width = std::min(width_of(cell), a.size() + b.size());
  BitSum sum(width);
  std::vector<bool> negative_weights(width);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size() && i + j < width; ++j) {
      const bool is_negative = is_signed_product && (i + 1 == a.size()) != (j + 1 == b.size());
      sum.add((a[i] & b[j]) ^ Bit(is_negative), i + j);
      // subtracts 2^(i + j) from the constant, modulo 2^width
      for (std::size_t k = i + j; is_negative && k < width; ++k) {
        negative_weights[k] = !negative_weights[k];
        if (!negative_weights[k]) break;
      }
    }
  for (std::size_t k = 0; k < width; ++k)
    if (negative_weights[k]) sum.add(Bit(true), k);
  return extended(std::move(sum).total(), width_of(cell), is_signed_product);
}

// Rounds towards 0; the remainder has the sign of the dividend, as in Verilog. The ports are
// kRemainder and kQuotient, or one of them.
Bits quotient_and_remainder(const Cell& cell, const Input& input) {
  Bits a = input("A"), b = input("B");
  Bit sign_a, sign_b;
  if (is_signed(cell) && !a.empty() && !b.empty()) {
    sign_a = a.back();
    sign_b = b.back();
    a = negated_if(sign_a, std::move(a));
    b = negated_if(sign_b, std::move(b));
  }
  const bool has_remainder = cell.outputs.contains(kRemainder);
  Bits quotient(a.size()), remainder(has_remainder ? b.size() : 0), out;
  divide(quotient, remainder, a, b);
  for (const auto& [port, nets] : cell.outputs) {
    const bool is_remainder = port == kRemainder;
    Bits& magnitude = is_remainder ? remainder : quotient;
    Bits value = negated_if(is_remainder ? sign_a : sign_a ^ sign_b,
                            extended(std::move(magnitude), nets.size(), false));
    std::move(value.begin(), value.end(), std::back_inserter(out));
  }
  return out;
}

// a < b, or b < a if `is_swapped`, or the contrary.
Bits comparison(const Cell& cell, const Input& input, bool is_swapped, bool is_negated) {
  Bits a = input("A"), b = input("B");
  const std::size_t width = std::max(a.size(), b.size());
  a = extended(std::move(a), width, is_signed(cell));
  b = extended(std::move(b), width, is_signed(cell));
  if (is_signed(cell) && width > 0) {
    a.back() = ~a.back();
    b.back() = ~b.back();
  }
  Bits out(width_of(cell));
  if (!out.empty()) out[0] = (is_swapped ? less(b, a) : less(a, b)) ^ Bit(is_negated);
  return out;
}

// The value of B whose bit of S is 1, of which there is at most one, else A.
Bits one_of_many(const Cell& cell, const Input& input) {
  const Bits a = input("A"), b = input("B"), s = input("S");
  if (b.size() != a.size() * s.size()) refuse(cell, "has ports of widths that do not fit");
  Bits out = a;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < out.size(); ++j) out[j] ^= s[i] & (a[j] ^ b[i * a.size() + j]);
  return out;
}

constexpr std::size_t kTableBitsMax = 16;

// Without the highest bits that are the constant 0.
std::size_t significant_bits(std::span<const Net> address) {
  std::size_t bits = address.size();
  while (bits > 0 && address[bits - 1] == 0) --bits;
  return bits;
}

// A memory that is only read; entries that it does not have are 0.
class Table {
 public:
  explicit Table(const Cell& cell)
      : width_(cell.number("WIDTH")), size_(cell.number("SIZE")), first_(cell.number("OFFSET")),
        ports_(cell.number("RD_PORTS")), address_bits_(cell.number("ABITS")),
        content_(cell.text("INIT")), address_nets_(cell.input("RD_ADDR")) {
    const auto is_split = [&](const Nets& nets, std::uint64_t width) {
      return ports_ > 0 && nets.size() % ports_ == 0 && nets.size() / ports_ == width;
    };
    if (!is_split(address_nets_, address_bits_) || !is_split(cell.outputs.at("RD_DATA"), width_))
      refuse(cell, "has ports of other widths than its parameters say");
  }

  std::size_t ports() const { return ports_; }
  // None if the table has one entry.
  std::size_t address_bits(std::size_t port) const {
    return significant_bits(std::span(address_nets_).subspan(port * address_bits_, address_bits_));
  }

  void read(Bits& out, std::size_t port, BitSpan addresses) const {
    const BitSpan address = addresses.subspan(port * address_bits_, address_bits(port));
    for (std::uint64_t from = 0; from < width_; from += kPart) {
      Bits part(std::min(kPart, width_ - from));
      look_up(part, rows(from, part.size(), address.size()), address);
      std::move(part.begin(), part.end(), std::back_inserter(out));
    }
  }

 private:
  static constexpr std::uint64_t kPart = 64;  // bits that one look_up reads

  std::vector<std::uint64_t> rows(std::uint64_t from, std::size_t bits,
                                  std::size_t address_bits) const {
    std::vector<std::uint64_t> rows(std::size_t{1} << address_bits);
    for (std::uint64_t row = 0; row < size_ && first_ + row < rows.size(); ++row)
      for (std::size_t j = 0; j < bits; ++j) {
        const std::uint64_t place = row * width_ + from + j;
        const bool is_set = place < content_.size() && content_[content_.size() - 1 - place] == '1';
        rows[first_ + row] |= std::uint64_t{is_set} << j;
      }
    return rows;
  }

  std::uint64_t width_, size_, first_, ports_, address_bits_;
  const std::string& content_;
  const Nets& address_nets_;
};

Bits look_up_all(const Cell& cell, const Input& input) {
  const Table table(cell);
  const Bits addresses = input("RD_ADDR");
  Bits out;
  for (std::size_t port = 0; port < table.ports(); ++port) table.read(out, port, addresses);
  return out;
}

std::string unsupported_memory(const Cell& cell) {
  if (cell.number("WR_PORTS") != 0 || cell.text("RD_CLK_ENABLE").find('1') != std::string::npos)
    return "is a memory that is written or clocked: a circuit keeps no state";
  const Table table(cell);
  for (std::size_t port = 0; port < table.ports(); ++port)
    if (table.address_bits(port) > kTableBitsMax)
      return "is a table with an index of more than " + std::to_string(kTableBitsMax) + " bits";
  return "";
}

Bits gate(Bit value) {
  Bits out;
  out.push_back(std::move(value));
  return out;
}

// The only bit of a port.
Bit bit(const Cell& cell, const Input& input, const char* port) {
  Bits bits = input(port);
  if (bits.size() != 1) refuse(cell, std::string("has not one bit at its port ") + port);
  return std::move(bits[0]);
}

using Function = Bits (*)(const Cell&, const Input&);

// Gates of one bit, by the names of Yosys; the gate library has the same without "$_" and "_".
const std::map<std::string, Function>& gates() {
  static const std::map<std::string, Function> kGates = {
      {"BUF", [](const Cell& c, const Input& in) { return gate(bit(c, in, "A")); }},
      {"NOT", [](const Cell& c, const Input& in) { return gate(~bit(c, in, "A")); }},
      {"AND",
       [](const Cell& c, const Input& in) { return gate(bit(c, in, "A") & bit(c, in, "B")); }},
      {"NAND",
       [](const Cell& c, const Input& in) { return gate(~(bit(c, in, "A") & bit(c, in, "B"))); }},
      {"OR",
       [](const Cell& c, const Input& in) { return gate(bit(c, in, "A") | bit(c, in, "B")); }},
      {"NOR",
       [](const Cell& c, const Input& in) { return gate(~(bit(c, in, "A") | bit(c, in, "B"))); }},
      {"XOR",
       [](const Cell& c, const Input& in) { return gate(bit(c, in, "A") ^ bit(c, in, "B")); }},
      {"XNOR",
       [](const Cell& c, const Input& in) { return gate(~(bit(c, in, "A") ^ bit(c, in, "B"))); }},
      {"ANDNOT",
       [](const Cell& c, const Input& in) { return gate(bit(c, in, "A") & ~bit(c, in, "B")); }},
      {"ORNOT",
       [](const Cell& c, const Input& in) { return gate(bit(c, in, "A") | ~bit(c, in, "B")); }},
      {"MUX",
       [](const Cell& c, const Input& in) {
         return gate(select(bit(c, in, "S"), bit(c, in, "B"), bit(c, in, "A")));
       }},
      {"MAJ",
       [](const Cell& c, const Input& in) {
         return gate(full_add(bit(c, in, "A"), bit(c, in, "B"), bit(c, in, "C")).carry);
       }},
  };
  return kGates;
}

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> kFunctions = [] {
    std::map<std::string, Function> all = {
        {"$add", [](const Cell& c, const Input& in) { return sum(c, in, add); }},
        {"$sub", [](const Cell& c, const Input& in) { return sum(c, in, subtract); }},
        {"$neg", negative},
        {"$mul", product},
        {"$div", quotient_and_remainder},
        {"$mod", quotient_and_remainder},
        {"$lt", [](const Cell& c, const Input& in) { return comparison(c, in, false, false); }},
        {"$ge", [](const Cell& c, const Input& in) { return comparison(c, in, false, true); }},
        {"$gt", [](const Cell& c, const Input& in) { return comparison(c, in, true, false); }},
        {"$le", [](const Cell& c, const Input& in) { return comparison(c, in, true, true); }},
        {"$pmux", one_of_many},
        {"$mem_v2", look_up_all},
        {"TINYOT_ZERO", [](const Cell&, const Input&) { return gate(Bit(false)); }},
        {"TINYOT_ONE", [](const Cell&, const Input&) { return gate(Bit(true)); }},
    };
    for (const auto& [name, function] : gates()) {
      all["$_" + name + "_"] = function;
      all["TINYOT_" + name] = function;
    }
    return all;
  }();
  return kFunctions;
}

}  // namespace

bool is_output(const std::string& port) { return port == "Y" || port == "RD_DATA"; }

std::string unsupported(const Cell& cell) {
  if (!functions().contains(cell.type)) return "is of a kind that circuits do not have";
  const bool is_memory = cell.type == "$mem_v2";
  if (cell.outputs.size() != 1 || !cell.outputs.contains(is_memory ? "RD_DATA" : kQuotient))
    return "has not the outputs of its kind";
  return is_memory ? unsupported_memory(cell) : "";
}

std::uint64_t bit_operations(const Cell& cell) {
  if (cell.type == "$mul" || cell.type == "$div" || cell.type == "$mod")
    return std::uint64_t{cell.input("A").size()} * cell.input("B").size();
  std::uint64_t operations = 0;
  for (const auto& [port, nets] : cell.inputs) operations += nets.size();
  if (cell.type == "$mem_v2") {
    const Table table(cell);
    for (std::size_t port = 0; port < table.ports(); ++port)
      operations += cell.number("WIDTH") << table.address_bits(port);
  }
  return operations;
}

Bits evaluate(const Cell& cell, const Input& input) {
  Bits out = functions().at(cell.type)(cell, input);
  std::size_t bits = 0;
  for (const auto& [port, nets] : cell.outputs) bits += nets.size();
  if (out.size() != bits) refuse(cell, "has outputs of another width than its kind");
  return out;
}

}  // namespace tinyot::circuit
