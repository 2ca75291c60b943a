#include "offline/fast_unit.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "checks/equality.h"
#include "offline/steps.h"

namespace tinyot {
namespace {


class FastUnit final : public MadeUnit {
 public:
  using GiveBack = std::function<void(std::vector<TripleLayer>)>;

  // `memory` of an earlier unit is used again: the first use of memory costs as much as what is then done with it.
  FastUnit(Session& session, const SecurityParameters& params, const Trees& trees, std::uint64_t number, const UnitRequest& request,
           std::vector<TripleLayer> memory, GiveBack give_back)
      : session_(session), params_(params), request_(request), size_(params.population(request.plan.ands)), source_(session, trees, number),
        layers_(std::move(memory)), give_back_(std::move(give_back)), product_bits_(session, params.strings()) {}
  ~FastUnit() override { give_back_(std::move(layers_)); }

  void make(const GlobalKeyTie& tie);
  void pour(const SettledCheck&, MaterialSink& sink) override;

 private:
  struct Piece {
    SoftSpokenBatch batch;
    std::size_t layer;
    ObjectChunk chunk;
  };
  bool is_deferred() const { return params_.check() == TripleCheck::Deferred; }

  void make_plain_bits(const GlobalKeyTie& tie);
  void make_room();
  std::vector<Piece> pieces();
  void make_layers();
  void make_leaky_triples(const PhaseLog::Scope& phase);
  void make_half_products(const PhaseLog::Scope& phase);
  void fold();
  void check_products();

  // The columns of a piece: x, y, and z or r where its layer has them.
  std::vector<SharedView> columns(const Piece& piece);
  void send_corrections(const Piece& piece);
  void receive_corrections(const Piece& piece);
  void offer(const Piece& piece, std::span<Block> s);
  void receive(const Piece& piece, std::span<Block> s);

  Session& session_;
  const SecurityParameters& params_;
  UnitRequest request_;
  std::size_t size_;  // of a layer
  BitSource source_;
  AuthBits plain_;  // for inputs, then for the tie
  std::vector<TripleLayer> layers_;
  GiveBack give_back_;
  ProductBits product_bits_;
};

void FastUnit::make(const GlobalKeyTie& tie) {
  make_plain_bits(tie);
  make_room();
  make_layers();
  fold();
}

void FastUnit::make_plain_bits(const GlobalKeyTie& tie) {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits", request_.inputs);
  const std::size_t inputs = whole_blocks(request_.inputs);
  plain_ = source_.make(inputs + kTieBits);
  tie.check(session_, plain_.mine.view(inputs, kTieBits), plain_.peers.view(inputs, kTieBits));
}

void FastUnit::make_room() {
  layers_.resize(request_.plan.bucket);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const auto resize = [](SharedBits& bits, std::size_t size) {
      if (bits.size() != size) bits = SharedBits(size);
    };
    resize(layers_[k].x, size_);
    resize(layers_[k].y, size_);
    resize(layers_[k].z, columns_of_layer(params_.check(), k) == 3 ? size_ : 0);
    layers_[k].s.resize(is_deferred() ? size_ : 0);
  }
}

// The unit in batches of bits, x and y of each object, and r of those whose product is announced.
std::vector<FastUnit::Piece> FastUnit::pieces() {
  std::vector<Piece> pieces;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const std::size_t columns = columns_of_layer(params_.check(), layer), objects = objects_of_batch(columns);
    for (std::size_t first = 0; first < size_; first += objects) {
      const std::size_t count = std::min(objects, size_ - first);
      pieces.push_back({source_.next(columns * count), layer, {first, count, first / objects}});
    }
  }
  return pieces;
}

std::vector<SharedView> FastUnit::columns(const Piece& piece) {
  TripleLayer& layer = layers_[piece.layer];
  std::vector<SharedView> columns = {layer.x.view().part(piece.chunk), layer.y.view().part(piece.chunk)};
  if (layer.z.size() > 0) columns.push_back(layer.z.view().part(piece.chunk));
  return columns;
}

void FastUnit::send_corrections(const Piece& piece) {
  std::vector<MineView> mine;
  for (const SharedView& column : columns(piece)) mine.push_back(column.mine);
  source_.mac_holder().send_corrections(piece.batch, mine);
}

void FastUnit::receive_corrections(const Piece& piece) {
  std::vector<PeersView> peers;
  for (const SharedView& column : columns(piece)) peers.push_back(column.peers);
  source_.key_holder().receive_corrections(piece.batch, peers);
}

void FastUnit::offer(const Piece& piece, std::span<Block> s) {
  const auto views = columns(piece);
  HalfProducts(session_, piece.layer, params_.strings()).offer(piece.chunk, views[0], views[1], s);
}

void FastUnit::receive(const Piece& piece, std::span<Block> s) {
  HalfProducts(session_, piece.layer, params_.strings()).receive(piece.chunk, columns(piece)[0], s);
}

void FastUnit::make_layers() {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky triples", layers_.size() * size_);
  if (is_deferred()) return make_half_products(phase);
  make_leaky_triples(phase);
  check_products();
}

void FastUnit::make_leaky_triples(const PhaseLog::Scope& phase) {
  std::queue<SecretVector<Block>> offered, announced;  // the strings S_P of pieces on their way
  const auto pop = [](std::queue<SecretVector<Block>>& strings) {
    SecretVector<Block> s = std::move(strings.front());
    strings.pop();
    return s;
  };
  in_steps(
      pieces(), kBatchesAhead, [&](const Piece& piece) { send_corrections(piece); }, [&](const Piece& piece) { receive_corrections(piece); },
      [&](const Piece& piece) { source_.mac_holder().answer(piece.batch); },
      [&](const Piece& piece) {
        source_.key_holder().verify(piece.batch);
        offered.emplace(piece.chunk.count);
        offer(piece, offered.back());
      },
      [&](const Piece& piece) {
        SecretVector<Block> s = pop(offered);
        receive(piece, s);
        product_bits_.announce(s, columns(piece)[2]);
        announced.push(std::move(s));
      },
      [&](const Piece& piece) {
        SecretVector<Block> s = pop(announced);
        product_bits_.finish(s, columns(piece)[2]);
        phase.advance(piece.layer * size_ + piece.chunk.first + piece.chunk.count);
      });
}

void FastUnit::make_half_products(const PhaseLog::Scope& phase) {
  const auto strings = [&](const Piece& piece) { return std::span(layers_[piece.layer].s).subspan(piece.chunk.first, piece.chunk.count); };
  in_steps(
      pieces(), kBatchesAhead, [&](const Piece& piece) { send_corrections(piece); }, [&](const Piece& piece) { receive_corrections(piece); },
      [&](const Piece& piece) { source_.mac_holder().answer(piece.batch); },
      [&](const Piece& piece) {
        source_.key_holder().verify(piece.batch);
        offer(piece, strings(piece));
      },
      [&](const Piece& piece) {
        receive(piece, strings(piece));
        phase.advance(piece.layer * size_ + piece.chunk.first + piece.chunk.count);
      });
}

void FastUnit::check_products() {
  EqualityCheck equality("leaky triples");
  equality.add("leaky triples", product_bits_.check_digest());
  equality.run(session_);
}

void FastUnit::fold() {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "layers", size_);
  LayerFold layers(session_, layers_, toss_orders(session_, layers_.size(), size_, params_.check()));
  const auto chunks = object_chunks(size_, kFoldObjects);
  const auto reveal = [&](const ObjectChunk& chunk) { layers.reveal(chunk); };
  if (!is_deferred()) return in_steps(chunks, 1, reveal, [&](const ObjectChunk& chunk) { layers.fold(chunk); });

  const auto strings = [&](const ObjectChunk& chunk) { return std::span(layers_[0].s).subspan(chunk.first, chunk.count); };
  in_steps(
      chunks, 1, reveal,
      [&](const ObjectChunk& chunk) {
        layers.fold_strings(chunk);
        product_bits_.announce(strings(chunk), layers_[0].z.view().part(chunk));
      },
      [&](const ObjectChunk& chunk) { product_bits_.finish(strings(chunk), layers_[0].z.view().part(chunk)); });
  check_products();
}

void FastUnit::pour(const SettledCheck&, MaterialSink& sink) {
  pour_bits(sink, session_.me(), request_.inputs, plain_, 0);
  pour_objects(sink, MaterialKind::Triples, session_.me(), request_.plan.ands, [&](std::size_t first, MaterialBatch& out) {
    const SharedBits* const columns[] = {&layers_[0].x, &layers_[0].y, &layers_[0].z};
    for (std::size_t i = 0; i < 3; ++i) share_part(columns[i]->mine, columns[i]->peers, first, session_.global_key(), out.shares[i]);
  });
}

}  // namespace

// Of a domain that no unit has.
AuthBits FastUnitMaker::first_bits() {
  trees_ = make_trees(session_, params_.softspoken_k());
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "plain bits", kTieBits);
  return BitSource(session_, trees_, ~std::uint64_t{0}).make(kTieBits);
}

AuthBits FastUnitMaker::make_anchor() { return first_bits(); }

void FastUnitMaker::prepare(std::size_t) {
  AuthBits first = first_bits();
  if (tie_.has_anchor())
    tie_.check(session_, first.mine.view(0, kTieBits), first.peers.view(0, kTieBits));
  else
    tie_.set_anchor(std::move(first));
}

std::unique_ptr<MadeUnit> FastUnitMaker::make(Session& part, std::size_t number, const UnitRequest& request) {
  std::vector<TripleLayer> memory;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      memory = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  auto unit = std::make_unique<FastUnit>(part, params_, trees_, number, request, std::move(memory), [this](std::vector<TripleLayer> layers) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(layers));
  });
  unit->make(tie_);
  return unit;
}

}  // namespace tinyot
