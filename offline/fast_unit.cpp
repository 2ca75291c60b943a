#include "offline/fast_unit.h"

#include <algorithm>

#include "base/error.h"
#include "checks/equality.h"
#include "offline/steps.h"

namespace tinyot {
namespace {

constexpr std::size_t kObjectsOfBatch = kBatchBits / 3;  // x, y and r of each
constexpr std::size_t kBatchesAhead = 1;                 // that a step is behind the one before it
static_assert(kObjectsOfBatch % kKappa == 0);

std::size_t whole_blocks(std::size_t count) { return (count + kKappa - 1) / kKappa * kKappa; }

// The bits of one session part, numbered batch after batch.
class BitSource {
 public:
  BitSource(Session& session, const Trees& trees, std::uint64_t domain) : mac_holder_(session, trees.mine, domain), key_holder_(session, trees.peers, domain) {}

  SoftSpokenMacHolder& mac_holder() { return mac_holder_; }
  SoftSpokenKeyHolder& key_holder() { return key_holder_; }
  SoftSpokenBatch next(std::size_t bits) { return {number_++, bits}; }

  // `count` checked bits of each direction.
  AuthBits make(std::size_t count) {
    const std::size_t total = whole_blocks(count);
    AuthBits bits{AuthBitsMine(total), AuthBitsPeers(total)};
    struct Placed {
      SoftSpokenBatch batch;
      std::size_t first;
    };
    std::vector<Placed> batches;
    for (std::size_t first = 0; first < total; first += kBatchBits) batches.push_back({next(std::min(kBatchBits, total - first)), first});
    in_steps(
        batches, kBatchesAhead, [&](const Placed& placed) { mac_holder_.send_corrections(placed.batch, {{bits.mine.view(placed.first, placed.batch.bits)}}); },
        [&](const Placed& placed) { key_holder_.receive_corrections(placed.batch, {{bits.peers.view(placed.first, placed.batch.bits)}}); },
        [&](const Placed& placed) { mac_holder_.answer(placed.batch); }, [&](const Placed& placed) { key_holder_.verify(placed.batch); });
    return bits;
  }

 private:
  SoftSpokenMacHolder mac_holder_;
  SoftSpokenKeyHolder key_holder_;
  std::size_t number_ = 0;
};

class FastUnit final : public MadeUnit {
 public:
  FastUnit(Session& session, const Trees& trees, std::uint64_t number, const UnitRequest& request)
      : session_(session), request_(request), source_(session, trees, number) {}

  void make(const GlobalKeyTie& tie);
  void pour(const SettledCheck&, MaterialSink& sink) override;

 private:
  void make_layer(std::size_t number, TripleLayer& layer);

  Session& session_;
  UnitRequest request_;
  BitSource source_;
  AuthBits plain_;  // for inputs, then for the tie
  TripleLayer triples_;
};

void FastUnit::make(const GlobalKeyTie& tie) {
  const std::size_t size = whole_blocks(request_.plan.ands);
  {
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits", request_.inputs);
    const std::size_t inputs = whole_blocks(request_.inputs);
    plain_ = source_.make(inputs + kTieBits);
    tie.check(session_, plain_.mine.view(inputs, kTieBits), plain_.peers.view(inputs, kTieBits));
  }
  triples_ = TripleLayer(size);
  make_layer(0, triples_);
  TripleLayer more(size);
  for (std::size_t k = 1; k < request_.plan.bucket; ++k) {
    make_layer(k, more);
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "layers", size);
    fold_layer(session_, toss_shift(session_, k, size), size, more, triples_);
  }
}

// The triples of one layer, and their EQ.
void FastUnit::make_layer(std::size_t number, TripleLayer& layer) {
  struct Piece {
    SoftSpokenBatch batch;
    ObjectChunk chunk;
  };
  const std::size_t size = layer.x.peers.size();
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky triples", size);
  std::vector<Piece> pieces;
  for (std::size_t first = 0; first < size; first += kObjectsOfBatch) {
    const std::size_t count = std::min(kObjectsOfBatch, size - first);
    pieces.push_back({source_.next(3 * count), {first, count, pieces.size()}});
  }
  const SharedView x = layer.x.view(), y = layer.y.view(), z = layer.z.view();
  LeakyTriples triples(session_, number, x, y, z);
  in_steps(
      pieces, kBatchesAhead,
      [&](const Piece& piece) {
        const auto part = [&](const SharedView& bits) { return bits.mine.part(piece.chunk.first, piece.chunk.count); };
        source_.mac_holder().send_corrections(piece.batch, {{part(x), part(y), part(z)}});
      },
      [&](const Piece& piece) {
        const auto part = [&](const SharedView& bits) { return bits.peers.subspan(piece.chunk.first, piece.chunk.count); };
        source_.key_holder().receive_corrections(piece.batch, {{part(x), part(y), part(z)}});
      },
      [&](const Piece& piece) { source_.mac_holder().answer(piece.batch); },
      [&](const Piece& piece) {
        source_.key_holder().verify(piece.batch);
        triples.offer(piece.chunk);
      },
      [&](const Piece& piece) { triples.announce(piece.chunk); },
      [&](const Piece& piece) {
        triples.finish(piece.chunk);
        phase.advance(piece.chunk.first + piece.chunk.count);
      });
  EqualityCheck equality;
  equality.add("leaky triples", triples.check_digest());
  equality.run(session_);
}

void FastUnit::pour(const SettledCheck&, MaterialSink& sink) {
  const SharedBits* const columns[] = {&triples_.x, &triples_.y, &triples_.z};
  pour_objects(sink, MaterialKind::Triples, session_.me(), request_.plan.ands, [&](std::size_t first, MaterialBatch& out) {
    for (std::size_t i = 0; i < 3; ++i) {
      copy_part(columns[i]->mine, first, out.mine[i]);
      copy_part(columns[i]->peers, first, out.peers[i]);
    }
  });
  pour_bits(sink, session_.me(), request_.inputs, plain_, 0);
}

}  // namespace

void FastUnitMaker::prepare(std::size_t) {
  trees_ = make_trees(session_, k_);
  // A domain that no unit has.
  AuthBits first = BitSource(session_, trees_, ~std::uint64_t{0}).make(kTieBits);
  if (tie_.has_anchor())
    tie_.check(session_, first.mine.view(0, kTieBits), first.peers.view(0, kTieBits));
  else
    tie_.set_anchor(std::move(first));
}

std::unique_ptr<MadeUnit> FastUnitMaker::make(Session& part, std::size_t number, const UnitRequest& request) {
  auto unit = std::make_unique<FastUnit>(part, trees_, number, request);
  unit->make(tie_);
  return unit;
}

}  // namespace tinyot
