#include "online/runtime.h"

#include <algorithm>

#include "base/error.h"
#include "checks/opening.h"
#include "circuitgen/layering.h"
#include "online/and_layer.h"
#include "online/wires.h"

namespace tinyot {
namespace {

constexpr MessageTag kInputs{0x2101, "input.masked"};
constexpr MessageTag kOutputs{0x2102, "output.shares"};
constexpr std::size_t kWindowWireBytes = std::size_t{256} << 20;
constexpr std::size_t kWindowMin = 4096, kWindowMax = std::size_t{1} << 20;

// Shares of all output bits, kept until they may be revealed: entry (bundle, bit) holds all lanes.
class OutputShares {
 public:
  OutputShares(const CircuitInfo& info, std::size_t lanes) : info_(info), lanes_(lanes) {
    for (const OutputBundle& bundle : info.outputs) {
      offsets_.push_back(bits_);
      bits_ += bundle.bits;
    }
    shares_ = BitVector(bits_ * lanes);
    macs_.resize(bits_ * lanes);
    keys_.resize(bits_ * lanes);
  }

  void take(const RoundOutput& output, const WireView& wire) {
    const std::size_t at = (offsets_[output.bundle] + output.bit) * lanes_;
    copy_bits(wire.bits, 0, shares_.words(), at, lanes_);
    std::copy(wire.macs.begin(), wire.macs.end(), macs_.begin() + at);
    std::copy(wire.keys.begin(), wire.keys.end(), keys_.begin() + at);
  }

  // Reveals my shares of what the peer receives and takes the peer's of what I receive.
  std::vector<std::optional<BundleValues>> reveal(Session& session, SettledCheck before);

 private:
  std::size_t first(std::size_t bundle) const { return offsets_[bundle] * lanes_; }
  std::size_t count(std::size_t bundle) const { return info_.outputs[bundle].bits * lanes_; }
  std::size_t received_by(Party party) const {
    std::size_t total = 0;
    for (std::size_t b = 0; b < info_.outputs.size(); ++b)
      if (receives(info_.outputs[b].to, party)) total += count(b);
    return total;
  }

  const CircuitInfo& info_;
  std::size_t lanes_, bits_ = 0;
  std::vector<std::size_t> offsets_;
  BitVector shares_;
  SecretVector<Mac> macs_;
  SecretVector<Key> keys_;
};

std::vector<std::optional<BundleValues>> OutputShares::reveal(Session& session, SettledCheck) {
  BitVector sent(received_by(session.peer()));
  std::size_t at = 0;
  for (std::size_t b = 0; b < info_.outputs.size(); ++b) {
    if (!receives(info_.outputs[b].to, session.peer())) continue;
    sent.copy_from(shares_, first(b), at, count(b));
    at += count(b);
  }
  reveal_bits(session, kOutputs, sent);
  for (std::size_t b = 0; b < info_.outputs.size(); ++b)
    if (receives(info_.outputs[b].to, session.peer())) absorb_my_macs(session, std::span(macs_).subspan(first(b), count(b)));

  const BitVector received = receive_revealed_bits(session, kOutputs, received_by(session.me()));
  at = 0;
  std::vector<std::optional<BundleValues>> values(info_.outputs.size());
  for (std::size_t b = 0; b < info_.outputs.size(); ++b) {
    if (!receives(info_.outputs[b].to, session.me())) continue;
    absorb_peers_keys(session, std::span(keys_).subspan(first(b), count(b)), received, at);
    BundleValues& lanes = values[b].emplace(lanes_, BitVector(info_.outputs[b].bits));
    for (std::size_t bit = 0; bit < info_.outputs[b].bits; ++bit)
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        const std::size_t i = bit * lanes_ + lane;
        lanes[lane].put(bit, received[at + i] ^ shares_[first(b) + i]);
      }
    at += count(b);
  }
  return values;
}

class Runtime final : public RoundSink {
 public:
  Runtime(Session& session, MaterialSource& source, MaterialForm form, const CircuitInfo& info, std::size_t lanes,
          const std::vector<std::optional<BundleValues>>& inputs)
      : session_(session), source_(source), form_(form), info_(info), inputs_(inputs), wires_(session.me(), session.global_key(), lanes),
        outputs_(info, lanes) {}

  void round(const Round& round) override {
    wires_.grow(round.slots);
    for (const Party owner : {Party::A, Party::B}) take_inputs(round, owner);
    for (const LocalGate& gate : round.local) evaluate(gate);
    for (const RoundOutput& output : round.outputs) outputs_.take(output, wires_[output.in]);
    if (round.ands.empty()) return;
    evaluate_and_layer(session_, source_, form_, round.ands, wires_);
    ++result.and_rounds;
  }

  void reveal_outputs() {
    SettledCheck settled = settle_transcripts(session_);
    auto values = outputs_.reveal(session_, std::move(settled));
    hand_out(std::move(values), settle_transcripts(session_));
  }

  RunResult result;

 private:
  void hand_out(std::vector<std::optional<BundleValues>> values, SettledCheck) { result.outputs = std::move(values); }

  void evaluate(const LocalGate& gate) {
    switch (gate.kind) {
      case GateKind::Const: return wires_.set_constant(gate.out, gate.in0 != 0);
      case GateKind::Xor: return wires_.set_xor(gate.out, gate.in0, gate.in1);
      case GateKind::Not: return wires_.set_not(gate.out, gate.in0);
      default: ENSURE(!"a local gate");
    }
  }

  std::size_t copies(const RoundInput& input) const { return info_.inputs[input.bundle].same_in_all_lanes ? 1 : wires_.lanes(); }

  // Input of `owner`: fresh [r]; the owner announces m = x ^ r; [x] = [r ^ m | 0].
  void take_inputs(const Round& round, Party owner) {
    std::vector<RoundInput> inputs;
    std::size_t n = 0;
    for (const RoundInput& input : round.inputs) {
      if (info_.inputs[input.bundle].owner != owner) continue;
      inputs.push_back(input);
      n += copies(input);
    }
    if (n == 0) return;
    MaterialBatch mask = source_.draw(auth_bits_of(owner), n);
    if (owner == session_.me())
      give_inputs(inputs, mask.mine[0]);
    else
      receive_inputs(inputs, mask.peers[0]);
  }

  void give_inputs(const std::vector<RoundInput>& inputs, const AuthBitsMine& mask) {
    BitVector masked(mask.size());
    std::size_t at = 0;
    for (const RoundInput& input : inputs) {
      const WireView wire = wires_[input.out];
      const std::size_t given = copies(input);
      for (std::size_t lane = 0; lane < wires_.lanes(); ++lane) {
        const std::size_t from = given == 1 ? 0 : lane;
        const bool x = (*inputs_[input.bundle])[from][input.bit];
        masked.put(at + from, x ^ mask.bits[at + from]);
        put_bit(wire.bits, lane, x);
        wire.macs[lane] = mask.macs[at + from];
        wire.keys[lane] = Key{{0, 0}};
      }
      at += given;
    }
    send_bits(session_.channel(), kInputs, masked);
  }

  void receive_inputs(const std::vector<RoundInput>& inputs, const AuthBitsPeers& mask) {
    const BitVector masked = recv_bits(session_.channel(), kInputs, mask.size());
    std::size_t at = 0;
    for (const RoundInput& input : inputs) {
      const WireView wire = wires_[input.out];
      const std::size_t given = copies(input);
      std::fill(wire.bits.begin(), wire.bits.end(), 0);
      for (std::size_t lane = 0; lane < wires_.lanes(); ++lane) {
        const std::size_t from = at + (given == 1 ? 0 : lane);
        wire.macs[lane] = Mac{{0, 0}};
        wire.keys[lane] = moved(mask.keys[from], session_.global_key(), masked[from]);
      }
      at += given;
    }
  }

  Session& session_;
  MaterialSource& source_;
  MaterialForm form_;
  const CircuitInfo& info_;
  const std::vector<std::optional<BundleValues>>& inputs_;
  Wires wires_;
  OutputShares outputs_;
};

}  // namespace

MaterialCounts material_for(const Circuit& circuit, const CircuitCost& cost, MaterialForm form, std::size_t lanes) {
  MaterialCounts counts;
  const std::uint64_t ands = cost.ands * lanes;
  if (form == MaterialForm::Triples) {
    counts[MaterialKind::Triples] = ands;
  } else {
    for (const Party party : {Party::A, Party::B}) counts[auth_ands_of(party)] = counts[auth_ots_from(party)] = counts[auth_bits_of(party)] = ands;
  }
  for (const InputBundle& bundle : circuit.info().inputs)
    counts[auth_bits_of(bundle.owner)] += std::uint64_t{bundle.bits} * (bundle.same_in_all_lanes ? 1 : lanes);
  return counts;
}

std::size_t window_for(std::size_t lanes) {
  return std::clamp(kWindowWireBytes / (lanes * (sizeof(Mac) + sizeof(Key))), kWindowMin, kWindowMax);
}

RunResult run_circuit(Session& session, MaterialSource& source, MaterialForm form, const Circuit& circuit, std::size_t lanes,
                      const std::vector<std::optional<BundleValues>>& inputs) {
  const CircuitInfo& info = circuit.info();
  ENSURE(lanes > 0 && inputs.size() == info.inputs.size());
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    if (info.inputs[b].owner != session.me()) continue;
    ENSURE(inputs[b] && inputs[b]->size() == (info.inputs[b].same_in_all_lanes ? 1 : lanes));
    for (const BitVector& value : *inputs[b]) ENSURE(value.size() == info.inputs[b].bits);
  }
  Runtime runtime(session, source, form, info, lanes, inputs);
  {
    const PhaseLog::Scope phase(session.log(), session.channel(), "gates", lanes);
    generate_rounds(circuit, window_for(lanes), runtime);
  }
  const PhaseLog::Scope phase(session.log(), session.channel(), "outputs", lanes);
  runtime.reveal_outputs();
  return std::move(runtime.result);
}

}  // namespace tinyot
