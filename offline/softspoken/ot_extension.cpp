#include "offline/softspoken/ot_extension.h"

#include <algorithm>

#include "base/error.h"
#include "crypto/tweak_hash.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kChoices = net::message_tag("ot.choices");
constexpr net::MessageTag kCorrected = net::message_tag("ot.corrected");
constexpr net::MessageTag kMasked = net::message_tag("ot.masked");

constexpr std::size_t kOtBatchesAhead = 1;
// Batches held at a time: the one being made, and those whose check is in flight.
constexpr std::size_t kSlots = kOtBatchesAhead + 1;
static_assert(kBatchBits <= crypto::TweakHash::kObjectsMax && kBatchBits % 64 == 0);

constexpr std::size_t kPieceOts = 512;  // so that keys and strings of a piece fit in the L1 cache

constexpr std::uint64_t kDomainsMax = std::uint64_t{1} << 32;
constexpr std::uint64_t kBatchesMax = std::uint64_t{1} << 32;

// OTs first, ..., first + count - 1 of a call, and the bits from which they are made.
struct OtBatch {
  BitBatch bits;
  std::size_t first;
  std::size_t count;

  // offset of its keys or MACs in waiting_
  std::size_t slot() const { return bits.number % kSlots * kBatchBits; }
  template <class Word>
  std::span<Word> of(std::span<Word> all) const {
    return all.subspan(first, count);
  }
};

std::vector<OtBatch> batches_of(std::size_t count, std::size_t& number) {
  std::vector<OtBatch> batches;
  for (std::size_t first = 0; first < count; first += kBatchBits) {
    const std::size_t part = std::min(kBatchBits, count - first);
    batches.push_back({{number++, (part + kKappa - 1) / kKappa * kKappa}, first, part});
  }
  ENSURE(number <= kBatchesMax);
  return batches;
}

// H for one batch, with its own key, so its tweaks start at 0.
crypto::TweakHash hash_of(const checks::Session& session, Party receiver, std::uint64_t domain,
                          const OtBatch& batch) {
  return crypto::TweakHash(session.id(),
                           {"OT extension", letter(receiver), (domain << 32) | batch.bits.number});
}

// x0 = H(i, K), x1 = H(i, K ^ Delta).
void hash_both(const crypto::TweakHash& hash, Delta delta, KeyColumnView keys, std::span<Block> x0,
               std::span<Block> x1) {
  for (std::size_t first = 0; first < keys.size(); first += kPieceOts) {
    const std::size_t count = std::min(kPieceOts, keys.size() - first);
    const std::span<Block> zero = as_blocks(keys.subspan(first, count)),
                           one = x1.subspan(first, count);
    for (std::size_t i = 0; i < count; ++i) one[i] = zero[i] ^ delta.value;
    hash(crypto::HashUse::OtExtension, first, zero, x0.subspan(first, count));
    hash(crypto::HashUse::OtExtension, first, one, one);
  }
}

// x_c = H(i, M).
void hash_one(const crypto::TweakHash& hash, const MacColumnView& bits, std::span<Block> x) {
  hash(crypto::HashUse::OtExtension, 0, as_blocks(bits.macs), x);
}

// d = c ^ u, for the receiver's choices c in place of its bits u.
void send_choices(checks::Session& session, const OtBatch& batch, const MacColumnView& bits,
                  const BitVector& choices) {
  BitVector d(batch.count);
  d.copy_from(choices, batch.first, 0, batch.count);
  for (std::size_t w = 0; w < d.words().size(); ++w) d.words()[w] ^= bits.bits[w];
  d.clear_padding();
  net::send_bits(session.channel(), kChoices, d);
}

// K ^= d.Delta.
void receive_choices(checks::Session& session, KeyColumnView keys) {
  const BitVector d = net::recv_bits(session.channel(), kChoices, keys.size());
  const ScopedSecret<Delta> delta(session.global_key());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = xor_public_bit(keys[i], delta, d[i]);
}

void add(std::span<Block> sum, std::span<const Block> more) {
  Block* __restrict to = sum.data();
  const Block* __restrict from = more.data();
  for (std::size_t i = 0; i < sum.size(); ++i) to[i] ^= from[i];
}

// For kinds without a message to the receiver.
void nothing_more(const OtBatch&) {}

}  // namespace

OtExtensionSender::OtExtensionSender(checks::Session& session, const PuncturedTrees& trees,
                                     std::uint64_t domain)
    : session_(session), key_holder_(session, trees, domain), domain_(domain),
      waiting_(kSlots * kBatchBits) {
  ENSURE(domain < kDomainsMax);
}

// Calls use(batch, keys, hash) for each batch of keys that has passed its check, in order.
template <class Use>
void OtExtensionSender::stream(std::size_t count, Use use) {
  run_pipeline(
      batches_of(count, batches_), kOtBatchesAhead,
      [&](const OtBatch& batch) {
        key_holder_.receive_corrections(batch.bits,
                                        {{waiting_.view(batch.slot(), batch.bits.bits)}});
      },
      [&](const OtBatch& batch) {
        key_holder_.verify(batch.bits);
        use(batch, waiting_.view(batch.slot(), batch.count),
            hash_of(session_, session_.peer(), domain_, batch));
      });
  session_.channel().flush();
}

void OtExtensionSender::delta_correlated(KeyColumnView x0) {
  stream(x0.size(), [&](const OtBatch& batch, KeyColumnView keys, const crypto::TweakHash&) {
    std::ranges::copy(keys, batch.of(x0).begin());
  });
}

void OtExtensionSender::random(std::span<Block> x0, std::span<Block> x1) {
  ENSURE(x0.size() == x1.size());
  stream(x0.size(), [&](const OtBatch& batch, KeyColumnView keys, const crypto::TweakHash& hash) {
    hash_both(hash, session_.global_key(), keys, batch.of(x0), batch.of(x1));
  });
}

void OtExtensionSender::random_for(std::span<Block> x0, std::span<Block> x1) {
  ENSURE(x0.size() == x1.size());
  stream(x0.size(), [&](const OtBatch& batch, KeyColumnView keys, const crypto::TweakHash& hash) {
    receive_choices(session_, keys);
    hash_both(hash, session_.global_key(), keys, batch.of(x0), batch.of(x1));
  });
}

void OtExtensionSender::correlated(std::span<const Block> offsets, std::span<Block> x0) {
  ENSURE(offsets.size() == x0.size());
  SecretVector<Block> scratch(std::min(x0.size(), kBatchBits));
  stream(x0.size(), [&](const OtBatch& batch, KeyColumnView keys, const crypto::TweakHash& hash) {
    receive_choices(session_, keys);
    // H(i, K ^ Delta) ^ x1, where x1 = x0 ^ offset.
    const std::span<Block> corrected = std::span(scratch).first(batch.count);
    hash_both(hash, session_.global_key(), keys, batch.of(x0), corrected);
    add(corrected, batch.of(x0));
    add(corrected, batch.of(offsets));
    net::send_words(session_.channel(), kCorrected, std::span<const Block>(corrected));
  });
}

void OtExtensionSender::chosen(std::span<const Block> m0, std::span<const Block> m1) {
  ENSURE(m0.size() == m1.size());
  SecretVector<Block> scratch(2 * std::min(m0.size(), kBatchBits));
  stream(m0.size(), [&](const OtBatch& batch, KeyColumnView keys, const crypto::TweakHash& hash) {
    receive_choices(session_, keys);
    const std::span<Block> masked = std::span(scratch).first(2 * batch.count),
                           zero = masked.first(batch.count), one = masked.last(batch.count);
    hash_both(hash, session_.global_key(), keys, zero, one);
    add(zero, batch.of(m0));
    add(one, batch.of(m1));
    net::send_words(session_.channel(), kMasked, std::span<const Block>(masked));
  });
}

OtExtensionReceiver::OtExtensionReceiver(checks::Session& session, const FullTrees& trees,
                                         std::uint64_t domain)
    : session_(session), mac_holder_(session, trees, domain), domain_(domain),
      waiting_(kSlots * kBatchBits) {
  ENSURE(domain < kDomainsMax);
}

// Calls use(batch, bits, hash) for each batch of bits whose challenge has been answered, and
// finish(batch) when it is time to read the sender's message for it.
template <class Use, class Finish>
void OtExtensionReceiver::stream(std::size_t count, Use use, Finish finish) {
  const auto made = [&](const OtBatch& batch) {
    return waiting_.view(batch.slot(), batch.bits.bits);
  };
  run_pipeline(
      batches_of(count, batches_), kOtBatchesAhead,
      [&](const OtBatch& batch) { mac_holder_.send_corrections(batch.bits, {{made(batch)}}); },
      [&](const OtBatch& batch) {
        mac_holder_.answer(batch.bits, {{made(batch)}});
        use(batch, waiting_.view(batch.slot(), batch.count),
            hash_of(session_, session_.me(), domain_, batch));
      },
      finish);
  session_.channel().flush();
}

// The same for given choices: sends d, x_c = H(i, M).
template <class Finish>
void OtExtensionReceiver::stream_for(const BitVector& choices, std::span<Block> x, Finish finish) {
  ENSURE(choices.size() == x.size());
  stream(
      x.size(),
      [&](const OtBatch& batch, const MacColumnView& bits, const crypto::TweakHash& hash) {
        send_choices(session_, batch, bits, choices);
        hash_one(hash, bits, batch.of(x));
      },
      finish);
}

void OtExtensionReceiver::delta_correlated(MacColumnView x) {
  stream(
      x.size(),
      [&](const OtBatch& batch, const MacColumnView& bits, const crypto::TweakHash&) {
        copy_bits(bits.bits, 0, x.bits, batch.first, batch.count);
        std::ranges::copy(bits.macs, batch.of(x.macs).begin());
      },
      nothing_more);
}

void OtExtensionReceiver::random(BitVector& choices, std::span<Block> x) {
  ENSURE(choices.size() == x.size());
  stream(
      x.size(),
      [&](const OtBatch& batch, const MacColumnView& bits, const crypto::TweakHash& hash) {
        copy_bits(bits.bits, 0, choices.words(), batch.first, batch.count);
        hash_one(hash, bits, batch.of(x));
      },
      nothing_more);
}

void OtExtensionReceiver::random_for(const BitVector& choices, std::span<Block> x) {
  stream_for(choices, x, nothing_more);
}

void OtExtensionReceiver::correlated(const BitVector& choices, std::span<Block> x) {
  SecretVector<Block> corrected(std::min(x.size(), kBatchBits));
  stream_for(choices, x, [&](const OtBatch& batch) {
    net::recv_words(session_.channel(), kCorrected, std::span(corrected).first(batch.count));
    for (std::size_t i = 0; i < batch.count; ++i)
      x[batch.first + i] ^= times(corrected[i], choices[batch.first + i]);
  });
}

void OtExtensionReceiver::chosen(const BitVector& choices, std::span<Block> m) {
  SecretVector<Block> scratch(2 * std::min(m.size(), kBatchBits));
  stream_for(choices, m, [&](const OtBatch& batch) {
    const std::span<Block> masked = std::span(scratch).first(2 * batch.count),
                           zero = masked.first(batch.count), one = masked.last(batch.count);
    net::recv_words(session_.channel(), kMasked, masked);
    for (std::size_t i = 0; i < batch.count; ++i)
      m[batch.first + i] ^= zero[i] ^ times(zero[i] ^ one[i], choices[batch.first + i]);
  });
}

}  // namespace tinyot::offline
