#include "offline/nnob12/nnob12_unit.h"

#include "checks/equality.h"
#include "offline/nnob12/auth_and.h"
#include "offline/nnob12/auth_ot.h"
#include "offline/nnob12/leaky_and.h"
#include "offline/nnob12/leaky_ot.h"
#include "offline/nnob12/product_triple.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {
namespace {

// Of a chunk of leaky objects of all kinds and directions, and of a chunk of triples.
constexpr StageCost kCostOfChunk{
    .time = std::chrono::milliseconds(10), .bytes = 112 * kChunkObjects, .depth = 2};
constexpr StageCost kCostOfTriples{
    .time = std::chrono::milliseconds(10), .bytes = 256 * kChunkObjects, .depth = 1};

class Nnob12Unit final : public MadeUnit {
 public:
  // Shapes: bits: at least UnitLayout(request).end() of each direction.
  Nnob12Unit(checks::Session& session, const UnitRequest& request, PipelineDepth depth,
             AuthBits bits, std::function<void(AuthBits)> release);
  ~Nnob12Unit() override;

  void make_leaky_objects();
  // The MACs of the combiner bits are on the session's transcripts.
  void reveal_combiners();
  // Differs: the paper's dealer has no triples; these are the AND of Fig. 6 on random bits.
  void make_triples(AndMaterial form);
  void pour(const checks::SettledCheck&, material::Sink& sink) override;

 private:
  struct BucketRoles;
  // Folded objects of all kinds, and one aBit of each party for each AND.
  ProductMaterial folded(const BucketRange& range);
  MacColumnView mine(UnitLayout::Part part) {
    return bits_.mine.view(layout_.begin(part), layout_.leaky);
  }
  KeyColumnView peers(UnitLayout::Part part) {
    return bits_.peers.view(layout_.begin(part), layout_.leaky);
  }

  checks::Session& session_;
  UnitRequest request_;
  PipelineDepth depth_;
  UnitLayout layout_;
  AuthBits bits_;
  std::function<void(AuthBits)> release_;
  std::unique_ptr<BucketRoles> roles_;
  std::vector<material::Batch> triples_;  // unless params.material() is Pairs
};

// The buckets, and the roles that fold them.
struct Nnob12Unit::BucketRoles {
  BucketRoles(Nnob12Unit& unit, std::size_t l, std::size_t b, Party me, Party peer)
      // This party is the victim of the leaks of its own ANDs' x and of the c's that it chooses.
      : my_ands(draw_buckets(unit.session_, {"bucket permutation LaAND", me}, l, b)),
        chosen_ots(draw_buckets(unit.session_, {"bucket permutation LaOT", me}, l, b)),
        peers_ands(receive_buckets(unit.session_, {"bucket permutation LaAND", peer}, l, b)),
        sent_ots(receive_buckets(unit.session_, {"bucket permutation LaOT", peer}, l, b)),
        ands_of_mine(my_ands, unit.mine(UnitLayout::AndX), unit.mine(UnitLayout::AndY),
                     unit.mine(UnitLayout::AndR)),
        ands_of_peers(peers_ands, unit.peers(UnitLayout::AndX), unit.peers(UnitLayout::AndY),
                      unit.peers(UnitLayout::AndR)),
        ots_sent(sent_ots, unit.mine(UnitLayout::SentX0), unit.mine(UnitLayout::SentX1),
                 unit.peers(UnitLayout::ChosenC), unit.peers(UnitLayout::ChosenR)),
        ots_chosen(chosen_ots, unit.peers(UnitLayout::SentX0), unit.peers(UnitLayout::SentX1),
                   unit.mine(UnitLayout::ChosenC), unit.mine(UnitLayout::ChosenR)) {}

  Buckets my_ands, chosen_ots, peers_ands, sent_ots;
  AuthAndMacHolder ands_of_mine;
  AuthAndKeyHolder ands_of_peers;
  AuthOtSender ots_sent;
  AuthOtReceiver ots_chosen;
};

Nnob12Unit::Nnob12Unit(checks::Session& session, const UnitRequest& request, PipelineDepth depth,
                       AuthBits bits, std::function<void(AuthBits)> release)
    : session_(session), request_(request), depth_(depth), layout_(request), bits_(std::move(bits)),
      release_(std::move(release)) {}

Nnob12Unit::~Nnob12Unit() { release_(std::move(bits_)); }

void Nnob12Unit::make_leaky_objects() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky objects",
                                   layout_.leaky);
  LeakyAndMacHolder holder(session_, mine(UnitLayout::AndX), mine(UnitLayout::AndY),
                           mine(UnitLayout::AndR));
  LeakyAndKeyHolder checker(session_, peers(UnitLayout::AndX), peers(UnitLayout::AndY),
                            peers(UnitLayout::AndR));
  LeakyOtSender sender(session_, mine(UnitLayout::SentX0), mine(UnitLayout::SentX1),
                       peers(UnitLayout::ChosenC), peers(UnitLayout::ChosenR));
  LeakyOtReceiver receiver(session_, peers(UnitLayout::SentX0), peers(UnitLayout::SentX1),
                           mine(UnitLayout::ChosenC), mine(UnitLayout::ChosenR));
  run_pipeline(
      object_chunks(layout_.leaky), depth_.depth(kCostOfChunk),
      [&](const ObjectChunk& chunk) {
        holder.announce(chunk);
        sender.send_x(chunk);
      },
      [&](const ObjectChunk& chunk) {
        checker.answer(chunk);
        receiver.open_x(chunk);
      },
      [&](const ObjectChunk& chunk) {
        holder.receive_u(chunk);
        sender.answer_d(chunk);
      },
      [&](const ObjectChunk& chunk) {
        receiver.receive_i(chunk);
        phase.advance(chunk.first + chunk.count);
      });
  checks::EqualityCheck equality("leaky objects");
  equality.add_both(session_.me(), "LaAND of A", "LaAND of B", holder.check_digest(),
                    checker.check_digest());
  equality.add_both(session_.me(), "LaOT from A", "LaOT from B", sender.check_digest(),
                    receiver.check_digest());
  equality.run(session_);
}

void Nnob12Unit::reveal_combiners() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "buckets",
                                   request_.plan.ands);
  roles_ = std::make_unique<BucketRoles>(*this, request_.plan.ands, request_.plan.bucket.only(),
                                         session_.me(), session_.peer());
  roles_->ands_of_mine.reveal(session_);
  roles_->ots_sent.reveal(session_);
  roles_->ands_of_peers.receive(session_);
  roles_->ots_chosen.receive(session_);
}

ProductMaterial Nnob12Unit::folded(const BucketRange& range) {
  const Party me = session_.me(), peer = session_.peer();
  const auto batch = [&](MaterialKind kind) { return material::Batch(kind, me, range.count); };
  ProductMaterial m{batch(material::auth_ands_of(me)),  batch(material::auth_ands_of(peer)),
                    batch(material::auth_ots_from(me)), batch(material::auth_ots_from(peer)),
                    batch(material::auth_bits_of(me)),  batch(material::auth_bits_of(peer))};
  roles_->ands_of_mine.fold_into(range, m.my_and.mine[0], m.my_and.mine[1], m.my_and.mine[2]);
  roles_->ands_of_peers.fold_into(range, m.peers_and.peers[0], m.peers_and.peers[1],
                                  m.peers_and.peers[2]);
  roles_->ots_sent.fold_into(range, m.sent.mine[0], m.sent.mine[1], m.sent.peers[0],
                             m.sent.peers[1]);
  roles_->ots_chosen.fold_into(range, m.chosen.peers[0], m.chosen.peers[1], m.chosen.mine[0],
                               m.chosen.mine[1]);
  copy_part(bits_.mine, layout_.begin(UnitLayout::Plain) + range.first, m.my_bit.mine[0]);
  copy_part(bits_.peers, layout_.begin(UnitLayout::Plain) + range.first, m.peers_bit.peers[0]);
  return m;
}

void Nnob12Unit::make_triples(AndMaterial form) {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "triples",
                                   request_.plan.ands);
  ProductTriples products(session_, form);
  run_pipeline(
      object_chunks(request_.plan.ands), depth_.depth(kCostOfTriples),
      [&](const ObjectChunk& chunk) {
        products.reveal_first(folded({chunk.first, chunk.count}));
      },
      [&](const ObjectChunk&) { products.reveal_second(); },
      [&](const ObjectChunk& chunk) {
        triples_.push_back(products.finish());
        phase.advance(chunk.first + chunk.count);
      });
}

void Nnob12Unit::pour(const checks::SettledCheck&, material::Sink& sink) {
  for (const ObjectChunk& chunk : object_chunks(triples_.empty() ? request_.plan.ands : 0)) {
    ProductMaterial material = folded({chunk.first, chunk.count});
    for (material::Batch* batch : {&material.my_and, &material.peers_and, &material.sent,
                                   &material.chosen, &material.my_bit, &material.peers_bit})
      sink.pour(std::move(*batch));
  }
  for (material::Batch& batch : triples_) sink.pour(std::move(batch));
  pour_bits(sink, session_.me(), request_.inputs, bits_,
            layout_.begin(UnitLayout::Plain) + request_.plan.ands);
}

}  // namespace

std::unique_ptr<MadeUnit> Nnob12UnitMaker::make(checks::Session& part, std::size_t number,
                                                const UnitRequest& wanted) {
  const UnitRequest request = with_result_masks(wanted, material_);
  AuthBits bits;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      bits = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  bits_.stream(part, number, UnitLayout(request).end())->make(bits);
  auto unit =
      std::make_unique<Nnob12Unit>(part, request, depth_, std::move(bits), [this](AuthBits used) {
        const std::lock_guard lock(mutex_);
        spare_.push_back(std::move(used));
      });
  unit->make_leaky_objects();
  unit->reveal_combiners();
  if (material_ != AndMaterial::AandAot) unit->make_triples(material_);
  return unit;
}

}  // namespace tinyot::offline
