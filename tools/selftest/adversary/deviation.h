// What a cheating party does to one of its messages after the real protocol code has produced it.
// The protocol code continues as if the original message had been sent.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/byte_stream.h"
#include "net/channel.h"

namespace tinyot::tools {

enum class DeviationKind : std::uint8_t {
  // Changes of the payload that keep its length.
  FlipBit,  // one bit
  FlipRow,  // one bit in each stride: in each block, in each row
  // one bit, and the same bit of the peer's answer, as a party does that uses its false value
  // consistently
  LieBothWays,
  Zeros,
  Ones,
  Random,
  Reflect,  // the peer's last message with the same tag
  Replay,   // the message sent at this point in an earlier session
  // Changes of the frame.
  CutShort,
  Lengthen,
  WrongLength,  // of the header only: enormous
  WrongTag,
  WrongSequence,
  // Changes of the order; frames are numbered as the peer expects.
  Omit,
  Repeat,
  Swap,  // with the next one
  // The connection is closed.
  HangUpBefore,  // instead of sending it
  HangUpAfter,   // after sending it
};
inline constexpr std::array kAllDeviationKinds = {
    DeviationKind::FlipBit,       DeviationKind::FlipRow,     DeviationKind::LieBothWays,
    DeviationKind::Zeros,         DeviationKind::Ones,        DeviationKind::Random,
    DeviationKind::Reflect,       DeviationKind::Replay,      DeviationKind::CutShort,
    DeviationKind::Lengthen,      DeviationKind::WrongLength, DeviationKind::WrongTag,
    DeviationKind::WrongSequence, DeviationKind::Omit,        DeviationKind::Repeat,
    DeviationKind::Swap};
inline constexpr std::array kHangUps = {DeviationKind::HangUpBefore, DeviationKind::HangUpAfter};
std::string_view name_of(DeviationKind kind);

// Whether the deviation changes neither the order nor the frames.
constexpr bool changes_payload(DeviationKind kind) { return kind <= DeviationKind::Replay; }
constexpr bool hangs_up(DeviationKind kind) { return kind >= DeviationKind::HangUpBefore; }

// A message as it was sent or received.
struct SeenMessage {
  std::uint32_t tag = 0;
  std::size_t occurrence = 0;  // of its tag, in its direction
  std::vector<std::byte> payload;
};
using Transcript = std::vector<SeenMessage>;

struct Deviation {
  std::size_t message = 0;  // of those that the party sends, from 0
  DeviationKind kind = DeviationKind::FlipBit;
  std::size_t bit = 0;  // modulo the bits of the payload, or of a stride
  std::size_t stride = 128;
  std::optional<std::size_t> spoilt = {};  // an earlier message whose first bit is flipped
};

// What has happened on a deviating stream.
struct Conduct {
  Transcript sent;  // before the deviation
  bool deviated = false;
  std::chrono::steady_clock::time_point deviated_at = {};  // first
};

// Forwards what the party sends, except for the deviation. `earlier` is what it has sent in another
// session, for a replay; both outlive the stream. A change of an empty payload, or one that changes
// nothing, does not count as a deviation.
std::unique_ptr<net::ByteStream> make_deviating_stream(std::unique_ptr<net::ByteStream> inner,
                                                       const Deviation* deviation,
                                                       const Transcript* earlier, Conduct& conduct);

}  // namespace tinyot::tools
