#include "offline/wan/wan_unit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "checks/coin_toss.h"
#include "offline/unit/steps.h"
#include "offline/wan/bit_triple.h"
#include "offline/wan/sacrifice.h"
#include "offline/wan/share_fold.h"

namespace tinyot::offline {

std::uint64_t first_set_size(std::uint64_t l, std::uint32_t bucket) { return bucket * l; }
std::uint64_t further_set_size(std::uint64_t l, std::uint32_t bucket) {
  return bucket * l + kOpenedTriples;
}

// What is held of a piece between its steps: my bits, and its messages.
const StageCost kCostOfBitTriples{
    .time = std::chrono::microseconds(1500), .bytes = 8 * kChunkObjects / 8, .depth = 1};

namespace {

class WanUnit final : public MadeUnit {
 public:
  WanUnit(checks::Session& session, const SecurityParameters& params,
          std::unique_ptr<BitStream> bits, const UnitRequest& request, PipelineDepth depth,
          WanUnitMemories& memories)
      : session_(session), request_(request), form_(params.material()),
        size_(params.population(request.plan.ands)), depth_(depth), stream_(std::move(bits)),
        memories_(memories), memory_(memories.take()) {}
  ~WanUnit() override { memories_.release(std::move(memory_)); }

  void make();
  void pour(const checks::SettledCheck&, material::Sink& sink) override;

 private:
  struct Piece {
    std::size_t set;
    ObjectChunk chunk;
  };

  std::size_t sets() const { return request_.plan.bucket.only(); }
  void make_plain_bits();
  void prepare_memory();
  std::vector<Piece> pieces() const;
  crypto::PublicSeed make_leaky_triples();
  template <class Body>
  void in_layers(const ObjectChunk& chunk, Body body);
  void keep(const ObjectChunk& chunk, const SharedView& x, const SharedView& y,
            const SharedView& r);

  checks::Session& session_;
  UnitRequest request_;
  AndMaterial form_;
  std::size_t size_;  // l
  PipelineDepth depth_;
  std::unique_ptr<BitStream> stream_;  // until all bits are made
  AuthBits plain_;                     // for inputs
  WanUnitMemories& memories_;
  WanUnitMemory memory_;
  std::span<TripleSet> sets_;  // the first objects of set 0 become the triples
  // The layers of set 0 with MACs and keys apart, of material for garbling: y in layer 0 only.
  std::span<TripleLayer> layers_;
};

void WanUnit::make() {
  make_plain_bits();
  const crypto::PublicSeed coins = make_leaky_triples();
  combine_sets(session_, sets_, coins, depth_, layers_);
}

void WanUnit::make_plain_bits() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits",
                                   request_.inputs);
  stream_->make(plain_);
}

std::vector<WanUnit::Piece> WanUnit::pieces() const {
  std::vector<Piece> pieces;
  for (std::size_t set = 0; set < sets(); ++set)
    for (const ObjectChunk& chunk : object_chunks(sets_[set].size()))
      pieces.push_back({set, chunk});
  return pieces;
}

// Calls body(layer, chunk of the layer, first object in the whole chunk) for each layer of set 0
// that the chunk of set 0 touches.
template <class Body>
void WanUnit::in_layers(const ObjectChunk& chunk, Body body) {
  for (std::size_t done = 0; done < chunk.count;) {
    const std::size_t at = chunk.first + done, first = at % size_,
                      count = std::min(chunk.count - done, size_ - first);
    body(at / size_, ObjectChunk{first, count}, done);
    done += count;
  }
}

void copy_shared(const SharedView& from, const SharedView& to) {
  copy_bits(from.mine.bits, 0, to.mine.bits, 0, from.size());
  std::ranges::copy(from.mine.macs, to.mine.macs.begin());
  std::ranges::copy(from.peers, to.peers.begin());
}

void WanUnit::keep(const ObjectChunk& chunk, const SharedView& x, const SharedView& y,
                   const SharedView& r) {
  in_layers(chunk, [&](std::size_t layer, const ObjectChunk& part, std::size_t first) {
    TripleLayer& to = layers_[layer];
    copy_shared(x.part(first, part.count), to.x.view().part(part));
    copy_shared(r.part(first, part.count), to.z.view().part(part));
    if (layer == 0) copy_shared(y.part(first, part.count), to.y.view().part(part));
  });
}

void WanUnit::prepare_memory() {
  const std::uint32_t bucket = request_.plan.bucket.only();
  memory_.sets.resize(bucket);
  for (std::size_t set = 0; set < bucket; ++set)
    memory_.sets[set].resize(set == 0 ? first_set_size(size_, bucket)
                                      : further_set_size(size_, bucket));
  sets_ = memory_.sets;
  if (form_ != AndMaterial::Garbling) return;
  memory_.layers.resize(bucket);
  for (std::size_t layer = 0; layer < bucket; ++layer) {
    TripleLayer& kept = memory_.layers[layer];
    for (SharedColumn* column : {&kept.x, &kept.z})
      if (column->size() != size_) *column = SharedColumn(size_);
    if (layer == 0 && kept.y.size() != size_) kept.y = SharedColumn(size_);
  }
  layers_ = memory_.layers;
}

// Returns the coins for orders and shifts, which are tossed when both parties have all G and d.
crypto::PublicSeed WanUnit::make_leaky_triples() {
  prepare_memory();
  const std::vector<Piece> all = pieces();
  std::size_t total = 0, done = 0;
  for (const TripleSet& set : sets_) total += set.size();
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky triples", total);
  SharedColumn columns[] = {SharedColumn(kChunkObjects), SharedColumn(kChunkObjects),
                            SharedColumn(kChunkObjects)};
  BitProducts products(session_);
  std::optional<checks::CoinToss> toss;
  run_pipeline(
      all, depth_.depth(kCostOfBitTriples),
      [&](const Piece& piece) {
        const auto first = [&](SharedColumn& column) {
          return column.view().part(0, piece.chunk.count);
        };
        const SharedView x = first(columns[0]), y = first(columns[1]), r = first(columns[2]);
        for (const SharedView& column : {x, y, r}) stream_->fill(column.mine, column.peers);
        products.offer(piece.set, piece.chunk, x, y, r);
        share_triples(x, y, r, session_.global_key(),
                      std::span(sets_[piece.set]).subspan(piece.chunk.first, piece.chunk.count));
        if (piece.set == 0 && !layers_.empty()) keep(piece.chunk, x, y, r);
      },
      [&](const Piece& piece) {
        products.announce();
        if (&piece == &all.back()) toss.emplace(session_, "bit triple orders");
      },
      [&](const Piece& piece) {
        const BitProducts::Announced announced = products.finish();
        const ScopedSecret<Delta> delta(session_.global_key());
        become_products(std::span(sets_[piece.set]).subspan(piece.chunk.first, piece.chunk.count),
                        announced, delta);
        if (piece.set == 0 && !layers_.empty())
          in_layers(piece.chunk,
                    [&](std::size_t layer, const ObjectChunk& part, std::size_t first) {
                      become_products(layers_[layer].z.view().part(part), announced, first, delta);
                    });
        phase.advance(done += piece.chunk.count);
      });
  stream_.reset();
  return toss->finish();
}

void WanUnit::pour(const checks::SettledCheck&, material::Sink& sink) {
  pour_bits(sink, session_.me(), request_.inputs, plain_, 0);
  if (form_ == AndMaterial::Garbling)
    return pour_full_triples(sink, session_.me(), request_.plan.ands, layers_[0]);
  pour_objects(sink, MaterialKind::Triples, session_.me(), request_.plan.ands,
               [&](std::size_t first, material::Batch& out) {
                 constexpr MacShare TripleShares::*kColumns[] = {&TripleShares::x, &TripleShares::y,
                                                                 &TripleShares::z};
                 for (std::size_t column = 0; column < std::size(kColumns); ++column) {
                   AuthShares& to = out.shares[column];
                   for (std::size_t i = 0; i < out.count; ++i) {
                     to.macs[i] = sets_[0][first + i].*kColumns[column];
                     to.bits.put(i, share_of_bit(to.macs[i]));
                   }
                 }
               });
}

}  // namespace

std::unique_ptr<MadeUnit> WanUnitMaker::make(checks::Session& part, std::size_t number,
                                             const UnitRequest& wanted) {
  const UnitRequest request = with_result_masks(wanted, params_.material());
  auto unit = std::make_unique<WanUnit>(part, params_, bits_->stream(part, number, request.inputs),
                                        request, depth_, memories_);
  unit->make();
  return unit;
}

}  // namespace tinyot::offline
