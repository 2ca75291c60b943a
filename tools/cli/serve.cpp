// `tinyot serve`: runs the daemon of a party.
#include "service/daemon.h"
#include "service/start_check.h"
#include "tools/cli/command_line.h"
#include "tools/cli/log.h"
#include "tools/cli/render/party.h"
#include "tools/cli/render/report.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

void check(const std::string& file, Format format) {
  service::StartCheck check = service::check_start(file);
  if (check.missing) check.warnings.push_back(*check.missing);
  for (const std::string& warning : check.warnings) log_line(LogLevel::Warning, warning);
  print(format, file, check);
}

}  // namespace

int serve_command(const Arguments& arguments) {
  CommandLine line("serve", "--config FILE [--check]",
                   "tinyot serve --config /etc/tinyot/tinyot.conf");
  line.options()
      .value("config", "FILE of the daemon's configuration: its peers, their stock and policy")
      .flag("check", "check all that a start needs but free addresses, and end");
  line.require("config");
  if (!line.parse(arguments)) return 0;
  if (line.has("check")) {
    check(line.text("config"), line.common().format);
    return 0;
  }
  std::stop_source cancel;
  const StopSignals signals(cancel);
  const ReloadSignal reload;
  service::serve(line.text("config"), version_text(), cancel.get_token(), ReloadSignal::take);
  return 0;
}

}  // namespace tinyot::tools
