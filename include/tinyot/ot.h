// Oblivious transfer of 128-bit strings with active security: OT extension over its own connection.
// In each OT the sender has two strings, and the receiver learns the one that it chooses.
//
// Both sides make the same calls with the same numbers of OTs. The sender is party A.
// Source: Roy, CRYPTO 2022 (SoftSpokenOT); Asharov, Lindell, Schneider, Zohner, J. Cryptology 2017,
// for random, correlated and chosen OTs. Wire: (128 / k - 1) / 8 bytes per OT from the receiver,
// with k = 1, 2 or 4; in addition the bytes stated at each kind, and 1 bit per OT for choices that
// the receiver gives.
// A call for any number of OTs uses bounded memory in addition to the caller's spans. Not
// thread-safe. After an exception the connection has ended, and the contents of the caller's spans
// are unspecified. Fails: PeerCheated, PeerAborted, NetworkError; std::logic_error for spans of
// different lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tinyot/block.h"
#include "tinyot/endpoint.h"
#include "tinyot/export.h"
#include "tinyot/parameters.h"

namespace tinyot {

struct OtRequest {
  Endpoint endpoint;
  std::uint32_t softspoken_k = 2;                // the same on both sides
  std::optional<BaseOt> base_ot = std::nullopt;  // as in ParameterRequest
};

class OtSender {
 public:
  // Connects and makes the base OTs.
  TINYOT_API explicit OtSender(const OtRequest& request);
  TINYOT_API OtSender(OtSender&&) noexcept;
  TINYOT_API OtSender& operator=(OtSender&&) noexcept;
  TINYOT_API ~OtSender();

  // Both strings are random.
  TINYOT_API void random(std::span<Block> x0, std::span<Block> x1);
  // x1 = x0 ^ offset, with x0 random. 16 bytes per OT.
  TINYOT_API void correlated(std::span<const Block> offsets, std::span<Block> x0);
  // The sender's own strings. 32 bytes per OT.
  TINYOT_API void chosen(std::span<const Block> m0, std::span<const Block> m1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Choices are packed: choice j is bit j % 8 of byte j / 8, and there are ceil(n / 8) bytes for n
// OTs.
class OtReceiver {
 public:
  TINYOT_API explicit OtReceiver(const OtRequest& request);
  TINYOT_API OtReceiver(OtReceiver&&) noexcept;
  TINYOT_API OtReceiver& operator=(OtReceiver&&) noexcept;
  TINYOT_API ~OtReceiver();

  TINYOT_API void random(std::span<const std::byte> choices, std::span<Block> x);
  TINYOT_API void correlated(std::span<const std::byte> choices, std::span<Block> x);
  TINYOT_API void chosen(std::span<const std::byte> choices, std::span<Block> m);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot
