// Why a request for a key has failed, besides what custody says (custody::KeyError).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tinyot::service {

enum class KeyFailure : std::uint8_t {
  Refused,      // by a policy or an officer, of either party
  Full,         // too many requests
  Unavailable,  // no link, or the connection was lost: it may be repeated
  TimedOut,
  Cheated,
  NotSigned,  // the peer has not signed what this party has
};
class KeyFailed : public std::runtime_error {
 public:
  KeyFailed(KeyFailure why, const std::string& message) : std::runtime_error(message), why_(why) {}
  KeyFailure why() const { return why_; }

 private:
  KeyFailure why_;
};

}  // namespace tinyot::service
