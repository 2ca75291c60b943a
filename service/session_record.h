// What a peer has cost so far, kept on disk so that neither a restart nor a new session makes it
// forgotten: how many sessions began within a day, and the sum of the risks of those that have
// ended. A peer that ends sessions on purpose would otherwise get a fresh budget each time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/risk.h"

namespace tinyot::service {

// Why a session begins: this party has none that it could use, or only the peer says so.
enum class BeginsBy : std::uint8_t { OwnAccount, PeersClaim };

// Thread-safe. What changes is durable on return. Fails: StoreError.
class SessionRecord {
 public:
  struct Limits {
    std::uint32_t sessions_per_day = 8;  // of these, at most half by the peer's claim
    std::uint32_t sigma = 40;            // the risks of all sessions stay within 2^-(sigma - 4)
  };
  using Clock = std::chrono::system_clock;

  // Reads `file`, if there is one. Fails: StoreError if it cannot be read.
  SessionRecord(std::filesystem::path file, Limits limits);

  std::uint64_t last_number() const;
  std::uint64_t first_active_session() const;
  void set_first_active_session(std::uint64_t number);

  // Why no session may begin; empty if one may.
  std::optional<std::string> refusal_to_begin(BeginsBy by, Clock::time_point now) const;
  // Its number has not been used. Fails: Disagreement if it has, or if no session may begin.
  void begin(std::uint64_t number, BeginsBy by, Clock::time_point now);
  // A session that has been found without being recorded.
  void add_begun(std::uint64_t number, BeginsBy by, Clock::time_point now);

  // The risk of a session that has ended counts once, also if its directory is removed later.
  void add_ended(std::uint64_t number, const Risk& risk);
  bool has_ended(std::uint64_t number) const;
  // The directory of the session is gone.
  void removed(std::uint64_t number);
  // Of all sessions that have ended, and of `open` ones.
  Risk total(const Risk& open) const;
  // Why no unit may be begun; empty if one may.
  std::optional<std::string> refusal_to_refill(const Risk& open) const;

  // The operator accepts what has been risked so far, and the sessions of the last day.
  void resume(const Risk& open);

 private:
  struct State {
    struct Beginning {
      Clock::time_point at;
      BeginsBy by;
    };
    std::uint64_t last_number = 0, first_active_session = 0;
    std::vector<Beginning> begun;
    std::vector<std::uint64_t> ended_numbers;  // of which the directory is still there
    Risk ended, accepted;
  };
  State read() const;
  // Both under the lock.
  std::optional<std::string> refusal(BeginsBy by, Clock::time_point now) const;
  void add(std::uint64_t number, BeginsBy by, Clock::time_point now);
  void write(State next);

  const std::filesystem::path file_;
  const Limits limits_;
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace tinyot::service
