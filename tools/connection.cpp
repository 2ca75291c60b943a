#include "tools/connection.h"

#include <cstring>

#include "base/error.h"

namespace tinyot {

std::unique_ptr<Channel> open_channel(const Endpoint& endpoint) {
  return make_framed_channel(endpoint.listen ? tcp_listen(endpoint.address, endpoint.timeouts) : tcp_connect(endpoint.address, endpoint.timeouts));
}

void within_session(Store& store, Channel& channel, const std::function<void()>& work) {
  const auto bury = [&](const std::string& reason) {
    try {
      store.mark_dead(reason);
    } catch (const StoreError&) {
      // The global key is gone even where the reason could not be written; the check's own failure is what to report.
    }
  };
  try {
    work();
  } catch (const PeerCheated& error) {
    channel.send_abort();
    bury("the peer cheated, check: " + error.check());
    throw;
  } catch (const PeerAborted&) {
    bury("the peer aborted the session");
    throw;
  }
}

SessionId session_id_of(const Manifest& manifest) {
  SessionId id;
  static_assert(sizeof id.bytes == sizeof manifest.session_id);
  std::memcpy(id.bytes.data(), manifest.session_id.data(), sizeof id.bytes);
  return id;
}

}  // namespace tinyot
