#include "circuitgen/minimum.h"

#include <algorithm>

#include "circuitgen/word.h"

namespace tinyot {
namespace {

class Tournament {
 public:
  void add(Number value) {
    waiting_[0].push_back(std::move(value));
    for (std::size_t level = 0; waiting_[level].size() == 2 * kSideBySide; ++level) play(level);
  }

  // At least one value has been added.
  Number smallest() && {
    for (std::size_t level = 0; level + 1 < waiting_.size() || waiting_[level].size() > 1; ++level) play(level);
    return std::move(waiting_.back()[0]);
  }

 private:
  // The smaller one of each two neighbours goes up a level; a last one without a neighbour goes up as it is.
  void play(std::size_t level) {
    if (level + 1 == waiting_.size()) waiting_.emplace_back();
    std::vector<Number> values = std::exchange(waiting_[level], {});
    std::vector<Operands> pairs;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) pairs.push_back({values[i + 1], values[i]});
    const Bits second_is_less = less_each(pairs);
    std::vector<Number>& next = waiting_[level + 1];
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Number &first = values[2 * i], &second = values[2 * i + 1];
      next.push_back(select(second_is_less[i], second, first));
      first = second = Number();
    }
    if (values.size() % 2 == 1) next.push_back(std::move(values.back()));
  }

  std::vector<std::vector<Number>> waiting_{1};  // by level
};

void emit_minimum(Builder& builder, std::uint64_t count, std::uint64_t bits) {
  Tournament tournament;
  for (std::uint64_t k = 0; k < count; ++k) {
    tournament.add(Number(builder.input_bits(static_cast<std::uint32_t>(k % 2), k / 2 * bits, bits)));
  }
  builder.output(0, std::move(tournament).smallest());
}

}  // namespace

CircuitFamily minimum_family() {
  CircuitFamily family;
  family.name = "minimum";
  family.description = "the minimum of numbers of which A and B have half each; both learn it";
  family.parameters = {CircuitParameter::number("count", 1'000'000, 2, std::uint64_t{1} << 25, "how many numbers A and B have together"),
                       CircuitParameter::number("bits", 20, 1, 64, "of each number")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t count = arguments.number("count"), bits = arguments.number("bits");
    CircuitInfo info{arguments.spec(),
                     {{"values_a", static_cast<std::uint32_t>((count + 1) / 2 * bits), Party::A, ValueFormat::Integer, false},
                      {"values_b", static_cast<std::uint32_t>(count / 2 * bits), Party::B, ValueFormat::Integer, false}},
                     {{"minimum", static_cast<std::uint32_t>(bits), Receiver::Both, ValueFormat::Integer}}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) { emit_minimum(builder, count, bits); });
  };
  return family;
}

}  // namespace tinyot
