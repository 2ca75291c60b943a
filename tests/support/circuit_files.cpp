#include "tests/support/circuit_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/sha2.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

using Widths = std::initializer_list<std::uint32_t>;

std::string bristol_fashion(Widths inputs, std::uint32_t output,
                            std::function<void(Builder&)> program) {
  CircuitInfo info{"test", {}, {integer_output("0", output)}};
  for (const std::uint32_t bits : inputs)
    info.inputs.push_back(integer_input(std::to_string(info.inputs.size()), bits, Party::A));
  std::ostringstream out;
  write_bristol_fashion(GeneratedCircuit(std::move(info), std::move(program)), out);
  return out.str();
}

using Operation = void (*)(std::span<Bit> out, BitSpan x, BitSpan y);

std::string of_integers(Operation operation) {
  return bristol_fashion({64, 64}, 64, [operation](Builder& builder) {
    Bits z(64);
    operation(z, builder.input(0), builder.input(1));
    builder.output(0, z);
  });
}

std::string negation() {
  return bristol_fashion({64}, 64, [](Builder& builder) {
    Bits z(64);
    subtract(z, Bits(64), builder.input(0));
    builder.output(0, z);
  });
}

std::string equality_with_zero() {
  return bristol_fashion(
      {64}, 1, [](Builder& builder) { builder.output_bit(0, 0, ~any(builder.input(0))); });
}

enum class BitOrder { LowestFirst, HighestFirst };

// Byte k of the FIPS order, in a bundle of 128 bits.
std::uint64_t first_bit(std::uint64_t k, BitOrder order) {
  return 8 * (order == BitOrder::LowestFirst ? 15 - k : k);
}

ByteWord input_byte(Builder& builder, std::uint32_t bundle, std::uint64_t k, BitOrder order) {
  Bits bits = builder.input_bits(bundle, first_bit(k, order), 8);
  if (order == BitOrder::HighestFirst) std::reverse(bits.begin(), bits.end());
  return ByteWord(bits);
}

std::string aes_128(std::uint32_t key_bundle, AesSbox sbox, BitOrder order) {
  return bristol_fashion({128, 128}, 128, [=](Builder& builder) {
    std::vector<ByteWord> key;
    AesState state;
    for (std::uint64_t k = 0; k < 16; ++k) {
      key.push_back(input_byte(builder, key_bundle, k, order));
      state[k] = input_byte(builder, 1 - key_bundle, k, order);
    }
    state = aes_encrypt(std::move(key), std::move(state), sbox);
    for (std::uint64_t k = 0; k < 16; ++k) {
      if (order == BitOrder::HighestFirst) std::ranges::reverse(state[k].bits());
      builder.output_bits(0, first_bit(k, order), state[k]);
    }
  });
}

std::string sha256_compression() {
  return bristol_fashion({512, 256}, 256, [](Builder& builder) {
    Sha2Block<32> block;
    Sha2State<32> hash;
    for (std::size_t i = 0; i < 16; ++i)
      block[i] = Word<32>(builder.input_bits(0, 32 * (15 - i), 32));
    for (std::size_t i = 0; i < 8; ++i) hash[i] = Word<32>(builder.input_bits(1, 32 * (7 - i), 32));
    sha2_compress<32>(hash, std::move(block));
    for (std::size_t i = 0; i < 8; ++i) builder.output_bits(0, 32 * (7 - i), hash[i]);
  });
}

// A half adder and full adders of one AND each. Sum and last carry are the last wires; their gates
// are between others.
std::string old_bristol_adder() {
  constexpr unsigned kBits = 32, kGates = 5 * kBits - 3, kWires = 2 * kBits + kGates;
  constexpr unsigned kSum = kWires - kBits - 1;
  std::ostringstream out;
  out << kGates << ' ' << kWires << '\n' << kBits << ' ' << kBits << "   " << kBits + 1 << "\n\n";
  unsigned next = 2 * kBits;
  const auto gate = [&out](unsigned x, unsigned y, unsigned z, const char* operation) {
    out << "2 1 " << x << ' ' << y << ' ' << z << ' ' << operation << '\n';
    return z;
  };
  unsigned carry = gate(0, kBits, next++, "AND");
  gate(0, kBits, kSum, "XOR");
  for (unsigned i = 1; i < kBits; ++i) {
    const unsigned x = gate(i, carry, next++, "XOR"), y = gate(kBits + i, carry, next++, "XOR");
    const unsigned both = gate(x, y, next++, "AND");
    gate(x, kBits + i, kSum + i, "XOR");
    carry = gate(both, carry, i + 1 < kBits ? next++ : kSum + kBits, "XOR");
  }
  return out.str();
}

// From the lowest bit up: the result so far, unless the current bits of a and b differ.
std::string truth_table_comparison() {
  std::ostringstream out;
  out << "2 1 0 16 32 0100\n";
  for (unsigned i = 1; i < 16; ++i)
    out << "3 1 " << i << ' ' << 16 + i << ' ' << 31 + i << ' ' << 32 + i << " 01110001\n";
  return out.str();
}

const std::map<std::string, std::function<std::string()>>& texts() {
  static const std::map<std::string, std::function<std::string()>> kTexts = {
      {"adder64.txt", [] { return of_integers(add); }},
      {"sub64.txt", [] { return of_integers(subtract); }},
      {"mult64.txt", [] { return of_integers(multiply); }},
      {"neg64.txt", negation},
      {"zero_equal.txt", equality_with_zero},
      {"aes_128.txt", [] { return aes_128(0, AesSbox::Small, BitOrder::LowestFirst); }},
      {"aes_128_msb.txt", [] { return aes_128(1, AesSbox::Shallow, BitOrder::HighestFirst); }},
      {"sha256.txt", sha256_compression},
      {"adder_32bit.txt", old_bristol_adder},
      {"lt16.lps", truth_table_comparison},
  };
  return kTexts;
}

}  // namespace

std::string circuit_file(const std::string& name) {
  static const TestDirectory directory;
  static std::mutex writing;  // the threads of both parties ask for the same file
  const std::lock_guard lock(writing);
  const fs::path file = directory / name;
  if (!fs::exists(file)) write_file(file, texts().at(name)());
  return file.string();
}

}  // namespace tinyot::test
