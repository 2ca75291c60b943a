#include "online/garbled/prepared_cost.h"

#include <algorithm>

#include "online/garbled/chunks.h"
#include "online/message_bytes.h"

namespace tinyot::online {
namespace {

constexpr std::size_t kA = number_of(Party::A), kB = number_of(Party::B);

class PreparedCost final : public RunCostCounter {
 public:
  PreparedCost(const circuit::CircuitInfo& info, std::size_t lanes, bool is_early,
               const GarbledWindow& window)
      : info_(info), lanes_(lanes), is_early_(is_early),
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
    const std::uint64_t digest = bytes_of_message(kDigestBytes);
    send(kB, bytes_of_message(sizeof(Seed)) + bytes_of_flights(received[kA], 1) + digest);
    if (!is_early_) send(kA, digest);
    if (received[kB] > 0) send(kA, bytes_of_flights(received[kB], 1) + digest);
    // B answers A's masked inputs; with the batched check, A's proof and B's answer follow.
    const bool a_gives = std::ranges::any_of(info_.inputs, [](const auto& bundle) {
      return bundle.source == circuit::InputSource::A && bundle.bits > 0;
    });
    const std::uint64_t proof = (a_gives ? 1 : 0) + (is_early_ ? 0 : 2);
    cost_.half_round_trips = {proof + 1, received[kB] > 0 ? proof + 2 : proof};
    return cost_;
  }

 private:
  void send(std::size_t party, std::uint64_t bytes) { cost_.bytes_sent[party] += bytes; }

  void add(const Chunk& chunk) {
    std::array<std::uint64_t, 2> inputs{};
    std::uint64_t labels = 0;
    for (const Piece& piece : chunk.pieces) {
      if (!piece.begins) continue;
      for (const circuit::RoundInput& input : piece.round->inputs) {
        const circuit::InputBundle& bundle = info_.inputs[input.bundle];
        if (bundle.source == circuit::InputSource::Shared) continue;
        const std::uint64_t bits = bundle.same_in_all_lanes ? 1 : lanes_;
        labels += bits;
        if (const auto owner = owner_of(bundle.source)) inputs[number_of(*owner)] += bits;
      }
    }
    for (const std::size_t party : {kA, kB})  // garbled.masked
      if (inputs[party] > 0) send(party, bytes_of_message(bytes_for(inputs[party])));
    if (labels > 0) send(kB, bytes_of_message(sizeof(Block) * labels));
    if (!is_early_ && chunk.entries > 0)  // garbled.masked_ands
      send(kA, bytes_of_message(bytes_for(chunk.entries)));
    cost_.ands += chunk.entries;
  }

  const circuit::CircuitInfo& info_;
  std::size_t lanes_;
  bool is_early_;
  RunCost cost_;
  Chunker chunker_;
};

}  // namespace

std::unique_ptr<RunCostCounter> count_prepared_cost(const circuit::CircuitInfo& info,
                                                    std::size_t lanes, RowMacs macs,
                                                    const GarbledWindow& window) {
  return std::make_unique<PreparedCost>(info, lanes, macs.bytes > 0, window);
}

}  // namespace tinyot::online
