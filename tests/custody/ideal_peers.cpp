#include "ideal_peers.h"

#include "base/lane_bits.h"
#include "circuitgen/evaluate.h"
#include "online/shared_value.h"

namespace tinyot::test {
namespace {

// Random shares of a value, as values that stay shared.
std::array<SharedBits, 2> shared_value(const LaneMatrix& value, const std::string& origin,
                                       std::mt19937_64& rng) {
  const std::size_t entries = value.bits() * value.lanes();
  std::array<BitVector, 2> bits{BitVector(entries), BitVector(entries)};
  for (std::size_t bit = 0; bit < value.bits(); ++bit)
    for (std::size_t lane = 0; lane < value.lanes(); ++lane) {
      const bool mask = rng() & 1;
      bits[0].put(bit * value.lanes() + lane, mask);
      bits[1].put(bit * value.lanes() + lane, mask ^ value[lane][bit]);
    }
  const auto of = [&](BitVector mine) {
    std::vector<SecretVector<Block>> planes(1, SecretVector<Block>(entries, Block{0, 0}));
    return SharedBits(std::make_shared<online::SharedValue>(value.bits(), value.lanes(),
                                                            online::WireForm::MacShare,
                                                            std::move(mine), std::move(planes)),
                      origin);
  };
  return {of(std::move(bits[0])), of(std::move(bits[1]))};
}

LaneMatrix combined(const LaneMatrix& a, const LaneMatrix& b) {
  LaneMatrix sum(a.lanes(), a.bits());
  for (std::size_t lane = 0; lane < a.lanes(); ++lane)
    for (std::size_t bit = 0; bit < a.bits(); ++bit)
      sum[lane].put(bit, a[lane][bit] ^ b[lane][bit]);
  return sum;
}

bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

}  // namespace

class IdealPeer final : public custody::KeyPeer {
 public:
  IdealPeer(IdealConnection& connection, Party party) : connection_(connection), party_(party) {}

  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    return std::move(connection_
                         .call(party_, {.label = "run " + label,
                                        .circuit = &circuit,
                                        .values = &inputs,
                                        .shared = &shared,
                                        .told = {}})
                         .run);
  }
  SecretVector<std::byte> toss_coins(const std::string& purpose) override {
    return connection_
        .call(party_, {.label = "toss " + purpose,
                       .circuit = nullptr,
                       .values = nullptr,
                       .shared = nullptr,
                       .told = {}})
        .coins;
  }
  std::vector<std::byte> exchange(const std::string& label,
                                  std::span<const std::byte> mine) override {
    return connection_
        .call(party_, {.label = "exchange " + label,
                       .circuit = nullptr,
                       .values = nullptr,
                       .shared = nullptr,
                       .told = std::vector<std::byte>(mine.begin(), mine.end())})
        .told;
  }

 private:
  IdealConnection& connection_;
  Party party_;
};

IdealConnection::IdealConnection(std::uint64_t seed, const CrashAt& crash)
    : rng_(seed), crash_(crash) {}

std::unique_ptr<custody::KeyPeer> IdealConnection::end_of(Party party) {
  return std::make_unique<IdealPeer>(*this, party);
}

void IdealConnection::step(Party party) {
  const std::lock_guard lock(mutex_);
  if (steps_[index(party)]++ != crash_[index(party)]) return;
  down_ = has_crashed_ = true;
  changed_.notify_all();
  throw Crashed();
}

void IdealConnection::close() {
  const std::lock_guard lock(mutex_);
  down_ = true;
  changed_.notify_all();
}

IdealConnection::Result IdealConnection::call(Party party, const Call& call) {
  step(party);
  Result result;
  {
    std::unique_lock lock(mutex_);
    if (down_) throw NetworkError("the peer is gone");
    auto& mine = calls_[index(party)];
    mine = call;
    if (calls_[0] && calls_[1]) perform();
    changed_.notify_all();
    changed_.wait(lock, [&] { return down_ || results_[index(party)]; });
    auto& got = results_[index(party)];
    // What is under way when the peer crashes arrives or does not.
    if (!got || (has_crashed_ && (rng_() & 1) != 0)) {
      mine.reset();
      throw NetworkError("the peer is gone");
    }
    result = std::move(*got);
    got.reset();
  }
  step(party);
  return result;
}

void IdealConnection::perform() {
  if (calls_[0]->label != calls_[1]->label) {
    down_ = true;
    return;
  }
  results_ = {Result(), Result()};
  if (calls_[0]->circuit != nullptr) evaluate();
  if (down_) return;
  SecretVector<std::byte> coins(32);
  for (std::byte& byte : coins) byte = static_cast<std::byte>(rng_());
  for (const std::size_t party : {0, 1}) {
    results_[party]->coins = coins;
    results_[party]->told = calls_[1 - party]->told;
  }
  calls_ = {};
}

void IdealConnection::evaluate() {
  const circuit::CircuitInfo& info = calls_[0]->circuit->info();
  if (info.name != calls_[1]->circuit->info().name) {
    down_ = true;
    results_ = {};
    return;
  }
  std::vector<LaneMatrix> inputs;
  for (const circuit::InputBundle& bundle : info.inputs) {
    const auto of = [&](std::size_t party) -> const LaneMatrix& {
      return calls_[party]->values->at(bundle.name);
    };
    if (bundle.source == circuit::InputSource::Shared) {
      inputs.push_back(combined(calls_[0]->shared->at(bundle.name).my_share(),
                                calls_[1]->shared->at(bundle.name).my_share()));
    } else if (bundle.source == circuit::InputSource::Public) {
      if (!is_equal(of(0).bytes(), of(1).bytes())) {
        down_ = true;
        results_ = {};
        return;
      }
      inputs.push_back(of(0));
    } else {
      inputs.push_back(of(bundle.source == circuit::InputSource::A ? 0 : 1));
    }
  }
  const std::vector<LaneMatrix> outputs = circuit::evaluate(*calls_[0]->circuit, 1, inputs);
  const std::string origin = "run " + std::to_string(runs_++);
  for (std::size_t b = 0; b < outputs.size(); ++b) {
    const circuit::OutputBundle& bundle = info.outputs[b];
    if (bundle.to == circuit::Receiver::None) {
      const auto shares = shared_value(outputs[b], origin, rng_);
      for (const std::size_t party : {0, 1})
        results_[party]->run.shared.emplace(bundle.name, shares[party]);
      continue;
    }
    for (const Party party : {Party::A, Party::B})
      if (receives(bundle.to, party))
        results_[index(party)]->run.outputs.set(bundle.name, outputs[b]);
  }
}

}  // namespace tinyot::test
