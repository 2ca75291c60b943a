#include "offline/preprocessor.h"

#include "base/error.h"
#include "checks/equality.h"
#include "offline/auth_and.h"
#include "offline/auth_ot.h"
#include "offline/leaky_and.h"
#include "offline/leaky_ot.h"

namespace tinyot {
namespace {

constexpr MessageTag kUnit{0x1801, "unit.begin"};
constexpr std::size_t kPourCount = std::size_t{1} << 14;  // objects of a poured batch

// Where the parts of a unit lie among the aBits of one owner; each part starts at a multiple of 64.
struct UnitLayout {
  explicit UnitLayout(const UnitRequest& request)
      : leaky(request.plan.ands * request.plan.bucket), part((leaky + 63) / 64 * 64), plain(request.plan.ands + request.inputs) {}

  std::size_t leaky;  // leaky objects of each kind and direction, B l
  std::size_t part;
  std::size_t plain;

  enum Part : std::size_t { AndX, AndY, AndR, SentX0, SentX1, ChosenC, ChosenR, Plain };
  std::size_t begin(Part p) const { return p * part; }
  std::size_t end() const { return begin(Plain) + plain; }
};

class Unit {
 public:
  Unit(Session& session, const UnitRequest& request, std::uint64_t number, AuthBits bits)
      : session_(session), request_(request), number_(number), layout_(request), bits_(std::move(bits)) {}

  void make_leaky_objects();
  void make_buckets(MaterialSink& sink);

 private:
  MineView mine(UnitLayout::Part part) { return bits_.mine.view(layout_.begin(part), layout_.leaky); }
  PeersView peers(UnitLayout::Part part) { return bits_.peers.view(layout_.begin(part), layout_.leaky); }
  // Nothing is poured before the check that it depends on.
  template <class Fold>
  void pour(const SettledCheck& settled, MaterialSink& sink, MaterialKind kind, Fold fold);
  void pour_plain_bits(const SettledCheck& settled, MaterialSink& sink);

  Session& session_;
  UnitRequest request_;
  std::uint64_t number_;
  UnitLayout layout_;
  AuthBits bits_;
};

void Unit::make_leaky_objects() {
  EqualityCheck equality;
  {
    const PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky ANDs", layout_.leaky);
    LeakyAndMacHolder holder(session_, number_, mine(UnitLayout::AndX), mine(UnitLayout::AndY), mine(UnitLayout::AndR));
    LeakyAndKeyHolder checker(session_, number_, peers(UnitLayout::AndX), peers(UnitLayout::AndY), peers(UnitLayout::AndR));
    for (const ObjectChunk& chunk : object_chunks(layout_.leaky)) {
      holder.announce(chunk);
      checker.answer(chunk);
      holder.receive_u(chunk);
      phase.advance(chunk.first + chunk.count);
    }
    equality.add_both(session_.me(), "LaAND of A", "LaAND of B", holder.check_digest(), checker.check_digest());
  }
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "leaky OTs", layout_.leaky);
  LeakyOtSender sender(session_, number_, mine(UnitLayout::SentX0), mine(UnitLayout::SentX1), peers(UnitLayout::ChosenC),
                       peers(UnitLayout::ChosenR));
  LeakyOtReceiver receiver(session_, number_, peers(UnitLayout::SentX0), peers(UnitLayout::SentX1), mine(UnitLayout::ChosenC),
                           mine(UnitLayout::ChosenR));
  for (const ObjectChunk& chunk : object_chunks(layout_.leaky)) {
    sender.send_x(chunk);
    receiver.open_x(chunk);
    sender.answer_d(chunk);
    receiver.receive_i(chunk);
    phase.advance(chunk.first + chunk.count);
  }
  equality.add_both(session_.me(), "LaOT from A", "LaOT from B", sender.check_digest(), receiver.check_digest());
  equality.run(session_);
}

template <class Fold>
void Unit::pour(const SettledCheck&, MaterialSink& sink, MaterialKind kind, Fold fold) {
  for (std::size_t first = 0; first < request_.plan.ands; first += kPourCount) {
    const BucketRange range{first, std::min<std::size_t>(kPourCount, request_.plan.ands - first)};
    MaterialBatch batch(kind, session_.me(), range.count);
    fold(range, batch);
    sink.pour(std::move(batch));
  }
}

void Unit::pour_plain_bits(const SettledCheck&, MaterialSink& sink) {
  const std::size_t begin = layout_.begin(UnitLayout::Plain);
  for (std::size_t first = 0; first < layout_.plain; first += kPourCount) {
    const std::size_t count = std::min(kPourCount, layout_.plain - first);
    MaterialBatch of_mine(auth_bits_of(session_.me()), session_.me(), count);
    of_mine.mine[0].bits.copy_from(bits_.mine.bits, begin + first, 0, count);
    std::copy_n(bits_.mine.macs.begin() + begin + first, count, of_mine.mine[0].macs.begin());
    sink.pour(std::move(of_mine));
    MaterialBatch of_peers(auth_bits_of(session_.peer()), session_.me(), count);
    std::copy_n(bits_.peers.keys.begin() + begin + first, count, of_peers.peers[0].keys.begin());
    sink.pour(std::move(of_peers));
  }
}

void Unit::make_buckets(MaterialSink& sink) {
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "buckets", request_.plan.ands);
  const std::size_t l = request_.plan.ands, b = request_.plan.bucket;
  const Party me = session_.me(), peer = session_.peer();

  // I am the victim of the leaks of my ANDs' x and of the c's that I choose.
  const Buckets my_ands = draw_buckets(session_, {"LaAND", me, number_}, l, b);
  const Buckets chosen_ots = draw_buckets(session_, {"LaOT", me, number_}, l, b);
  const Buckets peers_ands = receive_buckets(session_, {"LaAND", peer, number_}, l, b);
  const Buckets sent_ots = receive_buckets(session_, {"LaOT", peer, number_}, l, b);

  AuthAndMacHolder ands_of_mine(my_ands, mine(UnitLayout::AndX), mine(UnitLayout::AndY), mine(UnitLayout::AndR));
  AuthAndKeyHolder ands_of_peers(peers_ands, peers(UnitLayout::AndX), peers(UnitLayout::AndY), peers(UnitLayout::AndR));
  AuthOtSender ots_sent(sent_ots, mine(UnitLayout::SentX0), mine(UnitLayout::SentX1), peers(UnitLayout::ChosenC), peers(UnitLayout::ChosenR));
  AuthOtReceiver ots_chosen(chosen_ots, peers(UnitLayout::SentX0), peers(UnitLayout::SentX1), mine(UnitLayout::ChosenC), mine(UnitLayout::ChosenR));
  ands_of_mine.reveal(session_);
  ots_sent.reveal(session_);
  ands_of_peers.receive(session_);
  ots_chosen.receive(session_);
  const SettledCheck settled = settle_transcripts(session_);

  pour(settled, sink, auth_ands_of(me), [&](const BucketRange& range, MaterialBatch& out) { ands_of_mine.fold_into(range, out.mine[0], out.mine[1], out.mine[2]); });
  pour(settled, sink, auth_ands_of(peer), [&](const BucketRange& range, MaterialBatch& out) { ands_of_peers.fold_into(range, out.peers[0], out.peers[1], out.peers[2]); });
  pour(settled, sink, auth_ots_from(me), [&](const BucketRange& range, MaterialBatch& out) { ots_sent.fold_into(range, out.mine[0], out.mine[1], out.peers[0], out.peers[1]); });
  pour(settled, sink, auth_ots_from(peer), [&](const BucketRange& range, MaterialBatch& out) { ots_chosen.fold_into(range, out.peers[0], out.peers[1], out.mine[0], out.mine[1]); });
  pour_plain_bits(settled, sink);
}

}  // namespace

std::size_t Preprocessor::bits_needed(const UnitRequest& request) { return UnitLayout(request).end(); }

void Preprocessor::continue_from(MaterialSource& earlier) {
  MaterialBatch of_mine = earlier.draw(auth_bits_of(session_.me()), kTieBits);
  MaterialBatch of_peers = earlier.draw(auth_bits_of(session_.peer()), kTieBits);
  maker_.set_anchor({std::move(of_mine.mine[0]), std::move(of_peers.peers[0])});
}

bool Preprocessor::agree_to_continue(bool wanted) {
  struct Wish {
    std::uint64_t units;
    std::uint64_t wanted;
  };
  send_object(session_.channel(), kUnit, Wish{units_, wanted});
  const auto peers = recv_object<Wish>(session_.channel(), kUnit);
  if (peers.units != units_ || peers.wanted > 1) throw PeerCheated("unit number");
  return wanted && peers.wanted == 1;
}

void Preprocessor::make_unit(const UnitRequest& request, MaterialSink& sink) {
  Unit unit(session_, request, units_, maker_.make(bits_needed(request)));
  ++units_;
  unit.make_leaky_objects();
  unit.make_buckets(sink);
  const PhaseLog::Scope phase(session_.log(), session_.channel(), "store", request.plan.ands);
  sink.finish_unit();
}

}  // namespace tinyot
