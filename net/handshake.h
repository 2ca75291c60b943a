// The handshake: both parties state the wire version, who they are and every parameter, and compare. Differences are named.
//
// What the two Hellos say is not yet bound to the session: checks/session.h derives the session from their bytes and has each
// party confirm it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/party.h"
#include "net/channel.h"

namespace tinyot {

inline constexpr std::uint32_t kWireVersion = 2;

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
// Fails: NetworkError if the other side does not speak this protocol; Disagreement if versions, parties or a parameter
// differ, naming it and both values; PeerCheated("handshake") on a malformed Hello; and as Channel::recv.
Handshake shake_hands(Channel& channel, const Hello& mine);

}  // namespace tinyot
