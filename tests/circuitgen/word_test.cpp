#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "circuitgen/cost.h"
#include "circuits.h"
#include "tests/support/layers.h"
#include "tests/support/refusal.h"
#include "tinyot/circuit/operators.h"

namespace tinyot {
namespace {

using test::refusal;

using Program = std::function<Number(const Number& x, const Number& y)>;
using Reference = std::function<std::uint64_t(std::uint64_t x, std::uint64_t y)>;

// A circuit of two inputs of `bits` bits and one output of `out_bits`.
TestCircuit binary(std::uint32_t bits, std::uint32_t out_bits, Program program) {
  CircuitInfo info = test_info({bits, bits}, {out_bits});
  return TestCircuit(info, [info, program = std::move(program)](GateSink& sink) {
    Builder builder(sink, info);
    const Number x(builder.input(0)), y(builder.input(1));
    builder.output(0, program(x, y));
  });
}

std::uint64_t mask(std::size_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

BitVector value_of(std::uint64_t value, std::size_t bits) {
  BitVector result(bits);
  if (bits > 0) result.words()[0] = value;
  return result;
}

// All pairs up to 5 bits, as lanes; 300 random pairs for larger widths, some with a small second
// operand.
void expect_function(std::uint32_t bits, std::uint32_t out_bits, const Program& program,
                     const Reference& reference) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  if (bits <= 5) {
    for (std::uint64_t x = 0; x <= mask(bits); ++x) {
      for (std::uint64_t y = 0; y <= mask(bits); ++y) pairs.emplace_back(x, y);
    }
  } else {
    std::mt19937_64 rng(bits);
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t x = rng() & mask(bits);
      for (const std::uint64_t y : {rng() & mask(bits), rng() % 80 & mask(bits), x})
        pairs.emplace_back(x, y);
    }
  }
  std::vector<LaneValues> inputs(2);
  for (const auto& [x, y] : pairs) {
    inputs[0].push_back(value_of(x, bits));
    inputs[1].push_back(value_of(y, bits));
  }
  const std::vector<LaneValues> outputs =
      evaluate(binary(bits, out_bits, program), pairs.size(), inputs);
  for (std::size_t lane = 0; lane < pairs.size(); ++lane) {
    const auto [x, y] = pairs[lane];
    EXPECT_EQ(outputs[0][lane].words()[0], reference(x, y) & mask(out_bits))
        << bits << " bits, " << x << " and " << y;
  }
}

void expect_function_of_all_widths(const Program& program, const Reference& reference) {
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 16, 63, 64})
    expect_function(bits, bits, program, reference);
}

Number number_of(Bit bit) { return Number(Bits{std::move(bit)}); }

CircuitCost cost_of_function(std::uint32_t bits, std::uint32_t out_bits, const Program& program) {
  return cost_of(binary(bits, out_bits, program));
}

TEST(Integer, BitwiseOperatorsMatchIntegers) {
  expect_function_of_all_widths([](const Number& x, const Number& y) { return x ^ y; },
                                std::bit_xor<>());
  expect_function_of_all_widths([](const Number& x, const Number& y) { return x & y; },
                                std::bit_and<>());
  expect_function_of_all_widths([](const Number& x, const Number& y) { return x | y; },
                                std::bit_or<>());
  expect_function_of_all_widths([](const Number& x, const Number&) { return ~x; },
                                [](auto x, auto) { return ~x; });
}

TEST(Integer, ArithmeticIsModuloAPowerOfTwo) {
  const Program add = [](const Number& x, const Number& y) { return x + y; };
  const Program subtract = [](const Number& x, const Number& y) { return x - y; };
  expect_function_of_all_widths(add, std::plus<>());
  expect_function_of_all_widths(subtract, std::minus<>());
  expect_function_of_all_widths([](const Number& x, const Number& y) { return x * y; },
                                std::multiplies<>());
  for (const std::uint32_t bits : {1, 2, 7, 32}) {
    for (const Program& program : {add, subtract}) {
      const CircuitCost cost = cost_of_function(bits, bits, program);
      EXPECT_EQ(cost.ands, bits - 1);
      EXPECT_EQ(cost.and_depth, bits - 1);
      EXPECT_LT(cost.xors, 4 * bits);
    }
  }
}

TEST(Integer, FullProductHasAllItsBits) {
  const Program full_product = [](const Number& x, const Number& y) {
    Number product(2 * x.size());
    multiply(product.bits(), x, y);
    return product;
  };
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 31}) {
    expect_function(bits, 2 * bits, full_product, std::multiplies<>());
    EXPECT_LE(cost_of_function(bits, 2 * bits, full_product).ands, 2 * bits * bits - bits);
  }
}

// x by the lowest `divisor_bits` bits of y: the quotient, and the remainder above it.
Program division(std::uint32_t divisor_bits, bool has_remainder) {
  return [=](const Number& x, const Number& y) {
    Number result(x.size() + (has_remainder ? divisor_bits : 0));
    divide(result.bits().first(x.size()), result.bits().subspan(x.size()), x,
           BitSpan(y).first(divisor_bits));
    return result;
  };
}

TEST(Integer, DividesAllSmallAndRandomLargeNumbers) {
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 6, 16, 31, 32})
    for (const std::uint32_t divisor_bits : {1u, 2u, 3u, 5u, 16u, bits})
      for (const bool has_remainder : {true, false}) {
        if (divisor_bits > bits) continue;
        expect_function(bits, bits + (has_remainder ? divisor_bits : 0),
                        division(divisor_bits, has_remainder), [=](auto x, auto y) {
                          y &= mask(divisor_bits);
                          const std::uint64_t quotient = y == 0 ? mask(bits) : x / y,
                                              remainder = y == 0 ? x : x % y;
                          return quotient | (remainder & mask(divisor_bits)) << bits;
                        });
      }
}

TEST(Integer, DividesByWiderNumbers) {
  for (const std::uint32_t bits : {1, 2, 3, 7})
    expect_function(
        12, bits + 12,
        [=](const Number& x, const Number& y) {
          Number result(bits + 12);
          divide(result.bits().first(bits), result.bits().subspan(bits), BitSpan(x).first(bits), y);
          return result;
        },
        [=](auto x, auto y) {
          x &= mask(bits);
          return y == 0 ? mask(bits) | x << bits : x / y | x % y << bits;
        });
}

// More than 64 bits: q * y + r = x and r < y, computed by circuits that are tested above.
TEST(Integer, DivisionOfLongNumbersInvertsMultiplication) {
  for (const std::uint32_t bits : {65, 70}) {
    const TestCircuit circuit =
        TestCircuit(test_info({bits, bits}, {bits, 1}), [=](GateSink& sink) {
          const CircuitInfo info = test_info({bits, bits}, {bits, 1});
          Builder builder(sink, info);
          const Number x(builder.input(0)), y(builder.input(1));
          Number quotient(bits), remainder(bits);
          divide(quotient.bits(), remainder.bits(), x, y);
          builder.output(0, quotient * y + remainder);
          builder.output_bit(1, 0, less(remainder, y));
        });
    std::mt19937_64 rng(bits);
    std::vector<LaneValues> inputs(2);
    for (std::uint32_t lane = 0; lane < 300; ++lane)
      for (LaneValues& values : inputs) {
        const std::uint32_t width = &values == &inputs[0] ? bits : 1 + lane % bits;
        BitVector value(bits);
        for (std::uint32_t i = 0; i < width; ++i) value.put(i, (rng() & 1) != 0);
        value.put(width - 1, true);
        values.push_back(value);
      }
    const std::vector<LaneValues> outputs = evaluate(circuit, inputs[0].size(), inputs);
    for (std::size_t lane = 0; lane < inputs[0].size(); ++lane) {
      EXPECT_TRUE(outputs[1][lane][0]) << lane;
      EXPECT_TRUE(std::ranges::equal(outputs[0][lane].words(), inputs[0][lane].words())) << lane;
    }
  }
}

TEST(Integer, DivisionTakesStatedAnds) {
  const auto ands = [](std::uint32_t bits, std::uint32_t divisor_bits, bool has_remainder) {
    return cost_of_function(bits, bits + (has_remainder ? divisor_bits : 0),
                            division(divisor_bits, has_remainder))
        .ands;
  };
  for (const std::uint32_t n : {1, 2, 7, 32, 64})
    for (const std::uint32_t m : {1u, 2u, 5u, n}) {
      if (m > n) continue;
      const std::uint64_t stated = std::max(n * m - m * (m - 1) / 2 + n + m - 2, 1u);
      EXPECT_LE(ands(n, m, false), stated) << n << " by " << m;
      EXPECT_LE(ands(n, m, true), stated + 2 * m - 1) << n << " by " << m;
    }
  EXPECT_EQ(ands(64, 64, false), 2205u);
  EXPECT_EQ(ands(64, 64, true), 2205u + 127u);
}

TEST(Integer, AddsIntoAnOperand) {
  expect_function_of_all_widths(
      [](const Number& x, const Number& y) {
        Number z = x;
        add(z.bits(), z, y);
        subtract(z.bits(), y, z);
        return z;
      },
      [](auto x, auto) { return 0 - x; });
}

TEST(Integer, CarrySaveHasTheSameSum) {
  const Program three = [](const Number& x, const Number& y) {
    Number sum(x.size()), carries(x.size());
    carry_save(sum.bits(), carries.bits(), x, y, x ^ y);
    return sum + carries;
  };
  expect_function_of_all_widths(three, [](auto x, auto y) { return x + y + (x ^ y); });
  EXPECT_EQ(cost_of_function(32, 32, three).ands, 31u + 30u);
}

TEST(Integer, ComparesAsUnsigned) {
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 16, 63, 64}) {
    const Program less_than = [](const Number& x, const Number& y) {
      return number_of(less(x, y));
    };
    const Program equals = [](const Number& x, const Number& y) { return number_of(equal(x, y)); };
    expect_function(bits, 1, less_than, std::less<>());
    expect_function(bits, 1, equals, std::equal_to<>());
    EXPECT_EQ(cost_of_function(bits, 1, less_than).ands, bits);
    EXPECT_EQ(cost_of_function(bits, 1, equals).ands, bits - 1);
    EXPECT_EQ(cost_of_function(bits, 1, equals).and_depth,
              static_cast<std::uint64_t>(std::bit_width(bits - 1)));
  }
}

TEST(Integer, AnyAndAllBits) {
  for (const std::uint32_t bits : {1, 2, 3, 5, 17}) {
    expect_function(
        bits, 1, [](const Number& x, const Number&) { return number_of(any(x)); },
        [](auto x, auto) { return x != 0; });
    expect_function(
        bits, 1, [](const Number&, const Number& y) { return number_of(all(y)); },
        [bits](auto, auto y) { return y == mask(bits); });
  }
  EXPECT_FALSE(any({}).constant());
  EXPECT_TRUE(all({}).constant());
}

TEST(Integer, SelectTakesOneAndPerBit) {
  const Program larger = [](const Number& x, const Number& y) { return select(less(x, y), y, x); };
  expect_function_of_all_widths(larger, [](auto x, auto y) { return std::max(x, y); });
  EXPECT_EQ(cost_of_function(20, 20, larger).ands, 40u);
}

TEST(Integer, ExchangeTakesOneAndPerBit) {
  const Program sorted_difference = [](const Number& x, const Number& y) {
    Number low = x, high = y;
    exchange(less(high, low), low.bits(), high.bits());
    return high - low;
  };
  expect_function_of_all_widths(sorted_difference,
                                [](auto x, auto y) { return x < y ? y - x : x - y; });
  EXPECT_EQ(cost_of_function(20, 20, sorted_difference).ands, 20u + 20 + 19);
}

TEST(Integer, ShiftsByPublicCountsTakeNoGate) {
  for (const std::uint32_t bits : {1, 4, 64}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{63},
                                    std::size_t{64}, ~std::size_t{0}}) {
      expect_function(
          bits, bits, [&](const Number& x, const Number&) { return shifted_left(x, count); },
          [&](auto x, auto) { return count < bits ? x << count : 0; });
      expect_function(
          bits, bits, [&](const Number& x, const Number&) { return shifted_right(x, count); },
          [&](auto x, auto) { return count < bits ? x >> count : 0; });
      const std::size_t turn = count % bits;
      expect_function(
          bits, bits, [&](const Number& x, const Number&) { return rotated_left(x, turn); },
          [&](auto x, auto) { return turn == 0 ? x : x << turn | x >> (bits - turn); });
      expect_function(
          bits, bits, [&](const Number& x, const Number&) { return rotated_right(x, turn); },
          [&](auto x, auto) { return turn == 0 ? x : x >> turn | x << (bits - turn); });
    }
  }
  EXPECT_EQ(
      cost_of_function(64, 64, [](const Number& x, const Number&) { return shifted_left(x, 5u); })
          .ands,
      0u);
}

TEST(Integer, ShiftsBySecretCounts) {
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 16, 33, 64}) {
    const Program left = [](const Number& x, const Number& y) { return shifted_left(x, y); };
    expect_function(bits, bits, left, [&](auto x, auto y) { return y < bits ? x << y : 0; });
    expect_function(
        bits, bits, [](const Number& x, const Number& y) { return shifted_right(x, y); },
        [&](auto x, auto y) { return y < bits ? x >> y : 0; });
    const std::uint64_t stages = static_cast<std::uint64_t>(std::bit_width(bits - 1));
    EXPECT_LE(cost_of_function(bits, bits, left).ands, bits * stages + bits + (bits - stages - 1));
  }
}

TEST(Integer, CountsBitsWithTheFewestAnds) {
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 7, 8, 15, 31, 64}) {
    const std::uint32_t out_bits = static_cast<std::uint32_t>(std::bit_width(bits));
    const Program count = [](const Number& x, const Number&) {
      return Number(population_count(x));
    };
    expect_function(bits, out_bits, count,
                    [](auto x, auto) { return static_cast<std::uint64_t>(std::popcount(x)); });
    EXPECT_EQ(cost_of_function(bits, out_bits, count).ands,
              bits - static_cast<std::uint32_t>(std::popcount(bits)));
  }
  // More bits than a BitSum holds.
  const std::uint32_t many = 10000, out_bits = 14;
  const Program count = [](const Number& x, const Number&) { return Number(population_count(x)); };
  const TestCircuit circuit = binary(many, out_bits, count);
  EXPECT_EQ(cost_of(circuit).ands, many - static_cast<std::uint32_t>(std::popcount(many)));
  std::mt19937_64 rng(3);
  const std::vector<LaneValues> inputs = random_inputs(circuit.info(), 2, rng);
  const std::vector<LaneValues> outputs = evaluate(circuit, 2, inputs);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    std::uint64_t ones = 0;
    for (const std::uint64_t word : inputs[0][lane].words())
      ones += static_cast<std::uint64_t>(std::popcount(word));
    EXPECT_EQ(outputs[0][lane].words()[0], ones);
  }
}

TEST(Integer, LooksUpInATable) {
  for (const std::uint32_t bits : {1, 2, 3, 5, 8}) {
    std::mt19937_64 rng(bits);
    std::vector<std::uint64_t> table(std::size_t{1} << bits);
    for (std::uint64_t& entry : table) entry = rng() & mask(12);
    const Program program = [&table](const Number& x, const Number&) {
      Number entry(12);
      look_up(entry.bits(), table, x);
      return entry;
    };
    expect_function(bits, 12, program, [&table](auto x, auto) { return table[x]; });
    EXPECT_LE(cost_of_function(bits, 12, program).ands, table.size() - bits - 1);
  }
}

TEST(Integer, Divides) {
  const Program quotient = [](const Number& x, const Number& y) {
    Number q(x.size()), r(x.size());
    divide(q.bits(), r.bits(), x, y);
    return q;
  };
  const Program remainder = [](const Number& x, const Number& y) {
    Number q(x.size()), r(x.size());
    divide(q.bits(), r.bits(), x, y);
    return r;
  };
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 13, 32}) {
    expect_function(bits, bits, quotient,
                    [&](auto x, auto y) { return y == 0 ? mask(bits) : x / y; });
    expect_function(bits, bits, remainder, [](auto x, auto y) { return y == 0 ? x : x % y; });
    EXPECT_LE(cost_of_function(bits, bits, quotient).ands, bits * bits + 3 * bits - 2);
  }
}

TEST(Integer, RejectsOperandsOfDifferentWidths) {
  const Number x(3), y(4);
  const std::string otherwise =
      " have 3 and 4 bits: convert one of them with to_unsigned or to_signed";
  EXPECT_EQ(refusal([&] { x + y; }), "the operands of +" + otherwise);
  EXPECT_EQ(refusal([&] { SignedNumber(x) * SignedNumber(y); }), "the operands of *" + otherwise);
  EXPECT_EQ(refusal([&] { (void)(x < y); }), "the operands of <" + otherwise);
  EXPECT_EQ(refusal([&] { (void)(x >= y); }), "the operands of >=" + otherwise);
  EXPECT_EQ(refusal([&] { less(x, y); }), "the operands of less" + otherwise);
  EXPECT_EQ(refusal([&] { select(Bit(true), x, y); }), "the operands of select" + otherwise);
  EXPECT_EQ(refusal([&] { divide(x, y); }), "the operands of a division" + otherwise);
  Number out(5);
  EXPECT_EQ(refusal([&] { add(out.bits(), x, x); }),
            "the result of add has 5 bits, and its operands 3");
  EXPECT_EQ(refusal([&] { Word<3> word(y.bits()); }),
            "the operands of a conversion to a Word" + otherwise);
}

TEST(Integer, RejectsConstantsAndCountsThatDoNotFit) {
  const Number x(8);
  const SignedNumber s(8);
  EXPECT_EQ(refusal([&] { x + 255; }), "nothing is refused");
  EXPECT_EQ(refusal([&] { x + 256; }), "256 is not a value of an unsigned integer of 8 bits");
  EXPECT_EQ(refusal([&] { -1 - x; }), "-1 is not a value of an unsigned integer of 8 bits");
  EXPECT_EQ(refusal([&] { (void)(s < 127); }), "nothing is refused");
  EXPECT_EQ(refusal([&] { (void)(s < 128); }), "128 is not a value of a signed integer of 8 bits");
  EXPECT_EQ(refusal([&] { s * -128; }), "nothing is refused");
  EXPECT_EQ(refusal([&] { s * -129; }), "-129 is not a value of a signed integer of 8 bits");
  EXPECT_EQ(refusal([&] { (void)(s << -1); }), "the count of a shift is negative: -1");
  EXPECT_EQ(refusal([&] { SignedNumber(80) + std::int64_t{-5}; }), "nothing is refused");
  EXPECT_TRUE(SignedNumber::constant(80, -5)[79].constant());
  EXPECT_FALSE(SignedWord<80>::constant(5)[79].constant());

  using Byte = Word<8>;
  EXPECT_EQ(refusal([] { Byte::constant(255); }), "nothing is refused");
  EXPECT_EQ(refusal([] { Byte::constant(256); }),
            "256 is not a value of an unsigned integer of 8 bits");
  EXPECT_EQ(refusal([] { Byte::constant(-1); }),
            "-1 is not a value of an unsigned integer of 8 bits");
  EXPECT_EQ(refusal([] { Number::constant(3, 7); }), "nothing is refused");
  EXPECT_EQ(refusal([] { Number::constant(3, 8); }),
            "8 is not a value of an unsigned integer of 3 bits");
  EXPECT_EQ(refusal([] { SignedWord<64>::constant(std::uint64_t{1} << 63); }),
            "9223372036854775808 is not a value of a signed integer of 64 bits");
  EXPECT_EQ(refusal([] { SignedNumber::constant(8, 128); }),
            "128 is not a value of a signed integer of 8 bits");
  EXPECT_EQ(refusal([] { SignedNumber::constant(8, -128); }), "nothing is refused");
}

std::int64_t signed_value(std::uint64_t value, std::uint32_t bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// As expect_function(), on signed integers. The result is taken modulo 2^bits.
void expect_signed(
    std::uint32_t bits,
    const std::function<SignedNumber(const SignedNumber& x, const SignedNumber& y)>& program,
    const std::function<std::int64_t(std::int64_t x, std::int64_t y)>& reference) {
  expect_function(
      bits, bits,
      [&](const Number& x, const Number& y) {
        return program(SignedNumber(x), SignedNumber(y)).as_unsigned();
      },
      [&](std::uint64_t x, std::uint64_t y) {
        return static_cast<std::uint64_t>(reference(signed_value(x, bits), signed_value(y, bits)));
      });
}

// 0 or 1.
SignedNumber wide(const Bit& bit, const SignedNumber& model) {
  return SignedNumber(to_unsigned(bit, model.size()));
}

std::int64_t floor_quotient(std::int64_t x, std::int64_t y) {
  return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}

TEST(Signed, ComputesAsPythonDoes) {
  using S = const SignedNumber&;
  using I = std::int64_t;
  for (const std::uint32_t bits : {1, 2, 3, 4, 5, 13, 32, 63}) {
    expect_signed(
        bits, [](S x, S y) { return x * y - x + y; },
        [](I x, I y) {
          const auto product = static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y);
          return static_cast<I>(product - static_cast<std::uint64_t>(x - y));
        });
    expect_signed(
        bits, [](S x, S) { return -x; }, [](I x, I) { return -x; });
    expect_signed(
        bits, [](S x, S) { return abs(x); }, [](I x, I) { return x < 0 ? -x : x; });
    expect_signed(
        bits, [](S x, S y) { return wide(x < y, x); }, [](I x, I y) { return x < y; });
    expect_signed(
        bits, [](S x, S y) { return wide(less(x, y), x); }, [](I x, I y) { return x < y; });
    expect_signed(
        bits, [](S x, S y) { return wide(x >= y, x); }, [](I x, I y) { return x >= y; });
    expect_signed(
        bits, [](S x, S y) { return wide((x > y) ^ (x <= y) ^ (x == y) ^ (x != y), x); },
        [](I, I) { return 0; });
    expect_signed(
        bits, [](S x, S y) { return x >> y.as_unsigned(); },
        [bits](I x, I y) {
          return x >> std::min(static_cast<std::uint64_t>(y) & mask(bits), 63ul);
        });
    expect_signed(
        bits, [](S x, S) { return x >> 2; }, [](I x, I) { return x >> 2; });
    expect_signed(
        bits, [](S x, S) { return x << 2; },
        [](I x, I) { return static_cast<I>(static_cast<std::uint64_t>(x) << 2); });
    expect_signed(
        bits, [bits](S x, S) { return to_signed(to_signed(x, bits + 9), bits); },
        [](I x, I) { return x; });
    // -1 is the only divisor of all widths.
    const auto divisor = [](S y) { return select(y == 0, -1, y); };
    const auto quotient = [&](S x, S y) { return x / divisor(y); };
    expect_signed(bits, quotient, [](I x, I y) { return floor_quotient(x, y == 0 ? -1 : y); });
    expect_signed(
        bits, [&](S x, S y) { return x % divisor(y); },
        [](I x, I y) { return y == 0 ? 0 : x - y * floor_quotient(x, y); });
    expect_signed(
        bits,
        [&](S x, S y) {
          const auto [whole, rest] = divide(x, divisor(y));
          return whole * divisor(y) + rest;
        },
        [](I x, I) { return x; });
  }
}

TEST(Signed, CostsAsDocumented) {
  const auto costs = [](std::uint32_t bits, auto operation) {
    return cost_of_function(bits, bits,
                            [operation](const Number& x, const Number& y) {
                              return operation(SignedNumber(x), SignedNumber(y)).as_unsigned();
                            })
        .ands;
  };
  for (const std::uint32_t n : {2, 8, 32}) {
    const std::uint64_t plain = cost_of_function(n, n, [](const Number& x, const Number& y) {
                                  const auto [quotient, rest] = divide(x, y);
                                  return quotient ^ rest;
                                }).ands;
    EXPECT_LE(costs(n, [](const auto& x, const auto& y) { return x / y; }), plain + 4 * n - 3);
    EXPECT_LE(costs(n, [](const auto& x, const auto& y) { return x % y; }), plain + 5 * n - 3);
    EXPECT_EQ(costs(n, [](const auto& x, const auto&) { return abs(x); }), n - 1);
    EXPECT_EQ(costs(n, [](const auto& x, const auto&) { return x >> 1; }), 0u);
  }
}

TEST(Integer, OperatorsTakePublicIntegers) {
  const auto of = [](auto operation) {
    return [operation](const Number& x, const Number&) { return operation(x); };
  };
  using I = std::uint64_t;
  for (const std::uint32_t bits : {13, 32}) {
    expect_function(bits, bits, of([](const Number& x) { return (x + 5) * 3 - 7; }),
                    [](I x, I) { return (x + 5) * 3 - 7; });
    expect_function(bits, bits, of([](const Number& x) { return 4000 - x; }),
                    [](I x, I) { return 4000 - x; });
    expect_function(bits, bits, of([](const Number& x) { return (x | 9) & 0x1ff; }),
                    [](I x, I) { return (x | 9) & 0x1ff; });
    expect_function(bits, bits, of([](const Number& x) { return select(x > 4000u, x / 7, x % 7); }),
                    [](I x, I) { return x > 4000 ? x / 7 : x % 7; });
    expect_function(
        bits, bits,
        [](Number x, const Number& y) {
          x += y, x -= 3, x *= y, x ^= 5, x |= 64, x &= ~y, x <<= 2, x >>= 1, x /= 3, x %= 1000;
          return x;
        },
        [bits](I x, I y) {
          x = ((((x + y - 3) * y) ^ 5) | 64) & ~y;
          return (((x << 2) & mask(bits)) >> 1) / 3 % 1000;
        });
  }
}

// Word<n> wraps the same functions; constants take no gates.
TEST(Word, ComputesOnConstants) {
  using Byte = Word<8>;
  const auto value = [](const Byte& word) {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < 8; ++i) result |= std::uint64_t{word[i].constant()} << i;
    return result;
  };
  for (std::uint64_t a = 0; a < 256; a += 5) {
    for (std::uint64_t b = 0; b < 256; b += 3) {
      const Byte x = Byte::constant(a), y = Byte::constant(b);
      EXPECT_EQ(value(x + y), (a + b) & 255);
      EXPECT_EQ(value(x - y), (a - b) & 255);
      EXPECT_EQ(value(x * y), (a * b) & 255);
      EXPECT_EQ(value((x & y) ^ (x | y)), a ^ b);
      EXPECT_EQ(value(select(less(x, y), x, y)), std::min(a, b));
      EXPECT_EQ(value(rotated_left(x, 3)), (a << 3 | a >> 5) & 255);
      EXPECT_EQ(value(shifted_right(x, y)), b < 8 ? a >> b : 0);
      EXPECT_EQ(value(Byte(Number::constant(8, a).bits())), a);
    }
  }
}

}  // namespace
}  // namespace tinyot
