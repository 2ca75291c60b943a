#include "tests/online/garbler_by_hand.h"

#include <cstring>

#include "checks/mac_transcript.h"
#include "online/garbled/garbled_steps.h"
#include "online/garbled/gate_check.h"
#include "online/garbled/prepared_run.h"
#include "online/garbled/row_hash.h"
#include "online/garbled/rows.h"
#include "tests/online/garbling.h"
#include "tests/online/prepared.h"
#include "tests/online/row_pad.h"

namespace tinyot::test {
namespace {

constexpr auto kDigest = net::message_tag("mac_transcript.digest"),
               kSeedTag = net::message_tag("garbled.seed"),
               kOutputsTag = net::message_tag("garbled.outputs");

class GarblerByHand {
 public:
  GarblerByHand(Session& session, IdealDealer& dealer, GarbledWay way, const Inputs& inputs,
                const RowCheat& cheat)
      : session_(session), way_(way), cheat_(cheat), circuit_(two_ands()),
        inputs_(values_given_by(Party::B, circuit_.info(), inputs)), cost_(cost_of(circuit_)),
        rounds_(circuit_, cost_.gates(), 1, window_for(1)),
        steps_(session, dealer, online::garbled_material_for(circuit_.info(), kAndsOfTwo, 1),
               rounds_, none_, BundleValues(inputs.size())),
        hash_(session.id(), steps_.run), delta_(session.global_key().value) {}

  // Returns whether A has revealed its bits of the outputs.
  bool run() {
    // One chunk, whose ANDs are those of the circuit, in order.
    online::Chunker chunker(steps_.lanes, std::size_t{1} << 16, std::size_t{1} << 16,
                            [&](online::Chunk chunk) { chunk_ = std::move(chunk); });
    rounds_.run(chunker);
    chunker.finish();
    steps_.masks.send_openings(chunk_);
    if (way_ == GarbledWay::Streamed) steps_.masks.send_inputs(chunk_, inputs_);
    session_.channel().flush();
    steps_.masks.receive_openings(chunk_);
    if (way_ == GarbledWay::Streamed) steps_.masks.receive_inputs(chunk_);
    online::MaskedAnds ands;
    steps_.blocks.evaluate(chunk_, ands);
    online::GarbledRows rows = make_rows(ands);
    const Seed seed{session_.rng().block()};
    if (way_ == GarbledWay::Streamed) {
      online::send_rows(session_, rows);
    } else {
      RowPadOf pad(seed, 0);
      pad.add_to(std::as_writable_bytes(std::span(rows.halves)));
      pad.add_to(rows.colours.bytes());
      rows.colours.clear_padding();
      pad.add_to(rows.macs);
      online::send_rows(session_, rows);
      checks::send_digest(session_);
      (void)checks::receive_digest(session_);
      steps_.masks.send_inputs(chunk_, inputs_);
      session_.channel().flush();
      steps_.masks.receive_inputs(chunk_);
    }
    chunk_.inputs[0].labels[0] ^= cheat_.label_of_x;
    online::send_labels(session_, chunk_);
    if (way_ != GarbledWay::Streamed)
      net::send_object(session_.channel(), kSeedTag, cheat_.pad_seed.value_or(seed));
    if (way_ != GarbledWay::PreparedEarly) {
      const BundleValues no_constants(3);
      session_.channel().flush();
      online::GateCheck check(session_, circuit_.info(), steps_.lanes, no_constants,
                              steps_.outputs);
      check.receive(chunk_, ands.macs);
      (void)net::recv_object<crypto::Digest>(session_.channel(), kDigest);
      (void)session_.transcripts().settle_peers();
    }
    checks::send_digest(session_);
    session_.channel().flush();
    try {
      (void)session_.channel().recv_variable(kOutputsTag, 1 << 20);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  Block hash(HashUse use, std::uint64_t entry, const Block& in) {
    Block out{0, 0};
    hash_(use, entry, {&in, 1}, {&out, 1});
    return out;
  }

  // The upper bits of blocks, one after the other.
  static void write_cuts(const std::array<Block, 3>& blocks, std::span<std::byte> to) {
    const std::size_t bytes = to.size() / blocks.size();
    for (std::size_t s = 0; s < blocks.size(); ++s)
      std::memcpy(&to[s * bytes],
                  reinterpret_cast<const std::byte*>(&blocks[s]) + sizeof(Block) - bytes, bytes);
  }

  online::GarbledRows make_rows(const online::MaskedAnds& ands) {
    const std::size_t mac_bytes =
        way_ == GarbledWay::PreparedEarly
            ? 3 * online::row_macs_of({.row_check = RowCheck::Early, .sigma = 40}).bytes
            : 0;
    online::GarbledRows rows;
    rows.halves.resize(2 * kAndsOfTwo);
    rows.colours = BitVector(kAndsOfTwo);
    rows.macs.resize(mac_bytes * kAndsOfTwo);
    for (online::MaskedInputs& of : chunk_.inputs) {
      of.labels.resize(of.count);
      session_.rng().fill_blocks(std::span(of.labels));
    }
    const Block x = chunk_.inputs[0].labels[0], y = chunk_.inputs[1].labels[0],
                v = chunk_.inputs[1].labels[1];
    Block z{0, 0};
    for (std::size_t j = 0; j < kAndsOfTwo; ++j) {
      const Block alpha = j == 0 ? x : z, beta = j == 0 ? y : v;
      const RowCheat cheat = j == cheat_.entry ? cheat_ : RowCheat{};
      const auto left = [&](HashUse use, const Block& in) { return hash(use, j, in); };
      rows.halves[2 * j] = left(HashUse::GarbledLeft, alpha) ^
                           left(HashUse::GarbledLeft, alpha ^ delta_) ^ ands.beta_g[j] ^ cheat.left;
      rows.halves[2 * j + 1] = hash(HashUse::GarbledRight, j, beta) ^
                               hash(HashUse::GarbledRight, j, beta ^ delta_) ^ ands.alpha_g[j] ^
                               alpha ^ cheat.right;
      const Block gamma = left(HashUse::GarbledLeft, alpha) ^ hash(HashUse::GarbledRight, j, beta) ^
                          ands.s_g[j] ^ cheat.result;
      rows.colours.put(j, ((gamma.lo & 1) != 0) != cheat.colour);
      if (mac_bytes > 0) {
        const Block h_beta = ands.beta_g[j] ^ ands.macs.beta[j],
                    h_alpha = ands.alpha_g[j] ^ ands.macs.alpha[j],
                    h_s = ands.s_g[j] ^ ands.macs.s[j];
        write_cuts({left(HashUse::GarbledLeftMac, alpha) ^
                        left(HashUse::GarbledLeftMac, alpha ^ delta_) ^ h_beta ^ cheat.macs[0],
                    hash(HashUse::GarbledRightMac, j, beta) ^
                        hash(HashUse::GarbledRightMac, j, beta ^ delta_) ^ h_alpha ^ cheat.macs[1],
                    left(HashUse::GarbledLeftMac, alpha) ^ hash(HashUse::GarbledRightMac, j, beta) ^
                        h_s ^ cheat.macs[2]},
                   std::span(rows.macs).subspan(j * mac_bytes, mac_bytes));
      }
      z = gamma;
    }
    return rows;
  }

  Session& session_;
  const GarbledWay way_;
  const RowCheat cheat_;
  const ListedCircuit circuit_;
  const BundleValues inputs_;
  const CircuitCost cost_;
  CircuitRounds rounds_;
  const online::SharedValues none_;
  online::GarbledSteps steps_;
  online::RowHash hash_;
  const Block delta_;
  online::Chunk chunk_;
};

void run_honest_a(GarbledWay way, Session& session, IdealDealer& dealer, const Inputs& inputs) {
  const ListedCircuit circuit = two_ands();
  if (way != GarbledWay::Streamed) {
    PreparedParty party(session, dealer,
                        {circuit, 1, inputs,
                         way == GarbledWay::PreparedEarly ? RowCheck::Early : RowCheck::Batched});
    party.prepare();
    party.finish();
    return;
  }
  const CircuitCost cost = cost_of(circuit);
  CircuitRounds rounds(circuit, cost.gates(), 1, window_for(1));
  online::run_garbled(session, dealer, online::garbled_material_for(circuit.info(), kAndsOfTwo, 1),
                      rounds, values_given_by(Party::A, circuit.info(), inputs));
}

bool first_bit(const std::vector<std::byte>& payload) {
  return (payload.at(0) & std::byte{1}) != std::byte{0};
}

}  // namespace

const char* name_of(GarbledWay way) {
  switch (way) {
    case GarbledWay::Streamed:
      return "streamed";
    case GarbledWay::PreparedBatched:
      return "prepared_batched";
    case GarbledWay::PreparedEarly:
      return "prepared_early";
  }
  return "";
}

ListedCircuit two_ands() {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1),
             v = circuit.input(Party::B, 1);
  circuit.output(Receiver::B, {circuit.and_of(circuit.and_of(x[0], y[0]), v[0])});
  return circuit;
}

ByHand run_by_hand(GarbledWay way, const Inputs& inputs, std::uint64_t seed,
                   const std::function<RowCheat(Block, Block)>& cheat,
                   std::optional<Delta> delta_b) {
  const Delta of_a = garbling_key(Party::A, seed),
              of_b = delta_b.value_or(garbling_key(Party::B, seed));
  ByHand run;
  run.a =
      run_sessions(
          [&](Session& outer) {
            PhaseLog log;
            const Party me = outer.me();
            Session session(me, {outer.id(), outer.id()}, me == Party::A ? of_a : of_b,
                            outer.channel(), outer.rng().fork(), log);
            IdealDealer dealer(me, seed, of_a, of_b);
            if (me == Party::A)
              run_honest_a(way, session, dealer, inputs);
            else
              run.has_y =
                  GarblerByHand(session, dealer, way, inputs, cheat(of_a.value, of_b.value)).run();
          },
          {.seed = seed, .wrap_a = recording(run.of_a)}, false)
          .a;
  run.view = first_bit(payload_of(run.of_a, "garbled.masked"));
  if (bytes_of(run.of_a, "garbled.masked_ands") > 0)
    run.view |= std::to_integer<std::size_t>(payload_of(run.of_a, "garbled.masked_ands")[0]) << 1;
  return run;
}

}  // namespace tinyot::test
