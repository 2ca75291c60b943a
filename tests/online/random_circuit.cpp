#include "tests/online/random_circuit.h"

namespace tinyot::test {

RandomCircuit::RandomCircuit(std::uint64_t seed, std::size_t gates) {
  Rng rng(Seed{{seed, 4711}});
  info_ = {"random",
           {{"a", 5, Party::A, ValueFormat::Integer, false},
            {"b", 4, Party::B, ValueFormat::Integer, false},
            {"shared", 3, Party::A, ValueFormat::Integer, true}},
           {{"to_a", 4, Receiver::A, ValueFormat::Integer}, {"to_b", 3, Receiver::B, ValueFormat::Integer}, {"to_both", 5, Receiver::Both, ValueFormat::Integer}}};
  std::vector<WireId> live;
  WireId next = 0;
  for (std::size_t bundle = 0; bundle < info_.inputs.size(); ++bundle)
    for (std::size_t bit = 0; bit < info_.inputs[bundle].bits; ++bit) {
      gates_.push_back({GateKind::Input, next, bundle, bit});
      live.push_back(next++);
    }
  const auto any = [&] { return live[rng.below(live.size())]; };
  for (std::size_t i = 0; i < gates; ++i) {
    switch (rng.below(8)) {
      case 0: gates_.push_back({GateKind::Not, next, any(), 0}); break;
      case 1: gates_.push_back({GateKind::Const, next, rng.below(2), 0}); break;
      case 2:
      case 3: gates_.push_back({GateKind::Xor, next, any(), any()}); break;
      default: gates_.push_back({GateKind::And, next, any(), any()}); break;
    }
    live.push_back(next++);
    if (live.size() > 20 && rng.below(2) == 0) {
      const std::size_t victim = rng.below(live.size());
      gates_.push_back({GateKind::Free, 0, live[victim], 0});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (std::size_t bundle = 0; bundle < info_.outputs.size(); ++bundle)
    for (std::size_t bit = 0; bit < info_.outputs[bundle].bits; ++bit) gates_.push_back({GateKind::Output, bundle, any(), bit});
}

}  // namespace tinyot::test
