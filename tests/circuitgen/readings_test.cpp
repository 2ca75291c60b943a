// Built-in circuits compute in the types that they take: compared with a few lines that work on
// plain numbers and strings and share nothing with the generators, edges included.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "circuitgen/cost.h"
#include "circuitgen/evaluate.h"
#include "circuitgen/fingerprint.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/file_description.h"
#include "circuitgen/formats/reading.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

// A number, or a text without zeros at its end.
struct Plain {
  std::int64_t number = 0;
  std::string text = {};
};

struct Compared {
  const char* type;
  bool is_signed, is_text;
  std::size_t bits;
};
constexpr Compared kCompared[] = {
    {"u1", false, false, 1},    {"u8", false, false, 8},       {"u13", false, false, 13},
    {"u64", false, false, 64},  {"i1", true, false, 1},        {"i2", true, false, 2},
    {"i8", true, false, 8},     {"i32", true, false, 32},      {"i64", true, false, 64},
    {"fix8.4", true, false, 8}, {"fix32.16", true, false, 32}, {"fix64.63", true, false, 64},
    {"str1", false, true, 8},   {"str2", false, true, 16},     {"str8", false, true, 64},
    {"str20", false, true, 160}};

bool is_less(const Compared& type, const Plain& x, const Plain& y) {
  if (type.is_text)
    return std::lexicographical_compare(x.text.begin(), x.text.end(), y.text.begin(), y.text.end(),
                                        [](unsigned char a, unsigned char b) { return a < b; });
  if (type.is_signed) return x.number < y.number;
  return static_cast<std::uint64_t>(x.number) < static_cast<std::uint64_t>(y.number);
}
bool is_equal(const Compared& type, const Plain& x, const Plain& y) {
  return !is_less(type, x, y) && !is_less(type, y, x);
}

std::vector<Plain> edges(const Compared& type) {
  if (type.is_text) {
    const std::string longest(type.bits / 8, 'z');
    return {{0, ""},
            {0, "a"},
            {0, "b"},
            {0, longest},
            {0, "\xff"},
            {0, longest.substr(1) + "y"},
            {0, type.bits > 8 ? "ab" : "A"},
            {0, type.bits > 8 ? "ba" : "B"}};
  }
  const std::uint64_t highest = ~std::uint64_t{0} >> (64 - type.bits),
                      half = std::uint64_t{1} << (type.bits - 1);
  if (!type.is_signed)
    return {{0}, {1}, {std::int64_t(highest)}, {std::int64_t(half)}, {std::int64_t(half - 1)}};
  const auto lowest = static_cast<std::int64_t>(0 - half);
  std::vector<Plain> all = {{0}, {-1}, {lowest}, {std::int64_t(half - 1)}};
  if (type.bits > 1) all.push_back({lowest + 1});
  if (type.bits > 2) all.push_back({1});
  return all;
}

class Source {
 public:
  explicit Source(const Compared& type) : type_(type), edges_(edges(type)) {}

  Plain next() {
    if (random_() % 2 == 0) return edges_[random_() % edges_.size()];
    if (!type_.is_text) {
      const std::uint64_t bits = random_() << (64 - type_.bits);
      return {type_.is_signed ? static_cast<std::int64_t>(bits) >> (64 - type_.bits)
                              : static_cast<std::int64_t>(bits >> (64 - type_.bits))};
    }
    std::string text(random_() % (type_.bits / 8 + 1), 'a');
    for (char& c : text) c = static_cast<char>(1 + random_() % 255);
    return {0, text};
  }
  std::vector<Plain> list(std::size_t count) {
    std::vector<Plain> values(count);
    for (Plain& value : values) value = next();
    return values;
  }

 private:
  const Compared& type_;
  std::vector<Plain> edges_;
  std::mt19937_64 random_{7};
};

bool bit_of(const Compared& type, const Plain& value, std::size_t i) {
  if (!type.is_text) return (static_cast<std::uint64_t>(value.number) >> i & 1) != 0;
  return i / 8 < value.text.size() && (static_cast<unsigned char>(value.text[i / 8]) >> i % 8 & 1);
}

LaneMatrix rows(const Compared& type, const std::vector<std::vector<Plain>>& lanes) {
  LaneMatrix all(lanes.size(), lanes[0].size() * type.bits);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    for (std::size_t k = 0; k < lanes[lane].size(); ++k)
      for (std::size_t i = 0; i < type.bits; ++i)
        all[lane].put(k * type.bits + i, bit_of(type, lanes[lane][k], i));
  return all;
}

bool holds(const Compared& type, ConstLane row, std::size_t k, const Plain& value) {
  for (std::size_t i = 0; i < type.bits; ++i)
    if (row[k * type.bits + i] != bit_of(type, value, i)) return false;
  return true;
}

constexpr std::size_t kLanes = 40;

// A circuit of a family for a type, on inputs of both parties.
struct Trial {
  Compared type;
  std::unique_ptr<Circuit> circuit;
  std::vector<std::vector<Plain>> a, b;  // by lane
  std::vector<LaneMatrix> outputs;

  Trial(const std::string& family, const std::string& parameters, const Compared& of,
        std::size_t count_a, std::size_t count_b, bool is_sorted = false)
      : type(of) {
    const std::string spec = family + ":bits=" + std::to_string(type.bits) + parameters;
    circuit = find_circuit(
        circuit::spec_for_types(spec, {{find_circuit(spec)->info().inputs[0].name, type.type}}));
    Source source(type);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      a.push_back(source.list(count_a));
      b.push_back(source.list(count_b));
      const auto less = [&](const Plain& x, const Plain& y) { return is_less(type, x, y); };
      if (is_sorted) {
        std::ranges::sort(a.back(), less);
        std::ranges::sort(b.back(), less);
      }
    }
    outputs = evaluate(*circuit, kLanes, {rows(type, a), rows(type, b)});
  }
};

void test_millionaires(const Compared& type) {
  const Trial trial("millionaires", "", type, 1, 1);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ(trial.outputs[0][lane][0], is_less(type, trial.b[lane][0], trial.a[lane][0]));
}

void test_comparisons(const Compared& type) {
  const Trial trial("comparisons", ",rows=3,columns=4", type, 3, 4);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        EXPECT_EQ(trial.outputs[0][lane][4 * i + j],
                  is_less(type, trial.a[lane][i], trial.b[lane][j]));
}

std::vector<Plain> sorted(const Trial& trial, std::size_t lane) {
  std::vector<Plain> all = trial.a[lane];
  all.insert(all.end(), trial.b[lane].begin(), trial.b[lane].end());
  std::ranges::sort(all, [&](const Plain& x, const Plain& y) { return is_less(trial.type, x, y); });
  return all;
}

void test_minimum(const Compared& type) {
  if (type.bits > 64) return;
  for (const std::size_t count : {2, 5}) {
    const Trial trial("minimum", ",count=" + std::to_string(count), type, (count + 1) / 2,
                      count / 2);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      EXPECT_TRUE(holds(type, trial.outputs[0][lane], 0, sorted(trial, lane).front()));
  }
}

void test_sort(const Compared& type) {
  for (const std::size_t count : {2, 7}) {
    const Trial trial("sort", ",count=" + std::to_string(count), type, (count + 1) / 2, count / 2);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t k = 0; k < count; ++k)
        EXPECT_TRUE(holds(type, trial.outputs[0][lane], k, sorted(trial, lane)[k]));
  }
}

void test_sorted_set_intersection(const Compared& type) {
  for (const std::size_t count : {1, 4, 5}) {
    const Trial trial("sorted_set_intersection", ",count=" + std::to_string(count), type, count,
                      count, true);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::vector<Plain> common;
      for (const Plain& x : trial.a[lane]) {
        const bool is_new = common.empty() || !is_equal(type, common.back(), x);
        if (is_new && std::ranges::any_of(trial.b[lane],
                                          [&](const Plain& y) { return is_equal(type, x, y); }))
          common.push_back(x);
      }
      EXPECT_TRUE(trial.outputs[0][lane][0]);
      std::size_t size = 0;
      for (std::size_t i = 0; i < trial.outputs[1].bits(); ++i)
        size |= std::size_t{trial.outputs[1][lane][i]} << i;
      ASSERT_EQ(size, common.size());
      for (std::size_t k = 0; k < count; ++k)
        EXPECT_TRUE(holds(type, trial.outputs[2][lane], k,
                          k < size ? common[k] : Plain{}));  // zeros after them
    }
  }
}

using Oracle = void (*)(const Compared&);
const std::map<std::string, Oracle> kOracles = {
    {"millionaires", test_millionaires},
    {"comparisons", test_comparisons},
    {"minimum", test_minimum},
    {"sort", test_sort},
    {"sorted_set_intersection", test_sorted_set_intersection}};

TEST(Readings, CircuitsThatCompareValuesAgreeWithPlainOnesInEachType) {
  for (const auto& [family, oracle] : kOracles)
    for (const Compared& type : kCompared) {
      SCOPED_TRACE(family + " of " + type.type);
      oracle(type);
    }
}

// Circuits that compute on bits or strings of bytes, and what is left of their outputs.
const std::set<std::string> kOnBits = {"hamming", "set_intersection", "levenshtein", "random"};

TEST(Readings, EachBuiltInCircuitHasAnOracleOrComputesOnBits) {
  for (const CircuitFamily& family : circuit_families()) {
    if (kOracles.contains(family.name)) {
      EXPECT_FALSE(family.compared.empty()) << family.name;
      continue;
    }
    EXPECT_TRUE(family.compared.empty()) << family.name;
    for (const InputBundle& input : find_circuit(family.name)->info().inputs) {
      EXPECT_EQ(input.reading, Reading::Bits) << family.name << " " << input.name;
      EXPECT_TRUE(kOnBits.contains(family.name) || input.format == ValueFormat::Bytes)
          << family.name << " " << input.name;
    }
  }
}

std::string unfit(const std::string& spec, const std::string& input, const std::string& type) {
  const auto circuit = find_circuit(spec);
  for (const InputBundle& bundle : circuit->info().inputs)
    if (bundle.name == input) {
      const std::string why = circuit::BundleReading(bundle).why_unfit(type);
      return why.empty() ? why : why + circuit::circuit_for_type(spec, input, type);
    }
  return "no such input";
}

TEST(Readings, TypesThatACircuitDoesNotComputeInAreRefusedWithTheCircuitThatDoes) {
  const std::tuple<const char*, const char*, const char*, const char*> all[] = {
      {"millionaires", "a", "u32", ""},
      {"millionaires", "a", "hex32", ""},
      {"millionaires", "a", "i32",
       "the circuit reads it as unsigned, not as i32; circuit millionaires:signed=1 does"},
      {"millionaires", "a", "u8",
       "the circuit reads it as unsigned, not as u8; circuit millionaires:bits=8 does"},
      {"millionaires", "a", "fix32.16",
       "the circuit reads it as unsigned, not as fix32.16; circuit "
       "millionaires:signed=1,fraction=16 does"},
      {"millionaires:signed=1", "a", "u32",
       "the circuit reads it as signed, not as u32; circuit millionaires does"},
      {"millionaires:signed=1", "a", "i32", ""},
      {"millionaires:signed=1,fraction=8", "a", "fix32.16",
       "the circuit reads it as fix32.8, not as fix32.16; circuit "
       "millionaires:signed=1,fraction=16 does"},
      {"sort:count=4", "values_a", "str4",
       "the circuit reads it as 2 x unsigned of 32 bits, not as str4; circuit "
       "sort:count=4,text=1 does"},
      {"sort:count=4", "values_a", "u16",
       "the circuit reads it as 2 x unsigned of 32 bits, not as u16; circuit "
       "sort:count=4,bits=16 does"},
      {"minimum:count=4", "values_a", "str9",
       "the circuit reads it as 2 x unsigned of 20 bits, not as str9"},
      {"comparisons:bits=256", "a", "hex256", ""},
      {"comparisons:bits=256", "a", "u256", ""},
      {"millionaires:signed=1", "a", "fix32.0", ""},
      {"sort:count=4", "values_a", "hex64", ""},
      {"comparisons:bits=256", "a", "str32",
       "the circuit reads it as 100 x unsigned of 256 bits, not as str32; circuit "
       "comparisons:bits=256,text=1 does"},
      {"aes128", "message", "str16", ""},
      {"aes128", "message", "hex128", ""},
      {"aes128", "message", "u8", ""},
      {"aes128", "message", "i8",
       "it is a string of bytes, so type i8 does not fit: u8, hexN, strN and raw do"},
      {"aes128", "message", "u32",
       "it is a string of bytes, so type u32 does not fit: u8, hexN, strN and raw do"},
      {"hamming:bits=32", "a", "i32", ""},
      {"hamming:bits=32", "a", "u12", "its 32 bits are no whole number of values of type u12"},
  };
  for (const auto& [spec, input, type, why] : all) EXPECT_EQ(unfit(spec, input, type), why);
}

std::string refusal(const std::string& spec, const circuit::TypesByName& types) try {
  return circuit::spec_for_types(spec, types);
} catch (const UsageError& error) {
  return error.what();
}

TEST(Readings, TypesChooseTheCircuit) {
  using Types = circuit::TypesByName;
  const std::tuple<const char*, Types, const char*> all[] = {
      {"millionaires", {{"a", "i32"}}, "millionaires:signed=1"},
      {"millionaires", {{"a", "u32"}}, "millionaires"},
      {"millionaires", {{"a", "raw"}}, "millionaires"},
      {"millionaires:bits=8", {{"a", "i8"}, {"b", "i8"}}, "millionaires:bits=8,signed=1"},
      {"minimum:count=2", {{"minimum", "fix20.4"}}, "minimum:count=2,signed=1,fraction=4"},
      {"sort", {{"values_b", "str4"}}, "sort:text=1"},
      {"hamming", {{"a", "i900"}}, "hamming"},
      {"file.txt", {{"a", "i32"}}, "file.txt"},
      {"millionaires",
       {{"a", "i32"}, {"b", "u32"}},
       "circuit millionaires compares values of one type, and a and b have types i32 and u32"},
      {"millionaires:signed=0",
       {{"a", "i32"}},
       "type i32 of a takes signed=1, and circuit millionaires:signed=0 has signed=0"},
  };
  for (const auto& [spec, types, chosen] : all) EXPECT_EQ(refusal(spec, types), chosen) << spec;
}

TEST(Readings, ParametersThatExcludeEachOtherAreRefused) {
  for (const char* spec : {"sort:text=1,signed=1,bits=8", "sort:text=1,bits=12", "sort:fraction=3",
                           "sort:signed=1,bits=8,fraction=8", "sort:signed=1,bits=65,fraction=1"})
    EXPECT_THROW((void)find_circuit(spec), UsageError) << spec;
}

TEST(Readings, SignsAndTextsCostNoAnds) {
  for (const char* family :
       {"millionaires:bits=16", "comparisons:rows=3,columns=5,bits=16", "minimum:count=9,bits=16",
        "sort:count=9,bits=16", "sorted_set_intersection:count=5,bits=16"}) {
    const auto ands = [&](const std::string& more) {
      return cost_of(*find_circuit(family + more)).ands;
    };
    EXPECT_EQ(ands(",signed=1"), ands("")) << family;
    EXPECT_EQ(ands(",text=1"), ands("")) << family;
  }
}

TEST(Readings, ParametersWithoutEffectAreNoPartOfTheName) {
  EXPECT_EQ(built_in(*find_circuit("millionaires"))->name, "millionaires:bits=32");
  EXPECT_EQ(built_in(*find_circuit("sort:count=4,signed=0"))->name, "sort:bits=32,count=4");
  EXPECT_EQ(built_in(*find_circuit("sort:count=4,signed=1"))->name,
            "sort:bits=32,count=4,signed=1");
}

InputBundle list(Reading reading, const std::string& type, std::uint32_t bits) {
  InputBundle bundle{"x", bits, InputSource::A, ValueFormat::Integer, false, type, reading};
  return bundle;
}

// What a circuit says of its bundles is in its file.
TEST(Readings, AreInTheDescriptionOfAFile) {
  for (const char* spec :
       {"millionaires", "millionaires:signed=1,bits=160", "sort:count=4,signed=1,fraction=8",
        "sort:count=4,bits=160", "sorted_set_intersection:count=2,bits=160,signed=1",
        "sorted_set_intersection:count=2,bits=16,text=1", "levenshtein:rows=3,columns=4", "aes128",
        "hamming", "comparisons:bits=256,rows=2,columns=2"}) {
    const auto circuit = find_circuit(spec);
    const CircuitInfo& info = circuit->info();
    std::ostringstream text;
    circuit::write_bristol_fashion(*circuit, text);
    circuit::write_description(info, text);
    const auto read =
        circuit::read_circuit(circuit::text_in_memory("file", text.str()), "file", {});
    for (std::size_t i = 0; i < info.inputs.size(); ++i) {
      const InputBundle &was = info.inputs[i], &is = read->info().inputs[i];
      EXPECT_EQ(is.reading, was.reading) << spec;
      EXPECT_EQ(is.type, was.type) << spec;
      EXPECT_EQ(is.conditions, was.conditions) << spec;
    }
    for (std::size_t i = 0; i < info.outputs.size(); ++i) {
      EXPECT_EQ(read->info().outputs[i].reading, info.outputs[i].reading) << spec;
      EXPECT_EQ(read->info().outputs[i].type, info.outputs[i].type) << spec;
    }
  }
}

std::string unmet(const InputBundle& bundle, const std::vector<std::int64_t>& values,
                  std::size_t bits) {
  LaneMatrix row(1, values.size() * bits);
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t i = 0; i < bits; ++i)
      row[0].put(k * bits + i, (static_cast<std::uint64_t>(values[k]) >> i & 1) != 0);
  try {
    circuit::require_conditions(bundle, row);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Conditions, OfAnInputAreCheckedInItsReading) {
  InputBundle u = list(Reading::Unsigned, "u8", 24), i = list(Reading::Signed, "i8", 24);
  EXPECT_EQ(unmet(u, {3, 2, 1}, 8), "");
  u.conditions.is_ascending = i.conditions.is_ascending = true;
  EXPECT_EQ(unmet(u, {1, 2, 2}, 8), "");
  EXPECT_EQ(unmet(u, {1, 2, 200}, 8), "");
  EXPECT_EQ(unmet(u, {1, 3, 2}, 8),
            "input x: value 3 is less than the one before: the list has to be in ascending order");
  EXPECT_EQ(unmet(i, {-128, -1, 0}, 8), "");
  EXPECT_NE(unmet(i, {0, 1, -1}, 8), "");
  EXPECT_NE(unmet(i, {1, 2, 200}, 8), "");  // -56
  u.conditions = {.is_distinct = true};
  EXPECT_EQ(unmet(u, {3, 1, 2}, 8), "");
  EXPECT_EQ(unmet(u, {3, 1, 3}, 8),
            "input x: values 1 and 3 are equal: the list must have no duplicates");
  i.conditions = {.range = InputConditions::Range{static_cast<std::uint64_t>(-5), 5}};
  EXPECT_EQ(unmet(i, {-5, 0, 5}, 8), "");
  EXPECT_EQ(unmet(i, {-5, 0, 6}, 8),
            "input x: value 3 is not within the range of the circuit, -5 to 5");
  EXPECT_NE(unmet(i, {-6, 0, 5}, 8), "");
  InputBundle text = list(Reading::Text, "str2", 48);
  text.conditions.is_ascending = true;
  EXPECT_EQ(unmet(text, {'a' | 'z' << 8, 'b' | 'a' << 8, 'c'}, 16), "");
  EXPECT_NE(unmet(text, {'b' | 'a' << 8, 'a' | 'z' << 8, 'c'}, 16), "");
}

TEST(Conditions, ThatAnInputCannotHaveAreRefused) {
  InputBundle bits = list(Reading::Bits, "", 24), text = list(Reading::Text, "str1", 24),
              number = list(Reading::Unsigned, "u8", 24);
  bits.conditions.is_ascending = true;
  EXPECT_THROW(circuit::require_possible(bits), UsageError);
  text.conditions.range = number.conditions.range = InputConditions::Range{2, 1};
  EXPECT_THROW(circuit::require_possible(text), UsageError);
  EXPECT_THROW(circuit::require_possible(number), UsageError);
  number.conditions.range = InputConditions::Range{1, 2};
  EXPECT_NO_THROW(circuit::require_possible(number));
}

}  // namespace
}  // namespace tinyot
