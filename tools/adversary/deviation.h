// What a cheating party does to one of its messages, on its way out of the real protocol code: the
// party itself goes on as if it had sent what the protocol says.
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

enum class Trick : std::uint8_t {
  // The payload becomes another one of the same length.
  FlipBit,  // one bit
  FlipRow,  // one bit in each stride of them: of each block, of each row
  // one bit, and the same one in what the peer sends in return, as a party does that
  // keeps to its false value
  LieBothWays,
  Zeros,
  Ones,
  Random,
  Reflect,  // what the peer has sent last under the same tag
  Replay,   // what was sent here in an earlier session
  // The frame becomes another one.
  CutShort,
  Lengthen,
  WrongLength,  // of the header only: enormous
  WrongTag,
  WrongSequence,
  // The order changes; frames are numbered as the peer expects them.
  Omit,
  Repeat,
  Swap,  // with the next one
  // The connection is closed.
  HangUpBefore,  // instead of sending it
  HangUpAfter,   // as soon as it has left
};
inline constexpr std::array kAllTricks = {
    Trick::FlipBit,       Trick::FlipRow,  Trick::LieBothWays, Trick::Zeros,
    Trick::Ones,          Trick::Random,   Trick::Reflect,     Trick::Replay,
    Trick::CutShort,      Trick::Lengthen, Trick::WrongLength, Trick::WrongTag,
    Trick::WrongSequence, Trick::Omit,     Trick::Repeat,      Trick::Swap};
inline constexpr std::array kHangUps = {Trick::HangUpBefore, Trick::HangUpAfter};
std::string_view name_of(Trick trick);

// One that leaves the order and the frames as they are.
constexpr bool changes_payload(Trick trick) { return trick <= Trick::Replay; }
constexpr bool hangs_up(Trick trick) { return trick >= Trick::HangUpBefore; }

// A message as it was sent or received.
struct SeenMessage {
  std::uint32_t tag = 0;
  std::size_t occurrence = 0;  // of its tag, in its direction
  std::vector<std::byte> payload;
};
using Transcript = std::vector<SeenMessage>;

struct Deviation {
  std::size_t message = 0;  // of those that the party sends, from 0
  Trick trick = Trick::FlipBit;
  std::size_t bit = 0;  // modulo the bits of the payload, or of a stride
  std::size_t stride = 128;
  std::optional<std::size_t> spoilt = {};  // an earlier message, of which the first bit is flipped
};

// What has happened on a stream that deviates.
struct Conduct {
  Transcript sent;  // as the protocol has it
  bool deviated = false;
  std::chrono::steady_clock::time_point deviated_at = {};  // first
};

// Passes on what the party sends but for the deviation. `earlier` is what it has sent in another
// session, for a replay; both outlive the stream. Whatever is asked of an empty payload, or changes
// nothing, is no deviation.
std::unique_ptr<net::ByteStream> make_deviating_stream(std::unique_ptr<net::ByteStream> inner,
                                                       const Deviation* deviation,
                                                       const Transcript* earlier, Conduct& conduct);

}  // namespace tinyot::tools
