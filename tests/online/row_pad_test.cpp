// The pad of prepared rows, against doc/protocol.md, section 16.7. Both parties of a run add the
// same pad, so that a run with correct outputs says nothing about it. Here party B's steps are done
// once more without a pad, and the pad is made block by block from the seed that B has revealed.
#include "tests/online/row_pad.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "online/garbled/garbled_steps.h"
#include "online/garbled/rows.h"
#include "tests/online/garbling.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/prepared.h"
#include "tests/support/cheating_channel.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kRuns = 2;

// The rows of a chunk without a pad, as three strings of bytes.
struct PlainChunk {
  std::size_t number = 0, entries = 0;
  Bytes rows, colours, mac_rows;
};

struct PlainRun {
  Seed pad_seed;
  std::vector<PlainChunk> chunks;
};

template <class Range>
Bytes bytes_in(const Range& range) {
  const auto bytes = std::as_bytes(std::span(range));
  return {bytes.begin(), bytes.end()};
}

// Steps M, P and G of stage F. The seed is drawn before the labels, as PreparedRun does.
PlainRun make_plain_rows(Session& session, IdealDealer& dealer, const PreparedJob& job) {
  const CircuitCost cost = cost_of(job.circuit);
  const CircuitInfo& info = job.circuit.info();
  CircuitRounds rounds(job.circuit, cost.gates(), job.lanes, window_for(job.lanes));
  const online::SharedValues none;
  online::GarbledSteps steps(session, dealer,
                             online::garbled_material_for(info, cost.ands_of(job.lanes), job.lanes),
                             rounds, none, BundleValues(info.inputs.size()));
  PlainRun run;
  std::optional<online::Garbler> garbler;
  const RowMacs macs = online::row_macs_of({job.check, 40});
  if (session.me() == Party::B) {
    run.pad_seed = {session.rng().block()};
    garbler.emplace(session, info, steps.lanes, steps.constants, macs, steps.outputs, steps.run);
  }
  steps.shared_masks.receive(steps.constants);
  online::Chunker chunker(
      steps.lanes, job.window.chunk_min, job.window.chunk_max, [&](online::Chunk chunk) {
        steps.masks.send_openings(chunk);
        steps.masks.receive_openings(chunk);
        online::MaskedAnds ands;
        steps.blocks.evaluate(chunk, ands);
        if (!garbler) return;
        online::GarbledRows rows;
        garbler->garble(chunk, ands, rows);
        run.chunks.push_back({run.chunks.size(), chunk.entries, bytes_in(rows.halves),
                              bytes_in(rows.colours.bytes()), bytes_in(rows.macs)});
      });
  rounds.run(chunker);
  chunker.finish();
  session.channel().flush();
  return run;
}

Bytes padded(RowPadOf& pad, Bytes string) {
  pad.add_to(string);
  return string;
}

// Of a bit string of `bits` bits.
Bytes without_unused_bits(Bytes string, std::size_t bits) {
  if (bits % 8 != 0) string.back() &= std::byte((1 << (bits % 8)) - 1);
  return string;
}

// The whole blocks of x ^ y.
void add_differences(const Bytes& x, const Bytes& y, std::vector<std::array<std::byte, 16>>& to) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t at = 0; at + 16 <= x.size(); at += 16) {
    auto& difference = to.emplace_back();
    for (std::size_t i = 0; i < 16; ++i) difference[i] = x[at + i] ^ y[at + i];
  }
}

struct PadCase {
  RowCheck check;
  std::size_t lanes;
  online::GarbledWindow window;
};

class RowPad : public testing::TestWithParam<PadCase> {};

// Some chunks without ANDs, and whole runs in one chunk, whose strings are longer than what is made
// of a pad at a time.
constexpr online::GarbledWindow kSmall{.entries = 12, .chunk_min = 6, .chunk_max = 9},
    kTiny{.entries = 1, .chunk_min = 1, .chunk_max = 4};
INSTANTIATE_TEST_SUITE_P(Of, RowPad,
                         testing::Values(PadCase{RowCheck::Early, 2, kSmall},
                                         PadCase{RowCheck::Batched, 2, kSmall},
                                         PadCase{RowCheck::Early, 1, kTiny},
                                         PadCase{RowCheck::Early, 67, {}},
                                         PadCase{RowCheck::Batched, 67, {}}));

TEST_P(RowPad, IsThatOfTheSpecificationAndReturnsNowhere) {
  const auto& [check, lanes, window] = GetParam();
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{2, 38}});
  const Inputs inputs = random_inputs(circuit, lanes, rng);
  const PreparedJob job{circuit, lanes, inputs, check, window};
  Messages sent;
  run_garbling(
      [&](Session& session, IdealDealer& dealer) {
        for (std::size_t run = 0; run < kRuns; ++run) {
          PreparedParty party(session, dealer, job);
          party.prepare();
          if (run + 1 == kRuns) party.finish();
        }
      },
      {.wrap_b = recording(sent)});
  std::vector<PlainRun> plain;
  run_garbling([&](Session& session, IdealDealer& dealer) {
    for (std::size_t run = 0; run < kRuns; ++run) {
      PlainRun made = make_plain_rows(session, dealer, job);
      if (session.me() == Party::B) plain.push_back(std::move(made));
    }
  });
  ASSERT_EQ(plain.size(), kRuns);
  ASSERT_EQ(payload_of(sent, "garbled.seed"), bytes_in(std::array{plain.back().pad_seed.value}))
      << "B draws in another order than make_plain_rows(), which then has other rows";

  const bool has_macs = check == RowCheck::Early;
  std::vector<std::array<std::byte, 16>> pads;
  std::size_t occurrence = 0;
  for (const PlainRun& run : plain)
    for (const PlainChunk& chunk : run.chunks) {
      if (chunk.entries == 0) continue;
      SCOPED_TRACE("chunk " + std::to_string(chunk.number));
      RowPadOf pad(run.pad_seed, chunk.number);
      const Bytes rows = payload_of(sent, "garbled.rows", occurrence),
                  colours = payload_of(sent, "garbled.colours", occurrence);
      EXPECT_EQ(rows, padded(pad, chunk.rows));
      EXPECT_EQ(colours, without_unused_bits(padded(pad, chunk.colours), chunk.entries));
      add_differences(rows, chunk.rows, pads);
      add_differences(colours, chunk.colours, pads);
      if (has_macs) {
        const Bytes mac_rows = payload_of(sent, "garbled.mac_rows", occurrence);
        EXPECT_EQ(mac_rows, padded(pad, chunk.mac_rows));
        add_differences(mac_rows, chunk.mac_rows, pads);
      }
      ++occurrence;
    }
  EXPECT_THROW(payload_of(sent, "garbled.rows", occurrence), std::out_of_range);
  // Whatever the specification says: nothing leaves as it is, or under the pad of something else.
  pads.emplace_back();
  std::ranges::sort(pads);
  EXPECT_EQ(std::ranges::adjacent_find(pads), pads.end());
}

}  // namespace
}  // namespace tinyot
