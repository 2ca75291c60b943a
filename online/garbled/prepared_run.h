// A garbled run that is prepared before its inputs are known (doc/protocol.md, section 16.7). Stage
// F makes the rows and settles; stage O takes the inputs. A has the rows before its inputs are
// chosen, which the proof of a garbling does not cover: they are sent under a pad, whose seed
// follows when A's masked inputs are fixed (Bellare, Hoang, Rogaway, ASIACRYPT 2012).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "crypto/prg.h"
#include "online/garbled/garbled_run.h"
#include "online/garbled/garbled_steps.h"
#include "online/garbled/rows.h"
#include "online/online_phase.h"

namespace tinyot::online {

// The most of a run that is prepared, as all of it stays in memory: 126 to 150 bytes of an AND in
// each lane, up to 48 of an XOR or a NOT, whatever the lanes, and as many of a bit of an input or
// an output in each lane.
inline constexpr std::uint64_t kPreparedAndsMax = std::uint64_t{1} << 22,
                               kPreparedLocalGatesMax = std::uint64_t{1} << 24,
                               kPreparedValueBitsMax = std::uint64_t{1} << 22;

// The strings of early rows: rho = 8 ceil(sigma / 8) + 8 bits, so that guesses of them add at most
// 2^-8 of 2^-sigma; none with the batched check.
RowMacs row_macs_of(const Preparation& preparation);

class PreparedRun {
 public:
  // Draws the masks of shared inputs and sends their openings. All references outlive this object.
  PreparedRun(checks::Session& session, material::Source& source, const MaterialCounts& wanted,
              circuit::CircuitRounds& rounds, const SharedValues& shared,
              const Preparation& preparation, const GarbledWindow& window = {});
  ~PreparedRun();
  PreparedRun(const PreparedRun&) = delete;
  PreparedRun& operator=(const PreparedRun&) = delete;

  // Stage F, role: both. Wire, in half round trips: 1 both `garbled.de`; 2 B rows, padded; both a
  // digest. A sends n/4 + 32 bytes, B 32.375 n + 32 and with early rows 3 rho / 8 n. Fails:
  // PeerCheated("MAC transcript"); OutOfMaterial; NetworkError.
  void prepare();

  // Stage O, role: both. Once. `agree` is called when the masked inputs have been sent, which show
  // nothing, and before anything is received. Wire, in half round trips: 1 both `garbled.masked`; 2
  // B `garbled.labels`, `garbled.seed`. Then with the batched check messages 3 to 5 as
  // run_garbled(). With early rows: 2 B also `garbled.outputs` of A and its digest; 3 A
  // `garbled.outputs` of B and its digest, absent without outputs of B. Fails: PeerCheated("early
  // rows"), PeerCheated("MAC transcript") before anything is returned; NetworkError.
  Evaluation finish(
      const BundleValues& inputs, const RunProgress& progress = {},
      const std::function<void()>& agree = [] {});

 private:
  struct Prepared {
    Chunk chunk;
    MaskedAnds ands;   // at A; at B the folded shares, with the batched check
    GarbledRows rows;  // at A, padded
  };

  void mask(Chunk chunk);
  // Of the first chunks, so many.
  void receive_openings(std::size_t chunks);
  void evaluate_masks(std::size_t chunks);
  void exchange_rows(std::size_t chunks);

  // Of stage O.
  std::array<std::uint64_t, 2> count_half_round_trips() const;

  void exchange_inputs(const BundleValues& inputs, const std::function<void()>& agree);
  BundleValues evaluate_batched();
  // `before`: that of stage F.
  BundleValues evaluate_early(const checks::SettledCheck& before);
  // Role: A. Calls use(prepared, L of its gates) for each chunk, whose rows then go.
  template <class Use>
  bool evaluate_rows(Use use);

  GarbledSteps steps_;
  checks::Session& session_;
  circuit::CircuitRounds& rounds_;
  const RowMacs macs_;
  const GarbledWindow window_;
  std::optional<Garbler> garbler_;      // at B, in stage F
  Seed pad_seed_{};                     // at A from stage O on
  std::optional<crypto::PrgRows> pad_;  // the same
  std::deque<Prepared> chunks_;
  std::size_t opened_ = 0, evaluated_ = 0, made_ = 0;  // of the chunks
  std::size_t load_ = 0;                               // of chunks whose rows have not been made
  std::optional<checks::SettledCheck> settled_;        // stage F
  BundleValues values_;                                // public ones, and L of opened shared inputs
  Evaluation result_;
};

}  // namespace tinyot::online
