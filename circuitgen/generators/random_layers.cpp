#include "circuitgen/generators/random_layers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tinyot::circuit {
namespace {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): gives the same circuit on every machine; none of it
// is secret.
class PublicGenerator {
 public:
  explicit PublicGenerator(std::uint64_t seed) : state_(seed) {}
  // `bound` is less than 2^32.
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    // A part of the bound instead of a remainder, which is slower.
    return static_cast<std::size_t>(((z ^ (z >> 31)) >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

struct LayersShape {
  std::uint64_t width, depth, seed;
};

struct Operands {
  const Bit *x, *y;
};

// Rounds of a Feistel network, each a permutation of both halves, so that the values of a deep
// circuit depend on its inputs as those of a shallow one do: bit i of the next layer is x & y ^ z
// with two wires of this layer and bit i of the one before. The operands are chosen, and
// prefetched, for some gates at a time: a layer may be larger than the cache.
void emit_layers(Builder& builder, const LayersShape& shape) {
  constexpr std::size_t kGatesAhead = 32;
  PublicGenerator choice(shape.seed);
  Bits layer = builder.input(0), before = builder.input(1);
  const std::size_t width = layer.size();
  std::vector<Operands> chosen;
  for (std::uint64_t k = 0; k < shape.depth; ++k) {
    Bits next;
    next.reserve(width);
    while (next.size() < width) {
      chosen.clear();
      while (chosen.size() < std::min(kGatesAhead, width - next.size())) {
        // Distinct wires, so that no gate is folded away.
        const std::size_t x = choice.below(width), after = x + 1 + choice.below(width - 1),
                          y = after < width ? after : after - width;
        chosen.push_back({&layer[x], &layer[y]});
        for (const Bit* operand : {chosen.back().x, chosen.back().y}) __builtin_prefetch(operand);
      }
      for (const Operands& of : chosen) next.push_back((*of.x & *of.y) ^ before[next.size()]);
    }
    before = std::exchange(layer, std::move(next));
  }
  builder.output(0, layer);
}

}  // namespace

CircuitFamily random_layers_family() {
  return {
      "random",
      "random layers of ANDs, for measuring",
      {CircuitParameter::number("width", 1024, 2, std::uint64_t{1} << 24, "ANDs of a layer"),
       CircuitParameter::number("depth", 64, 1, std::uint64_t{1} << 30, "layers"),
       CircuitParameter::number("seed", 1, 0, std::uint64_t{1} << 62, "of the choice of wires")},
      [](const CircuitArguments& arguments) -> std::unique_ptr<Circuit> {
        const LayersShape shape{arguments.number("width"), arguments.number("depth"),
                                arguments.number("seed")};
        CircuitInfo info{
            arguments.spec(),
            {bits_input("a", shape.width, Party::A), bits_input("b", shape.width, Party::B)},
            {bits_output("z", shape.width)}};
        return std::make_unique<GeneratedCircuit>(
            std::move(info), [shape](Builder& builder) { emit_layers(builder, shape); });
      },
      {},
      {},
      2};
}

}  // namespace tinyot::circuit
