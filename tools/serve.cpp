#include "tools/serve.h"

#include "service/daemon.h"
#include "tools/report.h"
#include "tools/signals.h"

namespace tinyot::tools {

int serve_command(const Arguments& arguments) {
  CommandLine line("serve", "--config FILE [--check]",
                   "tinyot serve --config /etc/tinyot/tinyot.conf");
  line.options()
      .value("config", "FILE of the daemon's configuration: its peers, their stock and policy")
      .flag("check", "read the configuration, the policies and the keys, and end");
  line.require("config");
  if (!line.parse(arguments)) return 0;
  if (line.has("check")) {
    service::check_configuration(line.text("config"));
    return 0;
  }
  std::stop_source cancel;
  const StopSignals signals(cancel);
  service::serve(line.text("config"), version_text(), cancel.get_token());
  return 0;
}

}  // namespace tinyot::tools
