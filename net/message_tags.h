// The registry of message tags: every message of every protocol, once. A protocol names its
// messages by message_tag(); an unknown name does not compile. Tests and benches have tags of their
// own, from kForeignTagsBegin on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/distinct.h"

namespace tinyot::net {

// Messages of one track are received in the order in which they were sent. Those of a protocol that
// runs beside the others, at its own pace, have a track of their own: a party that expects a
// message of one track sets aside those of the other one that arrive before it.
enum class Track : std::uint8_t { Main = 0, Beside = 1 };

// The id is on the wire; its high byte names the protocol. The name appears in errors.
struct MessageTag {
  std::uint32_t id;
  std::string_view name;
  Track track = Track::Main;
};

// A message and the file of the protocol that sends it, without its extension.
struct MessageTagEntry {
  MessageTag tag;
  std::string_view file;
};

// In the order of their ids. doc/protocol.md, section 12, has senders and payloads.
inline constexpr auto kMessageTags = std::to_array<MessageTagEntry>({
    {{0x0001, "handshake.hello"}, "net/handshake"},
    {{0x0002, "handshake.confirm"}, "checks/session"},
    {{0x0003, "session.join"}, "net/handshake"},
    {{0x0004, "session.latency"}, "net/latency"},
    {{0x0005, "session.rate"}, "net/rate"},
    {{0x0006, "session.sample"}, "engine/link_fit"},
    {{0x0007, "session.fit"}, "engine/link_fit"},
    {{0x0201, "eq.point"}, "checks/equality"},
    {{0x0202, "eq.answer"}, "checks/equality"},
    {{0x0203, "eq.confirmation"}, "checks/equality"},
    {{0x0301, "mac_transcript.digest"}, "checks/mac_transcript"},
    {{0x0401, "coin_toss.commitment"}, "checks/coin_toss"},
    {{0x0402, "coin_toss.answer"}, "checks/coin_toss"},
    {{0x0403, "coin_toss.opening"}, "checks/coin_toss"},
    {{0x1001, "base_ot.r"}, "offline/base_ot/group_ot"},
    {{0x1002, "base_ot.s"}, "offline/base_ot/group_ot"},
    {{0x1003, "base_ot.kem_r"}, "offline/base_ot/kem_ot"},
    {{0x1004, "base_ot.kem_s"}, "offline/base_ot/kem_ot"},
    {{0x1101, "labit.corrections"}, "offline/nnob12/leaky_bits"},
    {{0x1102, "labit.pairing"}, "offline/nnob12/leaky_bits"},
    {{0x1103, "labit.d"}, "offline/nnob12/leaky_bits"},
    {{0x1201, "abit.r"}, "offline/nnob12/auth_bits"},
    {{0x1202, "global_key.e"}, "offline/global_key"},
    {{0x1301, "laand.d"}, "offline/nnob12/leaky_and"},
    {{0x1302, "laand.u"}, "offline/nnob12/leaky_and"},
    {{0x1401, "laot.x.bits"}, "offline/nnob12/leaky_ot"},
    {{0x1402, "laot.x.macs"}, "offline/nnob12/leaky_ot"},
    {{0x1403, "laot.x.t"}, "offline/nnob12/leaky_ot"},
    {{0x1404, "laot.d"}, "offline/nnob12/leaky_ot"},
    {{0x1405, "laot.i"}, "offline/nnob12/leaky_ot"},
    {{0x1501, "bucket.permutation_seed"}, "offline/nnob12/buckets"},
    {{0x1601, "aand.d"}, "offline/nnob12/auth_and"},
    {{0x1701, "aot.d"}, "offline/nnob12/auth_ot"},
    {{0x1801, "unit.begin"}, "offline/unit/preprocessor"},
    {{0x1901, "ggm.sums"}, "offline/softspoken/ggm_trees"},
    {{0x1902, "ggm.check"}, "offline/softspoken/ggm_trees"},
    {{0x1A01, "softspoken.corrections"}, "offline/softspoken/softspoken"},
    {{0x1A02, "softspoken.challenge"}, "offline/softspoken/softspoken"},
    {{0x1A03, "softspoken.answer"}, "offline/softspoken/softspoken"},
    {{0x1B01, "latriple.g"}, "offline/triples/leaky_triple"},
    {{0x1B02, "latriple.d"}, "offline/triples/leaky_triple"},
    {{0x1C01, "triple.d"}, "offline/triples/auth_triple"},
    {{0x1D01, "ot.choices"}, "offline/softspoken/ot_extension"},
    {{0x1D02, "ot.corrected"}, "offline/softspoken/ot_extension"},
    {{0x1D03, "ot.masked"}, "offline/softspoken/ot_extension"},
    {{0x1E01, "product.dh"}, "offline/nnob12/product_triple"},
    {{0x1E02, "product.e"}, "offline/nnob12/product_triple"},
    {{0x1F01, "silent.corrections", Track::Beside}, "offline/silent/silent_bits"},
    {{0x1F02, "silent.challenge", Track::Beside}, "offline/silent/silent_bits"},
    {{0x1F03, "silent.digest", Track::Beside}, "offline/silent/silent_bits"},
    {{0x1F11, "bit_triple.g"}, "offline/wan/bit_triple"},
    {{0x1F12, "bit_triple.d"}, "offline/wan/bit_triple"},
    {{0x1F13, "bit_triple.opened"}, "offline/wan/sacrifice"},
    {{0x1F14, "bit_triple.sacrifice"}, "offline/wan/sacrifice"},
    {{0x1F15, "bit_triple.layers"}, "offline/wan/share_fold"},
    {{0x2001, "and.fgdh"}, "online/interactive/ands_from_aand_aot"},
    {{0x2002, "and.e"}, "online/interactive/ands_from_aand_aot"},
    {{0x2003, "and.de"}, "online/interactive/ands_from_triples"},
    {{0x2101, "input.masked"}, "online/inputs"},
    {{0x2102, "output.shares"}, "online/outputs"},
    {{0x2201, "run.begin"}, "engine/evaluator"},
    {{0x2202, "run.online"}, "engine/phase_choice"},
    {{0x2203, "run.window"}, "engine/window_choice"},
    {{0x2204, "run.told"}, "engine/evaluator"},
    {{0x2301, "garbled.de"}, "online/garbled/mask_pass"},
    {{0x2302, "garbled.masked"}, "online/garbled/mask_pass"},
    {{0x2303, "garbled.rows"}, "online/garbled/rows"},
    {{0x2304, "garbled.colours"}, "online/garbled/rows"},
    {{0x2305, "garbled.mac_rows"}, "online/garbled/rows"},
    {{0x2306, "garbled.labels"}, "online/garbled/rows"},
    {{0x2307, "garbled.masked_ands"}, "online/garbled/gate_check"},
    {{0x2308, "garbled.seed"}, "online/garbled/prepared_run"},
    {{0x2309, "garbled.outputs"}, "online/garbled/output_masks"},
    {{0x230A, "garbled.shared"}, "online/garbled/shared_inputs"},
    {{0x2401, "masked.products"}, "online/masked/mask_sweep"},
    {{0x2402, "masked.operands"}, "online/masked/masked_steps"},
    {{0x3001, "store.status"}, "engine/synchronise"},
    {{0x3002, "store.unlocked"}, "engine/synchronise"},
    {{0x3004, "store.grant"}, "engine/synchronise"},
    {{0x3005, "store.taken"}, "engine/synchronise"},
    {{0x3006, "store.plan"}, "engine/synchronise"},
    {{0x3007, "store.half_count"}, "engine/synchronise"},
    {{0x3008, "store.halves"}, "engine/synchronise"},
    {{0x3009, "store.complete"}, "engine/synchronise"},
    {{0x300A, "store.last_job"}, "engine/top_up"},
    {{0x300B, "store.next_job"}, "engine/top_up"},
    {{0x300C, "store.space"}, "engine/disk_space"},
    {{0x4001, "daemon.parameters"}, "service/peer_link"},
    {{0x4002, "daemon.message"}, "service/peer_link"},
    {{0x7F01, "bench.trip"}, "tools/bench/party"},
    {{0x7F02, "bench.np_c"}, "tools/bench/naor_pinkas"},
    {{0x7F03, "bench.np_pk"}, "tools/bench/naor_pinkas"},
    {{0xFFFFFFFF, "abort"}, "net/channel"},
});

inline constexpr std::uint32_t kForeignTagsBegin = 0x7000, kForeignTagsEnd = 0x8000;

static_assert(are_distinct(kMessageTags, [](const auto& entry) { return entry.tag.id; }));
static_assert(are_distinct(kMessageTags, [](const auto& entry) { return entry.tag.name; }));

constexpr Track track_of(std::uint32_t id) {
  for (const MessageTagEntry& entry : kMessageTags)
    if (entry.tag.id == id) return entry.tag.track;
  return Track::Main;
}

// For a constant, not for an argument: of such a temporary Clang 14 leaves parts undefined.
consteval MessageTag message_tag(std::string_view name) {
  for (const MessageTagEntry& entry : kMessageTags)
    if (entry.tag.name == name) return entry.tag;
  throw "no message of this name is in kMessageTags";
}

}  // namespace tinyot::net
