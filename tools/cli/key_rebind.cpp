// `tinyot key rebind`: after the TLS key of a party has changed, the keys are bound to the new one,
// by both parties, and refreshed once both have done it.
#include "custody/key.h"
#include "tools/cli/failure.h"
#include "tools/cli/key_options.h"
#include "tools/cli/render/key.h"

namespace tinyot::tools {
namespace {

using custody::KeyState;
using service::RemoteKey;

// Why it has not been refreshed; empty if it has. A key that has been rotated may be active at one
// party and deactivated at the other one.
std::string refreshed(service::KeysConnection& keys, const RemoteKey& key) {
  if (key.peer_state.empty()) return key.peer + " is not connected";
  if (key.peer_state != name_of(KeyState::Active) &&
      key.peer_state != name_of(KeyState::Deactivated))
    return "it is " + key.peer_state + " at " + key.peer;
  try {
    (void)keys.refresh({key.peer, key.id});
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

int key_rebind(const Arguments& arguments) {
  CommandLine line = key_line("rebind", "[KEY] [--peer NAME]", "--peer bank");
  line.options().value("key", "id or label of a key; default: all with the peer");
  line.positional("key", 1);
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  service::KeysConnection keys = keys_from(line);
  std::vector<ReboundKey> rebound;
  for (const RemoteKey& key :
       keys.rebind({peer_name_from(line), line.has("key") ? line.text("key") : ""}))
    rebound.push_back({key, refreshed(keys, key)});
  print(line.common().format, rebound);
  return 0;
}

}  // namespace tinyot::tools
