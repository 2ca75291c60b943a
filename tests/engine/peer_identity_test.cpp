// A store or session file is continued only with the peer it was made with: the whole fingerprint
// is compared.
#include "engine/peer_identity.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

Endpoint endpoint_of(const Fingerprint& peer) {
  static const Identity kMine = Identity::generate();
  PeerOptions options;
  options.tls = std::make_shared<TlsAdmission>(kMine, peer);
  return endpoint_with(std::move(options));
}

Manifest made_with(const Fingerprint& peer) {
  Manifest manifest;
  manifest.peer = text_of(peer);
  return manifest;
}

TEST(PeerIdentity, AcceptsSamePeer) {
  const Fingerprint peer = Identity::generate().fingerprint();
  EXPECT_NO_THROW(check_peer(made_with(peer), endpoint_of(peer), "the store"));
  EXPECT_NO_THROW(check_peer(Manifest{}, endpoint_of(peer), "the store"));
  EXPECT_NO_THROW(check_peer(Manifest{}, Endpoint{}, "the store"));
}

TEST(PeerIdentity, RejectsFingerprintThatDiffersInAnyByte) {
  const Fingerprint peer = Identity::generate().fingerprint();
  for (std::size_t byte = 0; byte < peer.bytes.size(); ++byte) {
    Fingerprint other = peer;
    other.bytes[byte] ^= 1;
    try {
      check_peer(made_with(peer), endpoint_of(other), "the store");
      ADD_FAILURE() << byte;
    } catch (const StoreError& error) {
      EXPECT_EQ(error.remedy(), Remedy::GivePeersKey) << byte;
    }
  }
}

TEST(PeerIdentity, RejectsPlainTcpAfterTls) {
  const Fingerprint peer = Identity::generate().fingerprint();
  EXPECT_THROW(check_peer(made_with(peer), Endpoint{}, "the store"), StoreError);
}

}  // namespace
}  // namespace tinyot::test
