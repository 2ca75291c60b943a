#include "offline/triples/fast_unit.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "checks/equality.h"
#include "offline/triples/layer_shifts.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {
namespace {

constexpr StageCost kCostOfFold{
    .time = std::chrono::microseconds(100), .bytes = kFoldTriples, .depth = 1};

class FastUnit final : public MadeUnit {
 public:
  FastUnit(checks::Session& session, const SecurityParameters& params,
           std::unique_ptr<BitStream> bits, const UnitRequest& request, PipelineDepth depth,
           LayerPool& pool)
      : session_(session), request_(request), form_(params.material()),
        size_(params.population(request.plan.ands)), depth_(depth),
        ahead_(depth.depth(cost_of_triples(bits->cost_of_batch()))), stream_(std::move(bits)),
        pool_(pool), leaky_(session) {
    layers_.reserve(request.plan.bucket.only());
  }
  ~FastUnit() override { release_all_but(0); }

  void make(std::size_t number, SendPhaseSemaphore& sending);
  void pour(const checks::SettledCheck&, material::Sink& sink) override;

 private:
  struct Piece {
    BitBatch batch;
    std::size_t layer;
    ObjectChunk chunk;
  };

  void make_plain_bits();
  std::vector<Piece> pieces();
  void make_layers(SendPhaseSemaphore& sending);
  void release_all_but(std::size_t layers);
  void fold();

  // x, y and r of a piece.
  std::array<SharedView, 3> columns(const Piece& piece);
  using BitStep = void (BitStream::*)(const BitBatch&, const BitViews&);
  void perform(BitStep step, const Piece& piece);

  checks::Session& session_;
  UnitRequest request_;
  AndMaterial form_;
  std::size_t size_;  // of a layer
  PipelineDepth depth_;
  std::size_t ahead_;                  // of leaky triples
  std::unique_ptr<BitStream> stream_;  // until all bits are made
  AuthBits plain_;                     // for inputs, then those that the source needs
  LayerPool& pool_;
  std::vector<TripleLayer> layers_;
  LeakyTriples leaky_;
};

void FastUnit::make(std::size_t number, SendPhaseSemaphore& sending) {
  make_plain_bits();
  session_.channel().flush();  // so that the peer does not wait for our turn
  sending.begin(number);
  make_layers(sending);
  fold();
  release_all_but(1);
}

void FastUnit::make_plain_bits() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits",
                                   request_.inputs);
  stream_->make(plain_);
}

void FastUnit::release_all_but(std::size_t layers) {
  for (; layers_.size() > layers; layers_.pop_back()) pool_.release(std::move(layers_.back()));
}

// The unit in batches of bits, three for each leaky triple.
std::vector<FastUnit::Piece> FastUnit::pieces() {
  std::vector<Piece> pieces;
  for (std::size_t layer = 0; layer < request_.plan.bucket.only(); ++layer)
    for (const ObjectChunk& chunk : object_chunks(size_, kBatchTriples))
      pieces.push_back({stream_->next(3 * chunk.count), layer, chunk});
  return pieces;
}

std::array<SharedView, 3> FastUnit::columns(const Piece& piece) {
  TripleLayer& layer = layers_[piece.layer];
  return {layer.x.view().part(piece.chunk), layer.y.view().part(piece.chunk),
          layer.z.view().part(piece.chunk)};
}

void FastUnit::perform(BitStep step, const Piece& piece) {
  const auto [x, y, r] = columns(piece);
  const MacColumnView mine[] = {x.mine, y.mine, r.mine};
  const KeyColumnView peers[] = {x.peers, y.peers, r.peers};
  (stream_.get()->*step)(piece.batch, {mine, peers});
}

void FastUnit::make_layers(SendPhaseSemaphore& sending) {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky triples",
                                   request_.plan.bucket.only() * size_);
  const std::vector<Piece> all = pieces();
  run_pipeline(
      all, ahead_,
      [&](const Piece& piece) {
        if (piece.layer == layers_.size())
          layers_.push_back(pool_.take(size_, request_.plan.bucket.only()));
        perform(&BitStream::offer, piece);
        if (&piece == &all.back()) sending.end();
      },
      [&](const Piece& piece) { perform(&BitStream::accept, piece); },
      [&](const Piece& piece) { perform(&BitStream::answer, piece); },
      [&](const Piece& piece) {
        perform(&BitStream::confirm, piece);
        const auto [x, y, r] = columns(piece);
        leaky_.offer(piece.layer, piece.chunk, x, y);
      },
      [&](const Piece& piece) {
        const auto [x, y, r] = columns(piece);
        leaky_.announce(x, r);
      },
      [&](const Piece& piece) {
        const auto [x, y, z] = columns(piece);
        leaky_.finish(z);
        phase.advance(piece.layer * size_ + piece.chunk.first + piece.chunk.count);
      });
  checks::EqualityCheck equality("leaky triples");
  equality.add("leaky triples", leaky_.check_digest());
  equality.run(session_);
  stream_.reset();
}

void FastUnit::fold() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "layers", size_);
  LayerFold layers(session_, layers_, toss_shifts(session_, layers_.size(), size_));
  run_pipeline(
      object_chunks(size_, kFoldTriples), depth_.depth(kCostOfFold),
      [&](const ObjectChunk& chunk) { layers.reveal(chunk); },
      [&](const ObjectChunk& chunk) { layers.fold(chunk); });
}

void FastUnit::pour(const checks::SettledCheck&, material::Sink& sink) {
  pour_bits(sink, session_.me(), request_.inputs, plain_, 0);
  if (form_ == AndMaterial::Garbling)
    return pour_full_triples(sink, session_.me(), request_.plan.ands, layers_[0]);
  pour_objects(
      sink, MaterialKind::Triples, session_.me(), request_.plan.ands,
      [&](std::size_t first, material::Batch& out) {
        const SharedColumn* const columns[] = {&layers_[0].x, &layers_[0].y, &layers_[0].z};
        for (std::size_t i = 0; i < 3; ++i)
          share_part(columns[i]->mine, columns[i]->peers, first, session_.global_key(),
                     out.shares[i]);
      });
}

}  // namespace

StageCost cost_of_triples(StageCost of_batch) {
  StageCost cost = of_batch;
  cost.time += std::chrono::microseconds(150);
  cost.bytes += kBatchTriples * sizeof(Block);
  return cost;
}

std::unique_ptr<MadeUnit> FastUnitMaker::make(checks::Session& part, std::size_t number,
                                              const UnitRequest& wanted) {
  const UnitRequest request = with_result_masks(wanted, params_.material());
  auto unit = std::make_unique<FastUnit>(part, params_, bits_->stream(part, number, request.inputs),
                                         request, depth_, layers_);
  unit->make(number, sending_);
  return unit;
}

}  // namespace tinyot::offline
