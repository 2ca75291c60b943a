#include "offline/unit.h"

#include "checks/equality.h"
#include "offline/auth_and.h"
#include "offline/auth_ot.h"
#include "offline/leaky_and.h"
#include "offline/leaky_ot.h"
#include "offline/steps.h"

namespace tinyot {
namespace {

constexpr std::size_t kPourCount = std::size_t{1} << 14;  // objects of a poured batch
constexpr std::size_t kObjectChunksAhead = 2;              // that a step is behind the one before it

template <class Fold>
void pour_objects(MaterialSink& sink, MaterialKind kind, Party me, std::size_t total, Fold fold) {
  for (std::size_t first = 0; first < total; first += kPourCount) {
    const BucketRange range{first, std::min(kPourCount, total - first)};
    MaterialBatch batch(kind, me, range.count);
    fold(range, batch);
    sink.pour(std::move(batch));
  }
}

}  // namespace

// The buckets, and the roles that fold them.
struct Unit::BucketRoles {
  BucketRoles(Unit& unit, std::size_t l, std::size_t b, Party me, Party peer)
      // I am the victim of the leaks of my ANDs' x and of the c's that I choose.
      : my_ands(draw_buckets(unit.session_, {"LaAND", me}, l, b)),
        chosen_ots(draw_buckets(unit.session_, {"LaOT", me}, l, b)),
        peers_ands(receive_buckets(unit.session_, {"LaAND", peer}, l, b)),
        sent_ots(receive_buckets(unit.session_, {"LaOT", peer}, l, b)),
        ands_of_mine(my_ands, unit.mine(UnitLayout::AndX), unit.mine(UnitLayout::AndY), unit.mine(UnitLayout::AndR)),
        ands_of_peers(peers_ands, unit.peers(UnitLayout::AndX), unit.peers(UnitLayout::AndY), unit.peers(UnitLayout::AndR)),
        ots_sent(sent_ots, unit.mine(UnitLayout::SentX0), unit.mine(UnitLayout::SentX1), unit.peers(UnitLayout::ChosenC), unit.peers(UnitLayout::ChosenR)),
        ots_chosen(chosen_ots, unit.peers(UnitLayout::SentX0), unit.peers(UnitLayout::SentX1), unit.mine(UnitLayout::ChosenC), unit.mine(UnitLayout::ChosenR)) {}

  Buckets my_ands, chosen_ots, peers_ands, sent_ots;
  AuthAndMacHolder ands_of_mine;
  AuthAndKeyHolder ands_of_peers;
  AuthOtSender ots_sent;
  AuthOtReceiver ots_chosen;
};

Unit::Unit(Session& session, const UnitRequest& request, AuthBits& bits) : session_(session), request_(request), layout_(request), bits_(bits) {}

Unit::~Unit() = default;

void Unit::make_leaky_objects() {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky objects", layout_.leaky);
  LeakyAndMacHolder holder(session_, mine(UnitLayout::AndX), mine(UnitLayout::AndY), mine(UnitLayout::AndR));
  LeakyAndKeyHolder checker(session_, peers(UnitLayout::AndX), peers(UnitLayout::AndY), peers(UnitLayout::AndR));
  LeakyOtSender sender(session_, mine(UnitLayout::SentX0), mine(UnitLayout::SentX1), peers(UnitLayout::ChosenC), peers(UnitLayout::ChosenR));
  LeakyOtReceiver receiver(session_, peers(UnitLayout::SentX0), peers(UnitLayout::SentX1), mine(UnitLayout::ChosenC), mine(UnitLayout::ChosenR));
  in_steps(
      object_chunks(layout_.leaky), kObjectChunksAhead,
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
  EqualityCheck equality;
  equality.add_both(session_.me(), "LaAND of A", "LaAND of B", holder.check_digest(), checker.check_digest());
  equality.add_both(session_.me(), "LaOT from A", "LaOT from B", sender.check_digest(), receiver.check_digest());
  equality.run(session_);
}

void Unit::reveal_combiners() {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "buckets", request_.plan.ands);
  roles_ = std::make_unique<BucketRoles>(*this, request_.plan.ands, request_.plan.bucket, session_.me(), session_.peer());
  roles_->ands_of_mine.reveal(session_);
  roles_->ots_sent.reveal(session_);
  roles_->ands_of_peers.receive(session_);
  roles_->ots_chosen.receive(session_);
}

void Unit::pour(const SettledCheck&, MaterialSink& sink) const {
  const Party me = session_.me(), peer = session_.peer();
  const auto objects = [&](MaterialKind kind, auto fold) { pour_objects(sink, kind, me, request_.plan.ands, fold); };
  objects(auth_ands_of(me), [&](const BucketRange& range, MaterialBatch& out) { roles_->ands_of_mine.fold_into(range, out.mine[0], out.mine[1], out.mine[2]); });
  objects(auth_ands_of(peer), [&](const BucketRange& range, MaterialBatch& out) { roles_->ands_of_peers.fold_into(range, out.peers[0], out.peers[1], out.peers[2]); });
  objects(auth_ots_from(me), [&](const BucketRange& range, MaterialBatch& out) { roles_->ots_sent.fold_into(range, out.mine[0], out.mine[1], out.peers[0], out.peers[1]); });
  objects(auth_ots_from(peer), [&](const BucketRange& range, MaterialBatch& out) { roles_->ots_chosen.fold_into(range, out.peers[0], out.peers[1], out.mine[0], out.mine[1]); });

  const std::size_t begin = layout_.begin(UnitLayout::Plain);
  pour_objects(sink, auth_bits_of(me), me, layout_.plain, [&](const BucketRange& range, MaterialBatch& out) {
    out.mine[0].bits.copy_from(bits_.mine.bits, begin + range.first, 0, range.count);
    std::copy_n(bits_.mine.macs.begin() + static_cast<std::ptrdiff_t>(begin + range.first), range.count, out.mine[0].macs.begin());
  });
  pour_objects(sink, auth_bits_of(peer), me, layout_.plain, [&](const BucketRange& range, MaterialBatch& out) {
    std::copy_n(bits_.peers.keys.begin() + static_cast<std::ptrdiff_t>(begin + range.first), range.count, out.peers[0].keys.begin());
  });
}

}  // namespace tinyot
