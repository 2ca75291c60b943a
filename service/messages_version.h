// The version of the messages that two daemons exchange (peer.proto), which both must have.
#pragma once

namespace tinyot::service {

inline constexpr int kMessagesVersion = 6;

}  // namespace tinyot::service
