#include "online/interactive/interactive_run.h"

#include <algorithm>
#include <utility>

#include "online/interactive/and_layer.h"
#include "online/runtime.h"

namespace tinyot::online {
namespace {

constexpr std::size_t kChunkEntries = 512;  // ANDs of a tile whose blocks are gathered at a time

// The gathered operands and products of some ANDs.
class BlockChunk {
 public:
  explicit BlockChunk(std::size_t planes) : planes_(planes), blocks_(3 * planes * kCapacity) {}

  static constexpr std::size_t kCapacity = kChunkEntries + Lanes::kTileLanes;
  // Operands 0, 1, 2 are x, y, z.
  Block* plane(std::size_t operand, std::size_t p) {
    return blocks_.data() + (operand * planes_ + p) * kCapacity;
  }
  ShareBlocks operand(std::size_t number) {
    return {{plane(number, 0), planes_ == 2 ? plane(number, 1) : nullptr}};
  }

 private:
  std::size_t planes_;
  SecretVector<Block> blocks_;
};

// The ANDs of a round, whose operands are gathered for a layer.
class GatheredAnds final : public RoundAnds {
 public:
  GatheredAnds(std::unique_ptr<AndLayer> layer, const Lanes& lanes, BlockChunk& chunk)
      : layer_(std::move(layer)), lanes_(lanes), chunk_(chunk) {}

  BitVector open(const circuit::Round&, std::span<const InputLayer>) override {
    return layer_->open();
  }
  void combine(const circuit::Round& round, std::size_t tile, WireBlocks& wires) override;
  void combine_invariant(const circuit::Round& round, WireBlocks& wires) override {
    combine_gathered(round.invariant_ands, 0, 1, wires);
  }

 private:
  void combine_gathered(std::span<const circuit::RoundAnd> ands, std::size_t tile,
                        std::size_t width, WireBlocks& wires);
  ShareBlocks operand(std::size_t number, std::size_t tile, circuit::Slot slot, WireBlocks& wires);

  std::unique_ptr<AndLayer> layer_;
  const Lanes& lanes_;
  BlockChunk& chunk_;
};

// Of a full tile the blocks are used where they are.
void GatheredAnds::combine(const circuit::Round& round, std::size_t tile, WireBlocks& wires) {
  const std::size_t width = lanes_.width(tile);
  if (width < Lanes::kTileLanes) return combine_gathered(round.ands, tile, width, wires);
  for (const circuit::RoundAnd& gate : round.ands)
    layer_->combine(width, operand(0, tile, gate.in0, wires), operand(1, tile, gate.in1, wires),
                    operand(2, tile, gate.out, wires));
}

// The blocks of a slot in a full tile. Those of a lane-invariant wire are copied to the chunk.
ShareBlocks GatheredAnds::operand(std::size_t number, std::size_t tile, circuit::Slot slot,
                                  WireBlocks& wires) {
  if (circuit::is_invariant(slot)) {
    for (std::size_t p = 0; p < wires.planes(); ++p)
      wires.read(tile, slot, p, Lanes::kTileLanes, chunk_.plane(number, p));
    return chunk_.operand(number);
  }
  ShareBlocks blocks{};
  for (std::size_t p = 0; p < wires.planes(); ++p) blocks.plane[p] = wires.plane(tile, slot, p);
  return blocks;
}

void GatheredAnds::combine_gathered(std::span<const circuit::RoundAnd> ands, std::size_t tile,
                                    std::size_t width, WireBlocks& wires) {
  const std::size_t planes = wires.planes(), step = std::max<std::size_t>(1, kChunkEntries / width);
  for (std::size_t first = 0; first < ands.size(); first += step) {
    const auto some = ands.subspan(first, std::min(step, ands.size() - first));
    for (std::size_t p = 0; p < planes; ++p) {
      Block *x = chunk_.plane(0, p), *y = chunk_.plane(1, p);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (i + kGatesAhead < some.size()) {
          wires.prefetch(tile, some[i + kGatesAhead].in0, p);
          wires.prefetch(tile, some[i + kGatesAhead].in1, p);
        }
        wires.read(tile, some[i].in0, p, width, x);
        wires.read(tile, some[i].in1, p, width, y);
        x += width;
        y += width;
      }
    }
    layer_->combine(some.size() * width, chunk_.operand(0), chunk_.operand(1), chunk_.operand(2));
    for (std::size_t p = 0; p < planes; ++p) {
      const Block* z = chunk_.plane(2, p);
      for (const circuit::RoundAnd& gate : some) {
        copy_blocks(z, width, wires.plane(tile, gate.out, p));
        z += width;
      }
    }
  }
}

class InteractiveSteps final : public RoundSteps {
 public:
  InteractiveSteps(checks::Session& session, MaterialReader& material, AndMaterial form,
                   const circuit::CircuitInfo& info, std::size_t lanes)
      : session_(session), material_(material), form_(form), info_(info), lanes_(lanes),
        chunk_(planes_of(wire_form_of(form))) {}

  std::vector<InputLayer> inputs_of(const circuit::Round& round) override {
    return draw_inputs(session_, material_, info_, lanes_, round);
  }
  std::unique_ptr<RoundAnds> begin(const circuit::Round& round, const WireBits& bits) override {
    if (round.and_count(lanes_.count()) == 0) return nullptr;
    return std::make_unique<GatheredAnds>(
        begin_and_layer(session_, material_, form_,
                        gather(round, lanes_, bits, &circuit::RoundAnd::in0),
                        gather(round, lanes_, bits, &circuit::RoundAnd::in1)),
        lanes_, chunk_);
  }

 private:
  checks::Session& session_;
  MaterialReader& material_;
  AndMaterial form_;
  const circuit::CircuitInfo& info_;
  Lanes lanes_;
  BlockChunk chunk_;
};

}  // namespace

Evaluation run_circuit(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, AndMaterial form,
                       circuit::CircuitRounds& rounds, const BundleValues& inputs,
                       const SharedValues& shared, const RunProgress& progress) {
  check_inputs(session.me(), rounds.circuit().info(), rounds.lanes(), inputs);
  check_shared_inputs(rounds.circuit().info(), {wire_form_of(form)}, rounds.lanes(), shared);
  MaterialReader material(source, wanted);
  InteractiveSteps steps(session, material, form, rounds.circuit().info(), rounds.lanes());
  Runtime runtime(session, steps, wire_form_of(form), rounds.circuit().info(), rounds.lanes(),
                  inputs, shared, progress);
  double evaluating_cpu_s = 0;
  {
    const net::PhaseLog::Scope phase(session.log(), session.channel(), "gates", rounds.lanes());
    evaluating_cpu_s = rounds.run(runtime);
    runtime.finish_blocks();
  }
  session.log().add({.name = "gates", .cpu_s = evaluating_cpu_s});
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "outputs", rounds.lanes());
  return runtime.reveal_outputs(material);
}

}  // namespace tinyot::online
