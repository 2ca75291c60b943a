// The key schedule of TLS 1.3 with SHA-256, without a pre-shared key (RFC 8446, sections 7.1 and
// 7.3): from a shared (EC)DHE secret and a hash of the transcript to the keys of one stage.
//
//   parameters  stage: handshake or application
//               key_bytes: 16 (AES-128) or 32 (ChaCha20)
//               dhe_bytes: of the (EC)DHE secret
//               to: both, A, B or none
//   inputs      dhe_a (A), dhe_b (B): secret = dhe_a ^ dhe_b
//               transcript_a (256, A), transcript_b (256, B): the hash of the messages up to
//               ServerHello or up to the server's Finished
//   outputs     same_transcript (1, to both)
//               client_secret, server_secret (256 each), client_key, server_key (8 . key_bytes),
//               client_iv, server_iv (96), to `to`
//
// The hash is public, and each party inputs the one that it has computed: if they differ, the other
// outputs are zeros, so neither party learns keys of a transcript that the other has not seen.
//
// Compressions of SHA-256, with those of public values folded: 20 for the handshake, 28 for the
// application, which computes the handshake secret again.
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily tls13_family();

}  // namespace tinyot::circuit
