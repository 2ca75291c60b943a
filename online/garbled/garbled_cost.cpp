#include "online/garbled/garbled_cost.h"

#include "online/garbled/chunks.h"
#include "online/message_bytes.h"

namespace tinyot::online {
namespace {

class GarbledCost final : public RunCostCounter {
 public:
  GarbledCost(const circuit::CircuitInfo& info, std::size_t lanes, const GarbledWindow& window)
      : info_(info), lanes_(lanes), window_(window.entries),
        chunker_(Lanes(lanes), window.chunk_min, window.chunk_max,
                 [this](const Chunk& chunk) { add(chunk); }) {}

  void round(circuit::Round& round) override {
    cost_.and_rounds += round.and_count(lanes_) > 0;
    circuit::Round taken = round;  // the chunker keeps it
    chunker_.round(taken);
  }

  RunCost finish() override {
    chunker_.finish();
    std::array<std::uint64_t, 2> received{};
    for (const circuit::OutputBundle& bundle : info_.outputs)
      for (const Party party : {Party::A, Party::B})
        received[number_of(party)] +=
            circuit::receives(bundle.to, party) ? std::uint64_t{bundle.bits} * lanes_ : 0;
    std::uint64_t &of_a = cost_.bytes_sent[number_of(Party::A)],
                  &of_b = cost_.bytes_sent[number_of(Party::B)];
    of_a += bytes_of_message(kDigestBytes);
    of_b += bytes_of_flights(received[number_of(Party::A)], 1) + bytes_of_message(kDigestBytes);
    const bool b_receives = received[number_of(Party::B)] > 0;
    if (b_receives)
      of_a += bytes_of_flights(received[number_of(Party::B)], 1) + bytes_of_message(kDigestBytes);
    const std::uint64_t windows = (load_ + window_ - 1) / window_,
                        until_digest = (waits_for_a_ ? 1 : 0) + (has_rows_ ? 1 : 0) + 1 +
                                       2 * (windows > 0 ? windows - 1 : 0);
    cost_.half_round_trips = {until_digest + 1, until_digest + (b_receives ? 2 : 0)};
    return cost_;
  }

 private:
  void add(const Chunk& chunk) {
    std::array<std::uint64_t, 2> inputs{};
    for (const Piece& piece : chunk.pieces) {
      if (!piece.begins) continue;
      for (const circuit::RoundInput& input : piece.round->inputs) {
        const circuit::InputBundle& bundle = info_.inputs[input.bundle];
        if (const auto owner = owner_of(bundle.source))
          inputs[number_of(*owner)] += bundle.same_in_all_lanes ? 1 : lanes_;
      }
    }
    const std::uint64_t n = chunk.entries;
    std::uint64_t &of_a = cost_.bytes_sent[number_of(Party::A)],
                  &of_b = cost_.bytes_sent[number_of(Party::B)];
    for (const Party party : {Party::A, Party::B}) {
      std::uint64_t& sent = cost_.bytes_sent[number_of(party)];
      if (n > 0) sent += bytes_of_message(bytes_for(2 * n));  // garbled.de
      if (inputs[number_of(party)] > 0)                       // garbled.masked
        sent += bytes_of_message(bytes_for(inputs[number_of(party)]));
    }
    if (n > 0) {
      of_b += bytes_of_message(32 * n) + bytes_of_message(bytes_for(n));  // garbled.rows, .colours
      of_a += bytes_of_message(bytes_for(n));                             // garbled.masked_ands
    }
    const std::uint64_t labels = inputs[0] + inputs[1];
    if (labels > 0) of_b += bytes_of_message(16 * labels);  // garbled.labels
    waits_for_a_ |= n > 0 || inputs[number_of(Party::A)] > 0;
    has_rows_ |= n > 0 || labels > 0;
    cost_.ands += n;
    load_ += chunk.load;
  }

  const circuit::CircuitInfo& info_;
  std::size_t lanes_;
  std::uint64_t window_;
  RunCost cost_;
  std::uint64_t load_ = 0;
  bool waits_for_a_ = false;  // B, before it sends rows
  bool has_rows_ = false;     // or labels
  Chunker chunker_;
};

}  // namespace

std::unique_ptr<RunCostCounter> count_garbled_cost(const circuit::CircuitInfo& info,
                                                   std::size_t lanes, const GarbledWindow& window) {
  return std::make_unique<GarbledCost>(info, lanes, window);
}

}  // namespace tinyot::online
