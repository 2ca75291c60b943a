#include "tests/service/link_relay.h"

#include <cstring>

namespace tinyot::test {
namespace {

// What daemons send first: "tinyotd1", the group, whose highest bit is that of links, and a number.
constexpr std::size_t kConnectionHeader = 24, kGroupEnd = 16;
// Then messages: a length of 8 bytes, tag and sequence number, payload.
constexpr std::size_t kMessageHeader = 16, kFewBytes = 4;

}  // namespace

LinkRelay::LinkRelay(std::string target_port)
    : relay_(std::move(target_port),
             {.change = [this](const Relay::Chunk& chunk) { return pass(chunk); },
              .patience = std::chrono::milliseconds(200)}) {}

std::string LinkRelay::pass(const Relay::Chunk& chunk) {
  if (chunk.direction == Direction::FromListening) return chunk.bytes;
  Connection& connection = connections_[chunk.connection];
  if (connection.is_lost) return {};
  std::string passed;
  for (const char byte : chunk.bytes) {
    if (connection.left > 0) {
      const bool is_last = --connection.left == 0;
      const Openings openings = connection.is_short ? openings_.load() : Openings::kPassedOn;
      if (openings == Openings::kLost) {
        connection.is_lost = true;
        return passed;
      }
      const bool is_changed = openings == Openings::kChanged && is_last;
      passed += static_cast<char>(byte ^ (is_changed ? 1 : 0));
      changed_ += is_changed;
      continue;
    }
    passed += byte;
    std::string& header = connection.header;
    header += byte;
    if (header.size() < (connection.is_open ? kMessageHeader : kConnectionHeader)) continue;
    if (connection.is_open) {
      std::memcpy(&connection.left, header.data(), sizeof connection.left);
      connection.is_short = !connection.is_link && connection.left <= kFewBytes;
    } else {
      connection.is_open = true;
      connection.is_link = (static_cast<unsigned char>(header[kGroupEnd - 1]) & 0x80) != 0;
    }
    header.clear();
  }
  return passed;
}

}  // namespace tinyot::test
