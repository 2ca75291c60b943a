// One fingerprint for one circuit, whichever way it comes, and another for any other circuit.
#include "engine/circuit_fingerprint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "engine/loaded_circuit.h"
#include "tests/support/circuit_files.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tinyot/circuit.h"
#include "tinyot/circuit/fingerprint.h"

namespace tinyot::test {
namespace {

// Inputs of each kind, one that is not read, one that is an output; constants; an output of each
// kind of receiver.
std::unique_ptr<Circuit> every_kind(const std::string& name = "f") {
  return make_circuit(name, [](Program& program) {
    const Number x = program.input("x", 9, Party::A), y = program.input("y", 9, Party::B);
    const Number k = program.common_input("k", 4, Party::B),
                 s = program.input("s", 9, InputSource::Shared);
    program.input("unread", 3, Party::A);
    program.output("early", (x + y)[8], Receiver::A);
    Number z = x * y + s;
    program.output("z", z, Receiver::Both);
    z[0] = Bit(true);
    z[1] = k[3] & k[2];
    program.output("mixed", z, Receiver::B);
    program.output("k", k, Receiver::None);
  });
}

std::string file_of(const Circuit& circuit) {
  std::ostringstream out;
  write_bristol_fashion(circuit, out);
  write_description(circuit.info(), out);
  return out.str();
}

LoadedCircuit from_text(const std::string& text, const std::string& name = "file") {
  return LoadedCircuit::from_text(text, name, {}, 1);
}

// The same file as another program might write it.
std::string reformatted(const std::string& text) {
  std::istringstream in(text);
  std::string out = "# a comment\r\n\r\n", line;
  for (std::size_t number = 0; std::getline(in, line); ++number) {
    if (!line.starts_with("#") && number % 3 == 0)
      for (std::size_t at = line.find(' '); at != std::string::npos; at = line.find(' ', at + 3))
        line.replace(at, 1, " \t ");
    out += line + (number % 2 == 0 ? "\r\n" : "\n");
    if (number % 5 == 4) out += "\n# gate " + std::to_string(number) + "\n";
  }
  return out;
}

// The same gates, with numbers of wires that have gaps and, except for inputs and outputs, another
// order. The header has the number of wires.
std::string renumbered(const std::string& text) {
  std::istringstream in(text);
  std::uint64_t gates = 0, wires = 0;
  in >> gates >> wires;
  std::string rest;
  std::getline(in, rest);
  std::string inputs, outputs;
  std::getline(in, inputs);
  std::getline(in, outputs);
  const auto bits_in = [](const std::string& bundles) {
    std::istringstream words(bundles);
    std::uint64_t count = 0, bits = 0, width = 0;
    words >> count;
    while (words >> width) bits += width;
    return bits;
  };
  const std::uint64_t first = bits_in(inputs), last = wires - bits_in(outputs), more = 2 * wires;
  const auto number = [&](std::uint64_t wire) {
    if (wire < first) return wire;
    if (wire >= last) return wire + more;
    return first + 2 * (last - 1 - wire);
  };
  std::ostringstream out;
  out << gates << ' ' << wires + more << '\n' << inputs << '\n' << outputs << "\n\n";
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::uint64_t count_in = 0, count_out = 0;
    if (line.starts_with("#") || !(words >> count_in >> count_out)) {
      out << line << '\n';
      continue;
    }
    std::vector<std::uint64_t> of_gate(count_in + count_out);
    for (std::uint64_t& wire : of_gate) words >> wire;
    std::string operation;
    words >> operation;
    out << count_in << ' ' << count_out;
    for (std::size_t i = 0; i < of_gate.size(); ++i)
      out << ' ' << (operation == "EQ" && i == 0 ? of_gate[i] : number(of_gate[i]));
    out << ' ' << operation << '\n';
  }
  return out.str();
}

// Every way by which a circuit can come to a party, by name.
std::map<std::string, CircuitFingerprint> ways_of(const std::shared_ptr<const Circuit>& circuit) {
  const TestDirectory directory;
  const std::string text = file_of(*circuit);
  const auto file = directory / "renamed.txt";
  write_file(file, text);
  const auto read_by_library = read_circuit_file(file);
  const LoadedCircuit loaded = from_text(text);
  return {
      {"C++ function", LoadedCircuit::borrowed(*circuit, 1).fingerprint()},
      {"C++ function, lanes", LoadedCircuit::borrowed(*circuit, 17).fingerprint()},
      {"library", circuit::fingerprint_of(*circuit)},
      {"text of a file", loaded.fingerprint()},
      {"file", LoadedCircuit::from_file(file.string(), {}, 1).fingerprint()},
      {"file read by the library", circuit::fingerprint_of(*read_by_library)},
      {"the same, as the library runs it",
       LoadedCircuit::borrowed(*read_by_library, 1).fingerprint()},
      {"file converted again", from_text(file_of(loaded.circuit())).fingerprint()},
      {"file converted twice",
       from_text(file_of(from_text(file_of(*read_by_library)).circuit())).fingerprint()},
      {"other white space and comments", from_text(reformatted(text)).fingerprint()},
      {"other numbers of wires", from_text(renumbered(text)).fingerprint()},
      {"in canonical order", LoadedCircuit::borrowed(loaded.circuit(), 1).fingerprint()},
  };
}

void expect_equal(const std::map<std::string, CircuitFingerprint>& ways) {
  for (const auto& [one, of_one] : ways)
    for (const auto& [other, of_other] : ways)
      EXPECT_EQ(text_of(of_one), text_of(of_other)) << one << " and " << other;
}

TEST(CircuitFingerprint, IsTheSameForEachWay) {
  expect_equal(ways_of(every_kind()));
  expect_equal(ways_of(every_kind("another name")));
  EXPECT_EQ(circuit::fingerprint_of(*every_kind("f")), circuit::fingerprint_of(*every_kind("g")));
}

// The gates of a built-in circuit, given as a circuit of the caller's.
class Copy final : public Circuit {
 public:
  explicit Copy(std::unique_ptr<Circuit> circuit) : circuit_(std::move(circuit)) {}
  const CircuitInfo& info() const override { return circuit_->info(); }
  void generate(GateSink& sink) const override { circuit_->generate(sink); }

 private:
  std::unique_ptr<Circuit> circuit_;
};

TEST(CircuitFingerprint, OfBuiltInCircuitsMatchesThemAlone) {
  for (const std::string spec : {"aes128", "sort:count=9,bits=5", "millionaires", "sha256:bytes=3",
                                 "aes128_ctr:bytes=40", "random:width=9,depth=5"}) {
    SCOPED_TRACE(spec);
    const auto named = named_circuit(spec);
    const LoadedCircuit loaded = *LoadedCircuit::generated(spec, 1);
    EXPECT_TRUE(loaded.is_built_in());
    expect_equal({{"command and daemon", loaded.fingerprint()},
                  {"in lanes", LoadedCircuit::generated(spec, 9)->fingerprint()},
                  {"library", circuit::fingerprint_of(*named)},
                  {"as the library runs it", LoadedCircuit::borrowed(*named, 1).fingerprint()}});
    EXPECT_TRUE(LoadedCircuit::borrowed(*named, 1).is_built_in());
    const auto copy = std::make_shared<Copy>(find_circuit(spec));
    expect_equal(ways_of(copy));
    EXPECT_FALSE(LoadedCircuit::borrowed(*copy, 1).is_built_in());
    EXPECT_NE(circuit::fingerprint_of(*copy), loaded.fingerprint());
    EXPECT_EQ(LoadedCircuit::borrowed(*copy, 1).interface_fingerprint(),
              loaded.interface_fingerprint());
  }
  const TestDirectory directory;
  EXPECT_EQ(LoadedCircuit::generated("AES-128:sbox=small", 1)->fingerprint(),
            LoadedCircuit::generated("aes128", 1)->fingerprint());
}

// Without descriptions: the formats that have no names, owners and receivers, and the files that
// the writer makes of them.
TEST(CircuitFingerprint, IsTheSameForEachFormat) {
  CircuitFileOptions halves;
  halves.bundles = {16, 16};
  const std::pair<const char*, CircuitFileOptions> files[] = {{"adder64.txt", {}},
                                                              {"neg64.txt", {}},
                                                              {"zero_equal.txt", {}},
                                                              {"adder_32bit.txt", {}},  // old
                                                              {"lt16.lps", halves}};    // tables
  for (const auto& [name, options] : files) {
    SCOPED_TRACE(name);
    const LoadedCircuit file = LoadedCircuit::from_file(circuit_file(name), options, 1);
    std::ostringstream converted;
    write_bristol_fashion(file.circuit(), converted);
    expect_equal({{"file", file.fingerprint()},
                  {"converted", from_text(converted.str()).fingerprint()},
                  {"described", from_text(file_of(file.circuit())).fingerprint()},
                  {"reformatted", from_text(reformatted(converted.str())).fingerprint()},
                  {"renumbered", from_text(renumbered(converted.str())).fingerprint()}});
  }
  // As a function: the order of the adder's gates is that of the integers' addition.
  const auto adder = make_circuit("adder", [](Program& program) {
    const Number x = program.input("0", 64, Party::A), y = program.input("1", 64, Party::B);
    program.output("0", x + y);
  });
  EXPECT_EQ(circuit::fingerprint_of(*adder),
            LoadedCircuit::from_file(circuit_file("adder64.txt"), {}, 1).fingerprint());
}

TEST(CircuitFingerprint, OptionsOfAFileAreThoseOfItsDescription) {
  CircuitFileOptions options;
  options.sources = {{0, InputSource::B}, {1, InputSource::A}};
  options.other_receivers = Receiver::A;
  const std::string plain = circuit_file("adder64.txt");
  const LoadedCircuit file = LoadedCircuit::from_file(plain, options, 1);
  EXPECT_EQ(from_text(file_of(file.circuit())).fingerprint(), file.fingerprint());
  EXPECT_NE(LoadedCircuit::from_file(plain, {}, 1).fingerprint(), file.fingerprint());
}

// A circuit that any interface of these widths can have.
class Described final : public Circuit {
 public:
  explicit Described(CircuitInfo info) : info_(std::move(info)) {}
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    Builder builder(sink, info_);
    for (std::uint32_t i = 0; i < info_.outputs.size(); ++i)
      builder.output(i, Bits(info_.outputs[i].bits));
  }

 private:
  CircuitInfo info_;
};

// The structured bindings fail to compile when a field is added: then it needs a change here, and a
// place in the encoding.
std::map<std::string, CircuitInfo> single_changes(const CircuitInfo& info) {
  std::map<std::string, CircuitInfo> changed;
  const auto add = [&](const std::string& what, const std::function<void(CircuitInfo&)>& change) {
    CircuitInfo other = info;
    change(other);
    EXPECT_TRUE(changed.emplace(what, std::move(other)).second) << what;
  };
  for (std::size_t i = 0; i < info.inputs.size(); ++i) {
    const std::string of = "input " + std::to_string(i);
    const auto set = [&](const std::string& field, auto InputBundle::*member, auto value) {
      if (info.inputs[i].*member != value)
        add(of + field, [=](CircuitInfo& other) { other.inputs[i].*member = value; });
    };
    [[maybe_unused]] const auto& [name, bits, source, format, same_in_all_lanes, type, reading,
                                  conditions] = info.inputs[i];
    set(" name", &InputBundle::name, name + "_");
    set(" bits", &InputBundle::bits, bits + 8);
    for (const InputSource other : kInputSources)
      set(" source " + std::string(name_of(other)), &InputBundle::source, other);
    for (const ValueFormat other :
         {ValueFormat::Bytes, ValueFormat::Integer, ValueFormat::MsbInteger})
      set(" format " + std::string(name_of(other)), &InputBundle::format, other);
    set(" same in all lanes", &InputBundle::same_in_all_lanes, !same_in_all_lanes);
    add(of + " removed", [=](CircuitInfo& other) {
      other.inputs.erase(other.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    });
    add(of + " twice", [=](CircuitInfo& other) { other.inputs.push_back(other.inputs[i]); });
  }
  for (std::size_t i = 0; i < info.outputs.size(); ++i) {
    const std::string of = "output " + std::to_string(i);
    const auto set = [&](const std::string& field, auto OutputBundle::*member, auto value) {
      if (info.outputs[i].*member != value)
        add(of + field, [=](CircuitInfo& other) { other.outputs[i].*member = value; });
    };
    [[maybe_unused]] const auto& [name, bits, to, format, type, reading] = info.outputs[i];
    set(" name", &OutputBundle::name, name + "_");
    set(" bits", &OutputBundle::bits, bits + 8);
    for (const Receiver other : {Receiver::A, Receiver::B, Receiver::Both, Receiver::None})
      set(" to " + std::string(name_of(other)), &OutputBundle::to, other);
    for (const ValueFormat other :
         {ValueFormat::Bytes, ValueFormat::Integer, ValueFormat::MsbInteger})
      set(" format " + std::string(name_of(other)), &OutputBundle::format, other);
    add(of + " removed", [=](CircuitInfo& other) {
      other.outputs.erase(other.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
  add("inputs in another order",
      [](CircuitInfo& other) { std::swap(other.inputs[0], other.inputs[1]); });
  add("outputs in another order",
      [](CircuitInfo& other) { std::swap(other.outputs[0], other.outputs[1]); });
  // A boundary between two texts moves.
  add("texts", [](CircuitInfo& other) {
    other.inputs[0].name += other.inputs[1].name.substr(0, 1);
    other.inputs[1].name.erase(0, 1);
  });
  add("a bit moves", [](CircuitInfo& other) { ++other.inputs[0].bits, --other.inputs[1].bits; });
  return changed;
}

TEST(CircuitFingerprint, EveryFieldOfTheInterfaceChangesIt) {
  const CircuitInfo info{"f",
                         {{"in", 8, InputSource::A, ValueFormat::Integer, false},
                          {"put", 16, InputSource::B, ValueFormat::Bytes, true}},
                         {{"out", 8, Receiver::Both, ValueFormat::Integer},
                          {"other", 16, Receiver::A, ValueFormat::Bytes}}};
  std::map<std::string, std::string> wholes, interfaces, built_ins;
  const auto expect_new = [](std::map<std::string, std::string>& found,
                             const CircuitFingerprint& fingerprint, const std::string& what) {
    const auto [other, is_new] = found.emplace(text_of(fingerprint), what);
    EXPECT_TRUE(is_new) << what << " and " << other->second;
  };
  auto variants = single_changes(info);
  EXPECT_GT(variants.size(), 30u);
  variants.emplace("unchanged", info);
  for (const auto& [what, variant] : variants) {
    const Described circuit(variant);
    expect_new(wholes, circuit::fingerprint_of(circuit), what);
    expect_new(interfaces, engine::interface_fingerprint(variant), what);
    expect_new(built_ins, engine::fingerprint_of(variant, {"aes128:sbox=small", 1}), what);
    EXPECT_EQ(LoadedCircuit::borrowed(circuit, 1).fingerprint(), circuit::fingerprint_of(circuit));
  }
  CircuitInfo renamed = info;
  renamed.name = "g";
  EXPECT_EQ(circuit::fingerprint_of(Described(renamed)), circuit::fingerprint_of(Described(info)))
      << "the name of a circuit is not a part of it";
  CircuitInfo typed = info;
  typed.inputs[0].type = typed.outputs[0].type = "i8";
  EXPECT_EQ(circuit::fingerprint_of(Described(typed)), circuit::fingerprint_of(Described(info)))
      << "nor is how values are written";
}

// A name that looks like the end of an input and the beginning of the next one.
TEST(CircuitFingerprint, NamesCannotImitateOtherFields) {
  const auto with_names = [](const std::string& one, const std::string& two) {
    return Described({"f",
                      {{one, 8, InputSource::A, ValueFormat::Integer, false},
                       {two, 8, InputSource::A, ValueFormat::Integer, false}},
                      {{"z", 1, Receiver::Both, ValueFormat::Integer}}});
  };
  for (const std::string& between :
       {std::string("\b\1A\7integer\5lanes\1"), std::string("\bAintegerlanes")}) {
    const Described one = with_names("a", "b" + between + "c"),
                    two = with_names("a" + between + "b", "c");
    EXPECT_NE(circuit::fingerprint_of(one), circuit::fingerprint_of(two));
  }
}

TEST(CircuitFingerprint, GatesChangeIt) {
  const std::string text = file_of(*every_kind());
  const CircuitFingerprint whole = from_text(text).fingerprint();
  const auto expect_other = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    other.replace(at, from.size(), to);
    EXPECT_NE(from_text(other).fingerprint(), whole) << from << " " << to;
  };
  expect_other("XOR", "AND");
  expect_other("AND", "XOR");
  expect_other("\n2 1 0 ", "\n2 1 1 ");
  // Outputs swapped: the last two copies.
  std::string swapped = text;
  const std::size_t last = swapped.rfind(" EQW"), before = swapped.rfind(" EQW", last - 1);
  std::swap(swapped[last - 1], swapped[before - 1]);
  EXPECT_NE(from_text(swapped).fingerprint(), whole);
}

// x0 y0 ^ x1 y1, with no group, with all of it as one, or with the first AND alone.
class Grouped final : public Circuit {
 public:
  enum class Groups { None, All, First };
  explicit Grouped(Groups groups) : groups_(groups) {}
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override {
    Builder builder(sink, info_);
    const Bits x = builder.input(0), y = builder.input(1);
    const auto all = [&] { return (x[0] & y[0]) ^ (x[1] & y[1]); };
    if (groups_ == Groups::None) return builder.output_bit(0, 0, all());
    if (groups_ == Groups::All) return builder.output_bit(0, 0, builder.group(all));
    const Bit first = builder.group([&] { return x[0] & y[0]; });
    builder.output_bit(0, 0, first ^ (x[1] & y[1]));
  }

 private:
  Groups groups_;
  CircuitInfo info_{"f",
                    {{"x", 2, InputSource::A, ValueFormat::Integer, false},
                     {"y", 2, InputSource::B, ValueFormat::Integer, false}},
                    {{"z", 1, Receiver::Both, ValueFormat::Integer}}};
};

// An online phase may evaluate a group as one gate: parties that group otherwise differ.
TEST(CircuitFingerprint, GroupsChangeIt) {
  using Groups = Grouped::Groups;
  const auto of = [](Groups groups) { return engine::fingerprint_of_gates(Grouped(groups)); };
  const auto none = of(Groups::None), all = of(Groups::All), first = of(Groups::First);
  for (const auto& [one, other] : {std::pair(&none, &all), {&none, &first}, {&all, &first}}) {
    EXPECT_NE(one->fingerprint, other->fingerprint);
    EXPECT_FALSE(one->first.record == other->first.record);
    EXPECT_EQ(one->first.cost.ands, other->first.cost.ands);
  }
  EXPECT_EQ(of(Groups::All).fingerprint, all.fingerprint);
  EXPECT_TRUE(of(Groups::All).first.record == all.first.record);
}

TEST(CircuitFingerprint, TextHas64Digits) {
  const CircuitFingerprint whole = circuit::fingerprint_of(*every_kind());
  const std::string text = text_of(whole);
  EXPECT_EQ(text.size(), 64u);
  EXPECT_EQ(short_name(whole), text.substr(0, 16));
  EXPECT_EQ(parse_circuit_fingerprint(text), whole);
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(parse_circuit_fingerprint(upper), whole);
  for (const std::string& wrong : {std::string(), text.substr(0, 16), text.substr(1), text + "0",
                                   "0x" + text.substr(2), text.substr(0, 63) + "g"})
    EXPECT_FALSE(parse_circuit_fingerprint(wrong)) << wrong;
}

// The encoding is part of the protocol: a change of it is a change of the wire version.
TEST(CircuitFingerprint, OfKnownCircuitsStays) {
  EXPECT_EQ(text_of(circuit::fingerprint_of(*find_circuit("aes128"))),
            "66beb9ae3d8b662f10833ee7a3986b2d3716e4eece58367d77e2369451d5720e");
  EXPECT_EQ(text_of(circuit::fingerprint_of(*every_kind())),
            "e6f92726b3296994b396eddd9dc729f776d5906b698a0aca8ef6311dd61e7ab5");
  EXPECT_EQ(text_of(engine::interface_fingerprint(every_kind()->info())),
            "c25259694369eacd8e454d36661d27661b822007ceb20271f15d46d57d0bd121");
}

}  // namespace
}  // namespace tinyot::test
