// Circuits made by functions.
#include <gtest/gtest.h>
#include <tinyot/circuit.h>
#include <tinyot/circuit/fingerprint.h>
#include <tinyot/error.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/two_threads.h"

namespace tinyot::circuit {
namespace {

using namespace tinyot::test;

struct Counter : GateSink {
  void emit(const Gate& gate) override {
    ands += gate.kind == GateKind::And;
    outputs += gate.kind == GateKind::Output;
  }
  int ands = 0, outputs = 0;
};

TEST(MakeCircuit, LearnsTheInterfaceFromTheFunction) {
  const auto circuit = make_circuit("f", [](Program& program) {
    const Number x = program.input("x", 8, Party::A);
    const Word<4> y = program.input<4>("y", Party::B);
    const Number z = program.common_input("z", 1, Party::B),
                 s = program.input("s", 2, InputSource::Shared);
    program.output("sum", x + x, Receiver::A);
    program.output("y", y, Receiver::None);
    program.output("bit", z[0] & s[1]);
  });
  const CircuitInfo& info = circuit->info();
  EXPECT_EQ(info.name, "f");
  ASSERT_EQ(info.inputs.size(), 4u);
  EXPECT_EQ(info.inputs[0].name, "x");
  EXPECT_EQ(info.inputs[0].bits, 8u);
  EXPECT_EQ(info.inputs[0].source, InputSource::A);
  EXPECT_EQ(info.inputs[1].source, InputSource::B);
  EXPECT_FALSE(info.inputs[1].same_in_all_lanes);
  EXPECT_TRUE(info.inputs[2].same_in_all_lanes);
  EXPECT_EQ(info.inputs[3].source, InputSource::Shared);
  ASSERT_EQ(info.outputs.size(), 3u);
  EXPECT_EQ(info.outputs[0].to, Receiver::A);
  EXPECT_EQ(info.outputs[1].to, Receiver::None);
  EXPECT_EQ(info.outputs[2].to, Receiver::Both);
  for (int time = 0; time < 2; ++time) {
    Counter counter;
    circuit->generate(counter);
    EXPECT_EQ(counter.ands, 7) << "6 of the sum of x and x, 1 of the bit";
    EXPECT_EQ(counter.outputs, 13);
  }
}

// What making the circuit refuses.
std::string refusal(const std::function<void(Program&)>& function) {
  try {
    make_circuit("f", function);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing is refused";
}

TEST(MakeCircuit, RefusesNamesThatAreNotUnique) {
  EXPECT_EQ(refusal([](Program& program) {
              program.input("x", 1, Party::A);
              program.input("x", 1, Party::B);
            }),
            "two inputs of circuit f have the name 'x'");
  EXPECT_EQ(refusal([](Program& program) {
              const Number x = program.input("x", 1, Party::A);
              program.output("y", x);
              program.output("y", x);
            }),
            "two outputs of circuit f have the name 'y'");
  EXPECT_EQ(refusal([](Program& program) { program.input("", 1, Party::A); }),
            "input 0 of circuit f has no name");
}

TEST(MakeCircuit, RefusesCircuitsWithoutOutputs) {
  EXPECT_EQ(refusal([](Program& program) { program.input("x", 1, Party::A); }),
            "circuit f has no output, so that a run of it would tell nobody anything");
}

TEST(MakeCircuit, RefusesFunctionsWhoseDeclarationsChange) {
  int calls = 0;
  const auto wider = make_circuit("f", [&](Program& program) {
    program.output("y", program.input("x", calls++ == 0 ? 1 : 2, Party::A));
  });
  Counter counter;
  EXPECT_THROW(wider->generate(counter), UsageError);
  calls = 0;
  const auto fewer = make_circuit("f", [&](Program& program) {
    if (calls++ == 0) program.input("x", 1, Party::A);
    program.output("y", Bit(true));
  });
  EXPECT_THROW(fewer->generate(counter), UsageError);
}

TEST(MakeCircuit, RefusesOperandsOfDifferentWidths) {
  EXPECT_EQ(refusal([](Program& program) {
              program.output("z",
                             program.input("x", 16, Party::A) + program.input("y", 32, Party::B));
            }),
            "the operands of + have 16 and 32 bits: convert one of them with to_unsigned or "
            "to_signed");
}

TEST(MakeCircuit, RefusesBitsOfOtherCircuits) {
  EXPECT_EQ(refusal([](Program& program) {
              const Number x = program.input("x", 1, Party::A);
              make_circuit("g", [&](Program& inner) {
                inner.output("z", x ^ inner.input("y", 1, Party::A));
              });
            }),
            "a bit of another circuit, or of another call of its function, is used");
}

// tests/python/operators_test.py has the same circuit, with the same fingerprint.
template <class W>
void every_operator(std::vector<Bits>& results, const W& x, const W& y, const Number& count) {
  const auto add = [&](const auto& value) {
    results.emplace_back(value.bits().begin(), value.bits().end());
  };
  const auto add_bit = [&](const Bit& bit) { results.push_back({bit}); };
  add(x + y), add(x - y), add(x * y), add(x / y), add(x % y), add(-x);
  const auto [quotient, remainder] = divide(x, y);
  add(quotient), add(remainder);
  add(x & y), add(x | y), add(x ^ y), add(~x);
  add(x << 3), add(x >> 3), add(x << count), add(x >> count);
  add_bit(x < y), add_bit(x <= y), add_bit(x > y), add_bit(x >= y), add_bit(x == y),
      add_bit(x != y);
  add(x + 5), add(5 + x), add(x - 5), add(5 - x), add(x * 5), add(5 * x), add(x / 5), add(5 / x);
  add(x % 5), add(5 % x), add(x & 5), add(5 | x), add(x ^ 5);
  add_bit(x < 5), add_bit(5 < x), add_bit(x == 5);
  add(select(x[0], x, y)), add(select(x[0], x, 5));
  add(to_unsigned(x, 12)), add(to_signed(x, 12)), add(to_unsigned(x, 3));
}

TEST(MakeCircuit, OperatorsMakeThePythonPackagesCircuits) {
  const auto circuit = make_circuit("operators", [](Program& program) {
    const Number x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B);
    const SignedNumber s = program.signed_input("s", 8, Party::A),
                       t = program.signed_input("t", 8, Party::B);
    const Number count = program.input("count", 4, Party::B);
    std::vector<Bits> results;
    every_operator(results, x, y, count);
    every_operator(results, s, t, count);
    const SignedNumber size = abs(s);
    results.emplace_back(size.bits().begin(), size.bits().end());
    for (std::size_t i = 0; i < results.size(); ++i) program.output(std::to_string(i), results[i]);
  });
  EXPECT_EQ(text_of(fingerprint_of(*circuit)),
            "4500503c3b219f7901744b87cdf647e1963c02cb0d1eeeaf92eada02c0f4db41");
}

TEST(NamedCircuit, FindsBuiltInCircuits) {
  EXPECT_EQ(named_circuit("aes128")->info().outputs[0].name, "ciphertext");
  const auto refused = [](const std::string& name) {
    try {
      (void)named_circuit(name);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing is refused");
  };
  EXPECT_EQ(refused("no-such"), "there is no circuit 'no-such'");
  EXPECT_EQ(refused("ase128:sbox=small"),
            "there is no circuit 'ase128:sbox=small' (did you mean aes128?)");
}

TEST(CircuitFile, IsReadWithItsOwners) {
  const TestDirectory directory;
  write_file(directory / "and.txt", "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n");
  const auto circuit = read_circuit_file(directory / "and.txt");
  EXPECT_EQ(circuit->info().name, "and");
  EXPECT_EQ(circuit->info().inputs[1].source, InputSource::B);
  EXPECT_THROW(read_circuit_file(directory / "missing.txt"), UsageError);
}

TEST(CircuitFile, IsWrittenWithItsInterface) {
  const TestDirectory directory;
  const auto circuit = make_circuit("bids", [](Program& program) {
    const SignedNumber x = program.signed_input("x", 9, Party::B);
    const Number y = program.common_input("y", 9, InputSource::Public);
    program.output("is less", x < SignedNumber(y), Receiver::A);
  });
  try {
    write_circuit_file(*circuit, directory / "bids.txt");
    ADD_FAILURE() << "a name with a space is written";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "circuit bids has an output 'is less': in a circuit file a name is a word of "
                 "ASCII without spaces; rename the output, for example to is_less");
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "bids.txt"));
  int calls = 0;
  const auto changing = make_circuit("changing", [&calls](Program& program) {
    const Number x = program.input("x", 9, Party::B);
    program.output("y", ++calls < 4 ? x + x : x * x);
  });
  EXPECT_THROW(write_circuit_file(*changing, directory / "bids.txt"), UsageError);
  // The name of the circuit itself may have a space.
  const auto again = make_circuit("hidden bids", [](Program& program) {
    const SignedNumber x = program.signed_input("x", 9, Party::B);
    const Number y = program.common_input("y", 9, InputSource::Public);
    program.output("less", x < SignedNumber(y), Receiver::A);
  });
  EXPECT_EQ(again->info().inputs[0].type, "i9");
  write_circuit_file(*again, directory / "again.txt");
  const auto read = read_circuit_file(directory / "again.txt");
  EXPECT_EQ(read->info().name, "again");
  EXPECT_EQ(read->info().inputs[1].source, InputSource::Public);
  EXPECT_TRUE(read->info().inputs[1].same_in_all_lanes);
  EXPECT_EQ(read->info().outputs[0].to, Receiver::A);
  EXPECT_EQ(read->info().inputs[0].type, "i9");
  EXPECT_EQ(fingerprint_of(*read), fingerprint_of(*again));
}

TEST(CircuitFile, KeepsSignsAndTheWidthsOfLists) {
  const TestDirectory directory;
  const auto described = [](bool has_types) {
    return make_circuit("means", [has_types](Program& program) {
      const SignedWord<16> x = program.signed_input<16>("x", Party::A);
      const Number list = program.input("list", 32, Party::B);
      program.output("x", x + 1);
      program.output("signed wide", SignedNumber(65));
      program.output("list", list);
      if (!has_types) return;
      program.set_input_type("list", "u8");
      program.set_output_type("list", "i16");
    });
  };
  const auto with = described(true), without = described(false);
  EXPECT_EQ(fingerprint_of(*with), fingerprint_of(*without)) << "they say the same of the gates";
  const auto types = [](const Circuit& circuit) {
    std::vector<std::string> all;
    for (const InputBundle& input : circuit.info().inputs) all.push_back(input.type);
    for (const OutputBundle& output : circuit.info().outputs) all.push_back(output.type);
    return all;
  };
  EXPECT_EQ(types(*with), (std::vector<std::string>{"i16", "u8", "i16", "i65", "i16"}));
  EXPECT_EQ(types(*without), (std::vector<std::string>{"i16", "", "i16", "i65", ""}));
  EXPECT_EQ(refusal([](Program& program) {
              program.output("y", program.input("x", 12, Party::A));
              program.set_output_type("y", "u8");
            }),
            "its 12 bits are no whole number of values of type u8");
  EXPECT_EQ(refusal([](Program& program) { program.set_input_type("x", "u8"); }),
            "circuit f has not declared 'x', which gets type u8");
}

}  // namespace
}  // namespace tinyot::circuit
