// H over the entries of a garbled run: its index is that of the entry, and its key changes with
// each run of the connection, so that no tweak returns (doc/protocol.md, section 16.3).
#pragma once

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "crypto/tweak_hash.h"

namespace tinyot::online {

class RowHash {
 public:
  // `run`: a counter of the session that no other garbled run has, below 2^32.
  RowHash(const SessionId& session, std::uint64_t run) : session_(session), run_(run) {
    ENSURE(run < std::uint64_t{1} << 32);
  }

  // out[i] = H of entry first + i; each entry has one input of a use, and one that is different
  // from it by Delta^B.
  void operator()(crypto::HashUse use, std::uint64_t first, std::span<const Block> in,
                  std::span<Block> out) {
    while (!in.empty()) {
      const std::uint64_t batch = first / crypto::TweakHash::kObjectsMax,
                          at = first % crypto::TweakHash::kObjectsMax;
      const std::size_t count =
          std::min<std::uint64_t>(in.size(), crypto::TweakHash::kObjectsMax - at);
      if (!hash_ || batch != batch_) {
        hash_.emplace(session_, crypto::Domain{"garbled rows", 'B', (run_ << 32) + batch});
        batch_ = batch;
      }
      (*hash_)(use, at, in.first(count), out.first(count));
      in = in.subspan(count);
      out = out.subspan(count);
      first += count;
    }
  }

 private:
  SessionId session_;
  std::uint64_t run_;
  std::uint64_t batch_ = 0;  // of the key
  std::optional<crypto::TweakHash> hash_;
};

}  // namespace tinyot::online
