// A party B of garbled runs that is written by hand, after doc/protocol.md, sections 16.3 to 16.7,
// for one circuit. It deviates as it is told and then goes on to the end, whatever it finds: what
// ends a run is the honest party A.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/support/cheating_channel.h"

namespace tinyot::test {

enum class GarbledWay { Streamed, PreparedBatched, PreparedEarly };
inline constexpr GarbledWay kGarbledWays[] = {GarbledWay::Streamed, GarbledWay::PreparedBatched,
                                              GarbledWay::PreparedEarly};
const char* name_of(GarbledWay way);

// z = x y, w = z v, to B; x is A's, y and v are B's.
ListedCircuit two_ands();
inline constexpr std::size_t kAndsOfTwo = 2;

// What B changes, each by XOR.
struct RowCheat {
  std::size_t entry = 0;              // the AND
  Block left{0, 0}, right{0, 0};      // G_0, G_1
  bool colour = false;                // as it is sent
  Block result{0, 0};                 // X_gamma,0, and with it its colour and the later rows
  std::array<Block, 3> macs{};        // Y_0, Y_1, Y_2
  Block label_of_x{0, 0};             // as it is sent
  std::optional<Seed> pad_seed = {};  // revealed in place of the right one
};

struct ByHand {
  Outcome a;           // of the honest party
  Messages of_a;       // which it has sent
  bool has_y = false;  // whether it has revealed its bits of the outputs
  // What B knows of A's input before any output: L of x and, with the batched check, of the ANDs.
  std::size_t view = 0;
};

// `cheat`: of the two global keys, A's and B's. `delta_b`: another key of B than garbling_key().
ByHand run_by_hand(GarbledWay way, const Inputs& inputs, std::uint64_t seed,
                   const std::function<RowCheat(Block, Block)>& cheat,
                   std::optional<Delta> delta_b = {});

}  // namespace tinyot::test
