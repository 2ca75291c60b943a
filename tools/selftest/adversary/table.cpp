#include "tools/selftest/adversary/table.h"

#include <algorithm>
#include <array>

namespace tinyot::tools {
namespace {

constexpr Expected kEnded = Expected::Ended, kGuess = Expected::Guess,
                   kHarmless = Expected::Harmless;
constexpr std::string_view kOfStores = "store status|store grant|(disagreed)|(refused)|framing";
constexpr double kHalf = 0.5, kQuarter = 0.25, kOneOf32 = 1.0 / 32;

constexpr auto kTable = std::to_array<TableRow>({
    {net::message_tag("handshake.hello"), "handshake", 64, kEnded, kEnded, kEnded,
     "handshake|(disagreed)|(cut)", 0},
    {net::message_tag("handshake.confirm"), "handshake", 128, kEnded, kEnded, kEnded, "handshake",
     0},
    {net::message_tag("session.join"), "handshake", 128, kEnded, kEnded, kEnded, "(cut)", 0},
    {net::message_tag("eq.point"), "EQ", 256, kEnded, kEnded, kEnded, "EQ point|EQ of ", 0},
    {net::message_tag("eq.answer"), "EQ", 256, kEnded, kEnded, kEnded, "EQ point|EQ of ", 0},
    {net::message_tag("eq.confirmation"), "EQ", 256, kEnded, kEnded, kEnded, "EQ of ", 0},
    {net::message_tag("mac_transcript.digest"), "NNOB12 Fig. 6", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("coin_toss.commitment"), "coin toss", 128, kEnded, kEnded, kEnded,
     "coin toss", 0},
    // Other coins shift the layers of units of 32 triples alike once in 32 times. Orders of sets
    // and codes of silent bits differ.
    {net::message_tag("coin_toss.answer"), "coin toss", 128, kGuess, kGuess, kGuess,
     "MAC transcript|opened triple|silent check", kOneOf32},
    {net::message_tag("coin_toss.opening"), "coin toss", 128, kEnded, kEnded, kEnded, "coin toss",
     0},
    {net::message_tag("base_ot.r"), "base OTs", 256, kEnded, kEnded, kEnded,
     "base OT point|EQ of LaBit|SoftSpoken check", 0},
    {net::message_tag("base_ot.s"), "base OTs", 256, kEnded, kEnded, kEnded,
     "base OT point|EQ of LaBit|SoftSpoken check", 0},
    {net::message_tag("base_ot.kem_r"), "base OTs from ML-KEM", 128, kEnded, kEnded, kEnded,
     "base OT vector|EQ of LaBit|SoftSpoken check", 0},
    {net::message_tag("base_ot.kem_s"), "base OTs from ML-KEM", 128, kEnded, kEnded, kEnded,
     "EQ of LaBit|SoftSpoken check", 0},
    {net::message_tag("labit.corrections"), "NNOB12 Fig. 12, LaBit", 512, kGuess, kEnded, kEnded,
     "EQ of LaBit", kHalf},
    {net::message_tag("labit.pairing"), "NNOB12 Fig. 12, LaBit", 128, kEnded, kEnded, kEnded,
     "EQ of LaBit", 0},
    {net::message_tag("labit.d"), "NNOB12 Fig. 12, LaBit", 128, kEnded, kEnded, kEnded,
     "EQ of LaBit|framing", 0},
    {net::message_tag("abit.r"), "NNOB12 Fig. 9, aBit", 128, kEnded, kEnded, kEnded,
     "LaOT MAC|EQ of leaky objects|EQ of LaBit|EQ of global key", 0},
    {net::message_tag("global_key.e"), "Delta-consistency check", 128, kEnded, kEnded, kEnded,
     "EQ of global key", 0},
    {net::message_tag("laand.d"), "NNOB12 full version, LaAND", 128, kEnded, kEnded, kEnded,
     "EQ of leaky objects", 0},
    {net::message_tag("laand.u"), "NNOB12 full version, LaAND", 128, kGuess, kEnded, kEnded,
     "EQ of leaky objects", kHalf},
    {net::message_tag("laot.x.bits"), "NNOB12 Fig. 15, LaOT", 1, kGuess, kEnded, kEnded, "LaOT MAC",
     kHalf},
    {net::message_tag("laot.x.macs"), "NNOB12 Fig. 15, LaOT", 128, kGuess, kEnded, kEnded,
     "LaOT MAC", kHalf},
    {net::message_tag("laot.x.t"), "NNOB12 Fig. 15, LaOT", 128, kGuess, kEnded, kEnded,
     "EQ of leaky objects", kHalf},
    {net::message_tag("laot.d"), "NNOB12 Fig. 15, LaOT", 128, kEnded, kEnded, kEnded,
     "EQ of leaky objects", 0},
    {net::message_tag("laot.i"), "NNOB12 Fig. 15, LaOT", 128, kGuess, kEnded, kEnded,
     "EQ of leaky objects", kHalf},
    {net::message_tag("bucket.permutation_seed"), "NNOB12 Fig. 16", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("aand.d"), "NNOB12 full version, aAND", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("aot.d"), "NNOB12 Fig. 16, aOT", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    // A wrong number is detected; a wrong sum of outstanding risks changes at most the bucket.
    {net::message_tag("unit.begin"), "units", 64, kHarmless, kEnded, kHarmless,
     "unit number|(refused)|(disagreed)", 0},
    {net::message_tag("ggm.sums"), "SoftSpokenOT, GGM trees", 128, kGuess, kGuess, kEnded,
     "SoftSpoken check", kHalf},
    {net::message_tag("ggm.check"), "SoftSpokenOT, GGM trees", 128, kEnded, kEnded, kEnded,
     "SoftSpoken check", 0},
    {net::message_tag("softspoken.corrections"), "SoftSpokenOT", 128, kGuess, kEnded, kEnded,
     "SoftSpoken check", kQuarter},
    {net::message_tag("softspoken.challenge"), "SoftSpokenOT", 128, kEnded, kEnded, kEnded,
     "SoftSpoken check", 0},
    {net::message_tag("softspoken.answer"), "SoftSpokenOT", 128, kEnded, kEnded, kEnded,
     "SoftSpoken check", 0},
    {net::message_tag("latriple.g"), "leaky triples", 128, kGuess, kEnded, kEnded,
     "EQ of leaky triples", kHalf},
    {net::message_tag("latriple.d"), "leaky triples", 128, kEnded, kEnded, kEnded,
     "EQ of leaky triples", 0},
    {net::message_tag("triple.d"), "triples, buckets", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    // A wrong correction passes with an answer that matches: a guess, which is not tried here.
    {net::message_tag("silent.corrections"), "Ferret, half-trees", 128, kEnded, kEnded, kEnded,
     "silent check|framing", 0},
    {net::message_tag("silent.challenge"), "Ferret, appendix C", 128, kEnded, kEnded, kEnded,
     "silent check|framing", 0},
    {net::message_tag("silent.digest"), "Ferret, appendix C", 128, kEnded, kEnded, kEnded,
     "silent check", 0},
    {net::message_tag("bit_triple.g"), "bit triples", 128, kGuess, kGuess, kEnded,
     "MAC transcript|opened triple", kHalf},
    {net::message_tag("bit_triple.d"), "bit triples", 128, kEnded, kEnded, kEnded,
     "MAC transcript|opened triple", 0},
    {net::message_tag("bit_triple.opened"), "bit triples, sacrifice", 128, kEnded, kEnded, kEnded,
     "MAC transcript|opened triple", 0},
    {net::message_tag("bit_triple.sacrifice"), "bit triples, sacrifice", 128, kEnded, kEnded,
     kEnded, "MAC transcript", 0},
    {net::message_tag("bit_triple.layers"), "bit triples, layers", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("product.dh"), "triples from aANDs and aOTs", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("product.e"), "triples from aANDs and aOTs", 128, kEnded, kEnded, kEnded,
     "MAC transcript", 0},
    {net::message_tag("and.fgdh"), "NNOB12 Fig. 6, AND", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("and.e"), "NNOB12 Fig. 6, AND", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("and.de"), "AND from a triple", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("input.masked"), "NNOB12 Fig. 6, Input", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("output.shares"), "NNOB12 Fig. 6, Output", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("garbled.de"), "garbled phase, masks", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("garbled.masked"), "garbled phase, inputs", 128, kEnded, kEnded, kEnded,
     "early rows|MAC transcript|framing", 0},
    // A bit of a row is used for one value of a wire alone, and a label in one gate of two.
    {net::message_tag("garbled.rows"), "garbled phase, rows", 128, kHarmless, kEnded, kEnded,
     "early rows|MAC transcript", 0},
    {net::message_tag("garbled.colours"), "garbled phase, rows", 128, kEnded, kEnded, kEnded,
     "early rows|MAC transcript|framing", 0},
    {net::message_tag("garbled.mac_rows"), "garbled phase, early rows", 48, kHarmless, kEnded,
     kEnded, "early rows", 0},
    {net::message_tag("garbled.seed"), "garbled phase, pad", 128, kEnded, kEnded, kEnded,
     "early rows|MAC transcript", 0},
    {net::message_tag("garbled.shared"), "garbled phase, shared inputs", 128, kEnded, kEnded,
     kEnded, "MAC transcript|framing", 0},
    {net::message_tag("garbled.labels"), "garbled phase, inputs", 128, kHarmless, kEnded, kEnded,
     "early rows|MAC transcript", 0},
    {net::message_tag("garbled.masked_ands"), "garbled phase, gates", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("garbled.outputs"), "garbled phase, outputs", 128, kEnded, kEnded, kEnded,
     "MAC transcript|framing", 0},
    {net::message_tag("masked.products"), "masked phase, before the inputs", 128, kEnded, kEnded,
     kEnded, "MAC transcript|framing", 0},
    {net::message_tag("masked.operands"), "masked phase, after the inputs", 128, kEnded, kEnded,
     kEnded, "MAC transcript|framing", 0},
    {net::message_tag("store.status"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.unlocked"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.grant"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.taken"), "store agreement", 64, kEnded, kEnded, kEnded, kOfStores, 0},
    {net::message_tag("store.plan"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.half_count"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.halves"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.complete"), "store agreement", 64, kEnded, kEnded, kEnded, kOfStores,
     0},
    {net::message_tag("store.last_job"), "store agreement", 64, kHarmless, kHarmless, kHarmless,
     kOfStores, 0},
    {net::message_tag("store.next_job"), "store agreement", 64, kEnded, kEnded, kEnded, kOfStores,
     0},
    {net::message_tag("store.space"), "store agreement", 64, kEnded, kEnded, kEnded, kOfStores, 0},
});

// Whether the name of a check or of another ending is in the list.
bool is_among(std::string_view name, std::string_view list) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('|', begin), list.size());
    if (end > begin && name.starts_with(list.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string ending_name(const Ending& ending) {
  switch (ending.kind) {
    case Ending::Kind::Done:
      return "(done)";
    case Ending::Kind::Caught:
      return ending.check;
    case Ending::Kind::Told:
      return "(told)";
    case Ending::Kind::Cut:
      return "(cut)";
    case Ending::Kind::Disagreed:
      return "(disagreed)";
    case Ending::Kind::Refused:
      return "(refused)";
    case Ending::Kind::Broken:
      return "(broken)";
  }
  return {};
}

std::span<const TableRow> adversary_table() { return kTable; }

const TableRow* row_of(std::uint32_t tag) {
  const auto found =
      std::ranges::find(kTable, tag, [](const TableRow& row) { return row.message.id; });
  return found == kTable.end() ? nullptr : &*found;
}

Expected expected_of(const TableRow& row, DeviationKind kind) {
  if (!changes_payload(kind)) return Expected::Ended;
  if (kind == DeviationKind::FlipBit || kind == DeviationKind::LieBothWays) return row.bit;
  return kind == DeviationKind::FlipRow ? row.rows : row.other;
}

Judgement judge(const TableRow& row, DeviationKind kind, const Trial& trial) {
  if (!trial.conduct.deviated) return {Verdict::Void, {}};
  const std::string end = ending_name(trial.honest);
  const auto violation = [&](const std::string& what) {
    return Judgement{Verdict::Violation, what + ": " + end + " " + trial.honest.text};
  };
  if (!trial.flaw.empty())
    return violation("the honest party's results are wrong (" + trial.flaw + ")");
  if (hangs_up(kind) && trial.honest.kind == Ending::Kind::Cut) return {Verdict::Counted, {}};
  // The cheater's own check found the deviation first, and it sent an abort: the store is revoked.
  if (hangs_up(kind) && trial.honest.kind == Ending::Kind::Told) return {Verdict::Stopped, {}};
  switch (trial.honest.kind) {
    case Ending::Kind::Done:
      return expected_of(row, kind) == Expected::Ended ? violation("not noticed")
                                                       : Judgement{Verdict::Survived, {}};
    case Ending::Kind::Caught:
      if (is_among(end, (changes_payload(kind) ? "" : "framing|") + std::string(row.checks)))
        return {Verdict::Caught, {}};
      return violation("caught by an unexpected check");
    case Ending::Kind::Broken:
      return violation("an internal error");
    default:
      if (is_among(end, row.checks)) return {Verdict::Caught, {}};
      // The cheater ended first, by its own checks or because it waited in vain; the honest party
      // finds the connection closed.
      if (trial.honest.kind == Ending::Kind::Cut && trial.cheater.kind != Ending::Kind::Done)
        return {Verdict::Stopped, {}};
      return violation("an outcome that is not in the table");
  }
}

}  // namespace tinyot::tools
