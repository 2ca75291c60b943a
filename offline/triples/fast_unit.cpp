#include "offline/triples/fast_unit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "checks/equality.h"
#include "offline/triples/layer_shifts.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {
namespace {

constexpr PieceCost kCostOfFold{
    .time = std::chrono::microseconds(100), .bytes = kFoldTriples, .ahead = 1};

class FastUnit final : public MadeUnit {
 public:
  FastUnit(checks::Session& session, const SecurityParameters& params, const Trees& trees,
           std::uint64_t number, const UnitRequest& request, Pace pace, LayerPool& pool)
      : session_(session), request_(request), size_(params.population(request.plan.ands)),
        pace_(pace), ahead_(pace.ahead(cost_of_triples(params.own<FastParameters>().softspoken_k))),
        source_(std::in_place, session, trees, number, pace), pool_(pool), leaky_(session) {
    layers_.reserve(request.plan.bucket.only());
  }
  ~FastUnit() override { give_back_all_but(0); }

  void make(std::size_t number, const DeltaConsistency& check_delta, BulkTurns& bulk);
  void pour(const checks::SettledCheck&, material::Sink& sink) override;

 private:
  struct Piece {
    SoftSpokenBatch batch;
    std::size_t layer;
    ObjectChunk chunk;
  };

  void make_plain_bits(const DeltaConsistency& check_delta);
  std::vector<Piece> pieces();
  void make_layers(BulkTurns& bulk);
  void give_back_all_but(std::size_t layers);
  void fold();

  // x, y and r of a piece.
  std::array<SharedView, 3> columns(const Piece& piece);
  std::array<MineView, 3> mine_of(const Piece& piece);
  std::array<PeersView, 3> peers_of(const Piece& piece);

  checks::Session& session_;
  UnitRequest request_;
  std::size_t size_;  // of a layer
  Pace pace_;
  std::size_t ahead_;                // of leaky triples
  std::optional<BitSource> source_;  // until all bits are made
  AuthBits plain_;                   // for inputs, then for the Delta-consistency check
  LayerPool& pool_;
  std::vector<TripleLayer> layers_;
  LeakyTriples leaky_;
};

void FastUnit::make(std::size_t number, const DeltaConsistency& check_delta, BulkTurns& bulk) {
  make_plain_bits(check_delta);
  session_.channel().flush();  // so that the peer does not wait for our turn
  bulk.begin(number);
  make_layers(bulk);
  fold();
  give_back_all_but(1);
}

void FastUnit::make_plain_bits(const DeltaConsistency& check_delta) {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits",
                                   request_.inputs);
  const std::size_t inputs = whole_blocks(request_.inputs);
  plain_ = source_->make(inputs + kReferenceBits);
  check_delta.check(session_, plain_.mine.view(inputs, kReferenceBits),
                    plain_.peers.view(inputs, kReferenceBits));
}

void FastUnit::give_back_all_but(std::size_t layers) {
  for (; layers_.size() > layers; layers_.pop_back()) pool_.give_back(std::move(layers_.back()));
}

// The unit in batches of bits, three for each leaky triple.
std::vector<FastUnit::Piece> FastUnit::pieces() {
  std::vector<Piece> pieces;
  for (std::size_t layer = 0; layer < request_.plan.bucket.only(); ++layer)
    for (const ObjectChunk& chunk : object_chunks(size_, kBatchTriples))
      pieces.push_back({source_->next(3 * chunk.count), layer, chunk});
  return pieces;
}

std::array<SharedView, 3> FastUnit::columns(const Piece& piece) {
  TripleLayer& layer = layers_[piece.layer];
  return {layer.x.view().part(piece.chunk), layer.y.view().part(piece.chunk),
          layer.z.view().part(piece.chunk)};
}

std::array<MineView, 3> FastUnit::mine_of(const Piece& piece) {
  const auto [x, y, r] = columns(piece);
  return {x.mine, y.mine, r.mine};
}

std::array<PeersView, 3> FastUnit::peers_of(const Piece& piece) {
  const auto [x, y, r] = columns(piece);
  return {x.peers, y.peers, r.peers};
}

void FastUnit::make_layers(BulkTurns& bulk) {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky triples",
                                   request_.plan.bucket.only() * size_);
  const std::vector<Piece> all = pieces();
  in_steps(
      all, ahead_,
      [&](const Piece& piece) {
        if (piece.layer == layers_.size())
          layers_.push_back(pool_.take(size_, request_.plan.bucket.only()));
        source_->mac_holder().send_corrections(piece.batch, mine_of(piece));
        if (&piece == &all.back()) bulk.end();
      },
      [&](const Piece& piece) {
        source_->key_holder().receive_corrections(piece.batch, peers_of(piece));
      },
      [&](const Piece& piece) { source_->mac_holder().answer(piece.batch, mine_of(piece)); },
      [&](const Piece& piece) {
        source_->key_holder().verify(piece.batch);
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
  source_.reset();
}

void FastUnit::fold() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "layers", size_);
  LayerFold layers(session_, layers_, toss_shifts(session_, layers_.size(), size_));
  in_steps(
      object_chunks(size_, kFoldTriples), pace_.ahead(kCostOfFold),
      [&](const ObjectChunk& chunk) { layers.reveal(chunk); },
      [&](const ObjectChunk& chunk) { layers.fold(chunk); });
}

void FastUnit::pour(const checks::SettledCheck&, material::Sink& sink) {
  pour_bits(sink, session_.me(), request_.inputs, plain_, 0);
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

PieceCost cost_of_triples(std::uint32_t softspoken_k) {
  PieceCost cost = cost_of_batch(softspoken_k);
  cost.time += std::chrono::microseconds(150);
  cost.bytes += kBatchTriples * sizeof(Block);
  return cost;
}

// Uses a domain that is not used by any unit.
AuthBits FastUnitMaker::first_bits() {
  trees_ = make_trees(session_, params_.own<FastParameters>().softspoken_k);
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits",
                                   kReferenceBits);
  return BitSource(session_, trees_, ~std::uint64_t{0}).make(kReferenceBits);
}

AuthBits FastUnitMaker::make_reference_bits() { return first_bits(); }

void FastUnitMaker::prepare(std::size_t) {
  AuthBits first = first_bits();
  if (delta_check_.has_reference())
    delta_check_.check(session_, first.mine.view(0, kReferenceBits),
                       first.peers.view(0, kReferenceBits));
  else
    delta_check_.set_reference_bits(std::move(first));
}

std::unique_ptr<MadeUnit> FastUnitMaker::make(checks::Session& part, std::size_t number,
                                              const UnitRequest& request) {
  auto unit = std::make_unique<FastUnit>(part, params_, trees_, number, request, pace_, layers_);
  unit->make(number, delta_check_, bulk_);
  return unit;
}

}  // namespace tinyot::offline
