// The handshake: both parties state the wire version, who they are and every parameter, and
// compare. Differences are named.
//
// What the two Hellos say is not yet bound to the session: checks/session.h derives the session
// from their bytes and has each party confirm it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/party.h"
#include "net/channel.h"

namespace tinyot::net {

inline constexpr std::uint32_t kWireVersion = 4;

// The first message of a session's connection, and that of each further one.
inline constexpr MessageTag kHello{0x0001, "handshake.hello"};
inline constexpr MessageTag kJoin{0x0003, "session.join"};
inline constexpr std::size_t kJoinBytes = 32;

// How the first bytes of a connection look, judged as soon as they can be: one of the two messages
// above, the beginning of a TLS connection, or neither.
enum class FirstBytes { Incomplete, Ours, Tls, Foreign };
inline constexpr std::size_t kFirstBytes = 28;  // that are looked at
FirstBytes judge_first_bytes(std::span<const std::byte> bytes);

struct Parameter {
  std::string name;
  std::string value;
};

struct Hello {
  Party party;
  std::array<std::uint8_t, 32> nonce;
  std::vector<Parameter> parameters;
};

struct Handshake {
  std::vector<std::byte> hello_a;  // as sent by A
  std::vector<std::byte> hello_b;  // as sent by B
};

// Wire: one message each way, at once.
// Fails: NetworkError if the other side does not speak this protocol; Disagreement if versions,
// parties or a parameter differ, naming it and both values; PeerCheated("handshake") on a malformed
// Hello; and as Channel::recv.
Handshake shake_hands(Channel& channel, const Hello& mine);

}  // namespace tinyot::net
