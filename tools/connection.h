// A party's end of a connection from the first byte to the end of a session, and what an error means for the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "checks/session.h"
#include "storage/store.h"
#include "tools/command_line.h"

namespace tinyot {

// Listens or connects, and frames messages.
std::unique_ptr<Channel> open_channel(const Endpoint& endpoint);

// Runs `work` inside an established session. If a check fails, or the peer says that one of its checks did, the session is
// dead: the peer is told, and the store's material is never served again. Errors go on to the caller.
void within_session(Store& store, Channel& channel, const std::function<void()>& work);

SessionId session_id_of(const Manifest& manifest);

}  // namespace tinyot
