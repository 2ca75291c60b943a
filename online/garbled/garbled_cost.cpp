#include "online/garbled/garbled_cost.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "online/garbled/chunks.h"
#include "online/message_bytes.h"

namespace tinyot::online {
namespace {

constexpr std::size_t kA = number_of(Party::A), kB = number_of(Party::B);

// The steps of GarbledRun at both parties, of which only messages take time. A time is in half
// round trips since the run began.
class GarbledCost final : public RunCostCounter {
 public:
  GarbledCost(const circuit::CircuitInfo& info, std::size_t lanes, const GarbledWindow& window)
      : info_(info), lanes_(lanes), window_(window.entries),
        chunker_(Lanes(lanes), window.chunk_min, window.chunk_max, [this](Chunk chunk) {
          add(chunk);
          chunker_.recycle(std::move(chunk));
        }) {}

  void round(circuit::Round& round) override {
    cost_.and_rounds += round.and_count(lanes_) > 0;
    copy_ = round;  // the chunker keeps it
    chunker_.round(copy_);
  }

  RunCost finish() override {
    chunker_.finish();
    while (!masked_.empty()) make_rows();
    while (!returning_.empty()) check_gates();
    std::array<std::uint64_t, 2> received{};
    for (const circuit::OutputBundle& bundle : info_.outputs)
      for (const Party party : {Party::A, Party::B})
        received[number_of(party)] +=
            circuit::receives(bundle.to, party) ? std::uint64_t{bundle.bits} * lanes_ : 0;
    send(kA, bytes_of_message(kDigestBytes));
    receive(kB, now_[kA]);
    send(kB, bytes_of_flights(received[kA], 1) + bytes_of_message(kDigestBytes));
    receive(kA, now_[kB]);
    if (received[kB] > 0) {
      send(kA, bytes_of_flights(received[kB], 1) + bytes_of_message(kDigestBytes));
      receive(kB, now_[kA]);
    }
    cost_.half_round_trips = now_;
    return cost_;
  }

 private:
  using Time = std::optional<std::uint64_t>;  // when a message was sent, if it was
  struct Sizes {
    std::uint64_t entries = 0, labels = 0;
    std::size_t load = 0;
    Time opened_by_a;
  };
  struct Returning {
    std::size_t load;
    Time opened_by_a;  // the last of the chunks that had been masked when its rows were made
    Time masked_ands;
  };

  void send(std::size_t party, std::uint64_t bytes) { cost_.bytes_sent[party] += bytes; }
  void receive(std::size_t party, const Time& sent) {
    if (sent) now_[party] = std::max(now_[party], *sent + 1);
  }

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
    for (const std::size_t party : {kA, kB}) {
      if (n > 0) send(party, bytes_of_message(bytes_for(2 * n)));  // garbled.de
      if (inputs[party] > 0)                                       // garbled.masked
        send(party, bytes_of_message(bytes_for(inputs[party])));
      if (n > 0 || inputs[party] > 0) opened_[party] = now_[party];
    }
    cost_.ands += n;
    masked_.push_back(
        {n, inputs[kA] + inputs[kB], chunk.load, n > 0 || inputs[kA] > 0 ? opened_[kA] : Time()});
    masked_load_ += chunk.load;
    while (masked_load_ >= window_) make_rows();
  }

  void make_rows() {
    const Sizes chunk = masked_.front();
    masked_.pop_front();
    masked_load_ -= chunk.load;
    receive(kB, chunk.opened_by_a);
    const std::uint64_t n = chunk.entries;
    Time rows, masked_ands;
    if (n > 0) send(kB, bytes_of_message(32 * n) + bytes_of_message(bytes_for(n)));
    if (chunk.labels > 0) send(kB, bytes_of_message(16 * chunk.labels));
    if (n > 0 || chunk.labels > 0) rows = now_[kB];
    receive(kA, opened_[kB]);
    receive(kA, rows);
    if (n > 0) {
      send(kA, bytes_of_message(bytes_for(n)));
      masked_ands = now_[kA];
    }
    returning_.push_back({chunk.load, opened_[kA], masked_ands});
    returning_load_ += chunk.load;
    while (returning_load_ >= window_) check_gates();
  }

  void check_gates() {
    receive(kB, returning_.front().opened_by_a);
    receive(kB, returning_.front().masked_ands);
    returning_load_ -= returning_.front().load;
    returning_.pop_front();
  }

  const circuit::CircuitInfo& info_;
  std::size_t lanes_, window_;
  RunCost cost_;
  std::array<std::uint64_t, 2> now_{};
  std::array<Time, 2> opened_;  // the last chunk's
  std::deque<Sizes> masked_;
  std::deque<Returning> returning_;
  std::size_t masked_load_ = 0, returning_load_ = 0;
  circuit::Round copy_;
  Chunker chunker_;
};

}  // namespace

std::unique_ptr<RunCostCounter> count_garbled_cost(const circuit::CircuitInfo& info,
                                                   std::size_t lanes, const GarbledWindow& window) {
  return std::make_unique<GarbledCost>(info, lanes, window);
}

}  // namespace tinyot::online
