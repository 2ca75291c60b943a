#include "net/handshake.h"

#include <cstring>

#include "base/error.h"
#include "handshake.pb.h"

namespace tinyot::net {
namespace {

constexpr std::size_t kHelloBytesMax = 16 << 10;
constexpr int kParametersMax = 64;
// Of what callers give: a session adds its id.
constexpr std::size_t kGivenBytesMax = 16'000, kGivenMax = 60;
constexpr std::string_view kMagic = "TinyOT wire\n";

std::vector<std::byte> encode(const Hello& hello) {
  wire::Hello message;
  message.set_wire_version(kWireVersion);
  message.set_party(static_cast<std::uint32_t>(hello.party));
  message.set_nonce(hello.nonce.data(), hello.nonce.size());
  for (const Parameter& parameter : hello.parameters) {
    auto* added = message.add_parameters();
    added->set_name(parameter.name);
    added->set_value(parameter.value);
    added->set_shown(parameter.shown);
    added->set_open(parameter.is_open);
  }
  std::vector<std::byte> bytes(kMagic.size() + message.ByteSizeLong());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  ENSURE(message.SerializeToArray(bytes.data() + kMagic.size(),
                                  static_cast<int>(bytes.size() - kMagic.size())));
  return bytes;
}

bool has_magic(const std::vector<std::byte>& bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

// The bytes begin with the magic.
wire::Hello decode(const std::vector<std::byte>& bytes) {
  wire::Hello message;
  const int length = static_cast<int>(bytes.size() - kMagic.size());
  if (!message.ParseFromArray(bytes.data() + kMagic.size(), length))
    throw PeerCheated("handshake: malformed hello");
  return message;
}

// Text from the peer, made safe for an error message: printable ASCII, truncated.
std::string printable(const std::string& value) {
  constexpr std::size_t kShownMax = 128;
  std::string shown = value.substr(0, kShownMax);
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return shown.empty() ? "nothing" : shown;
}

// Decimal numbers without leading zeros.
std::string_view owner_of_older(std::string_view mine, std::string_view peers) {
  const bool is_mine = mine.size() != peers.size() ? mine.size() < peers.size() : mine < peers;
  return is_mine ? "this party" : "the peer";
}

[[noreturn]] void disagree_on_version(const std::string& name, const std::string& mine,
                                      const std::string& peers) {
  throw Disagreement("the parties disagree on the " + name + ": this party has " + mine +
                     ", the peer has " + printable(peers) + "; " +
                     std::string(owner_of_older(mine, peers)) +
                     " has the older one: run the same release on both sides");
}

// The agreed parameters.
std::vector<Parameter> compare(const Hello& mine, const wire::Hello& peers) {
  if (peers.wire_version() != kWireVersion)
    disagree_on_version("wire version", std::to_string(kWireVersion),
                        std::to_string(peers.wire_version()));
  if (peers.party() > 1 || peers.nonce().size() != mine.nonce.size() ||
      peers.parameters_size() > kParametersMax)
    throw PeerCheated("handshake: malformed hello");
  if (peers.party() == static_cast<std::uint32_t>(mine.party))
    throw Disagreement(std::string("the parties disagree on the party: both are ") +
                           letter(mine.party) + "; one of them must be " +
                           letter(peer_of(mine.party)),
                       Remedy::ChangeParty);
  std::vector<Parameter> agreed = mine.parameters;
  const auto shared = std::min<std::size_t>(agreed.size(), peers.parameters_size());
  for (std::size_t i = 0; i < shared; ++i) {
    Parameter& ours = agreed[i];
    const auto& theirs = peers.parameters(static_cast<int>(i));
    if (ours.name != theirs.name())
      throw Disagreement("the parties disagree on the name of a parameter: this party has " +
                         ours.name + ", the peer has " + printable(theirs.name()) +
                         "; run the same job and release on both sides");
    if (theirs.open()) continue;
    if (ours.is_open) {
      ours = {ours.name, theirs.value()};
      continue;
    }
    if (ours.value != theirs.value() && !ours.shown.empty() && ours.shown == theirs.shown())
      throw Disagreement("the parties disagree on " + ours.name + ": they gave " + ours.shown +
                         "; give both parties the same");
    if (ours.value != theirs.value() && ours.is_version)
      disagree_on_version(ours.name, ours.value, theirs.value());
    if (ours.value != theirs.value())
      throw Disagreement("the parties disagree on " + ours.name + ": this party has " +
                         printable(ours.shown.empty() ? ours.value : ours.shown) +
                         ", the peer has " +
                         printable(theirs.shown().empty() ? theirs.value() : theirs.shown()) +
                         "; give both parties the same");
  }
  if (mine.parameters.size() != static_cast<std::size_t>(peers.parameters_size()))
    throw Disagreement(
        "the parties disagree on the number of parameters; run the same job and release on "
        "both sides");
  return agreed;
}

// Whether the bytes received so far agree with `expected`.
bool begins_as(std::span<const std::byte> bytes, std::string_view expected) {
  return std::memcmp(bytes.data(), expected.data(), std::min(bytes.size(), expected.size())) == 0;
}

}  // namespace

FirstBytes classify_first_bytes(std::span<const std::byte> bytes) {
  // A TLS handshake record has version 3.1 or 3.3. A frame begins with its length; if its first two
  // bytes are these, the third is zero, since lengths are below 2^16.
  if (bytes.size() >= 3 && begins_as(bytes, "\x16\x03") && bytes[2] != std::byte{0})
    return FirstBytes::Tls;
  if (bytes.size() < sizeof(FrameHeader)) return FirstBytes::Incomplete;
  FrameHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.sequence != 0) return FirstBytes::Foreign;
  if (header.tag == kJoin.id)
    return header.length == kJoinBytes ? FirstBytes::Ours : FirstBytes::Foreign;
  const auto payload = bytes.subspan(sizeof header);
  if (header.tag != kHello.id || header.length < kMagic.size() || header.length > kHelloBytesMax ||
      !begins_as(payload, kMagic))
    return FirstBytes::Foreign;
  return payload.size() < kMagic.size() ? FirstBytes::Incomplete : FirstBytes::Ours;
}

void require_sendable(const std::vector<Parameter>& parameters) {
  const std::size_t bytes = encode({Party::A, {}, parameters}).size();
  if (bytes <= kGivenBytesMax && parameters.size() <= kGivenMax) return;
  throw UsageError(
      "what the parties compare has " + std::to_string(parameters.size()) + " parameters with " +
      std::to_string(bytes) + " bytes, and at most " + std::to_string(kGivenMax) + " with " +
      std::to_string(kGivenBytesMax) +
      " bytes are possible: use shorter names for the circuit, its inputs and outputs");
}

Handshake shake_hands(Channel& channel, const Hello& mine) {
  auto ours = encode(mine);
  ENSURE(ours.size() <= kHelloBytesMax && mine.parameters.size() <= kParametersMax);
  channel.send(kHello, ours);
  std::vector<std::byte> theirs;
  try {
    theirs = channel.recv_variable(kHello, kHelloBytesMax);
  } catch (const PeerCheated&) {
    throw NetworkError(
        "the peer does not speak the tinyot protocol: its first message is not a Hello; check the "
        "address");
  }
  if (!has_magic(theirs))
    throw NetworkError("the peer does not speak the tinyot protocol; check the address");
  std::vector<Parameter> agreed = compare(mine, decode(theirs));
  if (mine.party == Party::B) std::swap(ours, theirs);
  return {std::move(ours), std::move(theirs), std::move(agreed)};
}

ParameterComparison::ParameterComparison(Channel& channel, const MessageTag& tag, Party me,
                                         std::vector<Parameter> parameters)
    : channel_(channel), tag_(tag), mine_{me, {}, std::move(parameters)} {
  require_sendable(mine_.parameters);
  channel_.send(tag_, encode(mine_));
}

void ParameterComparison::finish() {
  const auto theirs = channel_.recv_variable(tag_, kHelloBytesMax);
  if (!has_magic(theirs)) throw PeerCheated("handshake: malformed hello");
  compare(mine_, decode(theirs));
}

void compare_parameters(Channel& channel, const MessageTag& tag, Party me,
                        std::vector<Parameter> parameters) {
  ParameterComparison(channel, tag, me, std::move(parameters)).finish();
}

}  // namespace tinyot::net
