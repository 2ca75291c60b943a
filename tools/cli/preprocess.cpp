#include "tools/cli/preprocess.h"

#include "base/error.h"
#include "engine/connection.h"
#include "engine/growth.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "tools/cli/log.h"
#include "tools/cli/metrics_option.h"
#include "tools/cli/progress.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

Json report_of(Party party, const PreprocessResult& result) {
  Json report = {{"party", std::string(1, letter(party))},
                 {"command", "preprocess"},
                 {"session", result.store.session},
                 {"ands", result.ands}};
  add_security(report, result.store.security);
  report["threads"] = result.threads;
  report["units_in_flight"] = result.units_in_flight;
  report["latency_ms"] = 1e3 * result.latency_s;
  report["complete"] = result.store.state == StoreState::Complete;
  report["ands_left"] = result.store.ands_left;
  report["inputs_left"] = result.store.inputs_left;
  report["wall_s"] = result.wall_s;
  report["ands_per_s"] = result.wall_s > 0 ? static_cast<double>(result.ands) / result.wall_s : 0;
  add_units(report, result.store.security);
  report["store_bytes"] = result.store.bytes;
  add_measurements(report, result.phases);
  return report;
}

// A progress bar, and signals that end the job after the current unit. Before the peer is
// connected, signals end the process.
class Terminal final : public Observer {
 public:
  explicit Terminal(bool quiet) : quiet_(quiet) {}

  std::stop_token cancel() const { return cancel_.get_token(); }

  void connected() override {
    signals_.emplace(cancel_);
    if (!quiet_) announce_.emplace(cancel_.get_token(), announce_stop);
  }
  void began(std::uint64_t ands, std::uint64_t ands_before) override {
    progress_.emplace("ANDs", ands, quiet_);
    progress_->skip(ands_before);
  }
  void advanced(std::uint64_t unit, std::uint64_t ands, std::string_view phase, std::uint64_t done,
                std::uint64_t total) override {
    progress_->observe(unit, ands, phase, done, total);
  }

 private:
  static void announce_stop() {
    log_line(LogLevel::Info,
             "stopping after the unit at hand, together with the peer; a second signal ends the "
             "process at once, which counts as a broken attempt");
  }

  bool quiet_;
  std::stop_source cancel_;
  std::optional<std::stop_callback<void (*)()>> announce_;
  std::optional<StopSignals> signals_;
  std::optional<Progress> progress_;
};

}  // namespace

void check_memory(const PreprocessRequest& job, std::uint64_t parties,
                  std::uint64_t available_bytes) {
  const auto shortage = engine::memory_shortage(job, parties, available_bytes);
  if (!shortage) return;
  throw UsageError("a party needs " + bytes_text(static_cast<double>(shortage->needed_bytes)) +
                   " of memory with --unit " + std::to_string(shortage->unit) + " and --threads " +
                   std::to_string(shortage->threads) + ", but " +
                   bytes_text(static_cast<double>(available_bytes)) + " are free here" +
                   (parties > 1 ? " for " + std::to_string(parties) + " parties" : "") +
                   (shortage->fits
                        ? ": --unit " + std::to_string(shortage->fits->unit) + " --threads " +
                              std::to_string(shortage->fits->threads) + " would fit"
                        : ": no unit fits, free some memory"));
}

CommandResult preprocess(const PreprocessJob& job) {
  Terminal terminal(job.quiet);
  const PreprocessResult result = tinyot::preprocess(job, &terminal, terminal.cancel());
  return {report_of(job.party, result),
          StopSignals::received() == 0 ? 0 : 128 + StopSignals::received()};
}

std::string preprocess_text(const Json& report) {
  std::uint64_t sent = 0, received = 0;
  for (const Json& phase : report["phases"]) {
    sent += phase["bytes_sent"].get<std::uint64_t>();
    received += phase["bytes_received"].get<std::uint64_t>();
  }
  const bool is_complete = report["complete"];
  const Security security = security_from(report);
  const std::string party = "party " + report["party"].get<std::string>() + ": ",
                    left = "left: " + grouped(report["ands_left"]) + " ANDs, " +
                           grouped(report["inputs_left"]) + " inputs of each party\n";
  if (is_complete && report["ands"] == 0)
    return party + "nothing to make, the store has what was asked for\n" + left;
  return party + "made " + grouped(report["ands"]) + " ANDs in " + seconds_text(report["wall_s"]) +
         " (" + grouped(static_cast<std::uint64_t>(report["ands_per_s"].get<double>())) +
         "/s), sent " + bytes_text(static_cast<double>(sent)) + ", received " +
         bytes_text(static_cast<double>(received)) + "\n" + "security: sigma " +
         std::to_string(report["sigma"].get<unsigned>()) + ", reached " +
         decimals(report["sigma_paper_bound"], 1) +
         " bits by the paper's bound (exact: " + decimals(report["sigma_exact"], 1) + "), bucket " +
         std::to_string(report["bucket"].get<unsigned>()) + ", unit " + grouped(report["unit"]) +
         ", " + profile_text(security) + "\n" + units_text(security) + left +
         "store: " + bytes_text(report["store_bytes"]) + ", peak memory " +
         bytes_text(report["peak_rss_bytes"]) +
         (is_complete
              ? "\n"
              : "; interrupted here or by the peer, continue with --resume on both sides\n");
}

int preprocess_command(const Arguments& arguments) {
  CommandLine line(
      "preprocess",
      "--party A|B (--listen | --connect) HOST:PORT --store DIR\n"
      "                         (--ands N | --add N | --until-left N | --for CIRCUIT) [options]",
      "tinyot preprocess --party A --listen 127.0.0.1:7766 --store store-a --ands 2^18");
  add_endpoint_options(line.options());
  add_store_options(line.options());
  add_preprocess_options(line.options());
  add_amount_options(line.options());
  add_metrics_option(line.options());
  line.require("party");
  line.require_one_of({"listen", "connect"});
  line.require("store");
  line.require_one_of(amount_options());
  if (!line.parse(arguments)) return 0;
  PreprocessJob job = stored_job_from(line, line.text("store"));
  job.party = party_from(line);
  job.endpoint = endpoint_from(line);
  const CommandResult result = with_metrics(line, {"preprocess", {job.store}, job.store_key}, [&] {
    check_memory(engine::planned(job), 1, engine::available_memory_bytes());
    return preprocess(job);
  });
  print_report(line.common().format, result.report, preprocess_text(result.report));
  return result.exit_status;
}

}  // namespace tinyot::tools
