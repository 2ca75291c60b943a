#include "tools/cli/preprocess.h"

#include "base/error.h"
#include "engine/memory.h"
#include "engine/plan.h"
#include "tools/cli/log.h"
#include "tools/cli/metrics_option.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/preprocess.h"
#include "tools/cli/render/text.h"
#include "tools/cli/signals.h"

namespace tinyot::tools {
namespace {

// A progress bar, and signals that end the job after the current unit. Before the peer is
// connected, signals end the process.
class Terminal final : public Observer {
 public:
  explicit Terminal(bool quiet) : quiet_(quiet), progress_("ANDs", quiet) {}

  std::stop_token cancel() const { return cancel_.get_token(); }

  void connected() override {
    signals_.emplace(cancel_);
    if (!quiet_) announce_.emplace(cancel_.get_token(), announce_stop);
  }
  void began(std::uint64_t ands, std::uint64_t ands_before) override {
    progress_.begin(ands, ands_before);
  }
  void advanced(std::uint64_t unit, std::uint64_t ands, std::string_view phase, std::uint64_t done,
                std::uint64_t total) override {
    progress_.observe(unit, ands, phase, done, total);
  }

 private:
  static void announce_stop() {
    log_line(LogLevel::Info,
             "stopping after the current unit, together with the peer; a second signal ends the "
             "process at once, which counts as a broken attempt");
  }

  bool quiet_;
  std::stop_source cancel_;
  std::optional<std::stop_callback<void (*)()>> announce_;
  std::optional<StopSignals> signals_;
  Progress progress_;
};

}  // namespace

void check_memory(const PreprocessRequest& job, std::uint64_t parties,
                  std::uint64_t available_bytes) {
  const auto shortage = engine::memory_shortage(job, parties, available_bytes);
  if (!shortage) return;
  throw UsageError(
      "a party needs " + bytes_text(shortage->needed_bytes) + " of memory with --unit " +
      std::to_string(shortage->unit) + " and --threads " + std::to_string(shortage->threads) +
      ", but " + bytes_text(available_bytes) + " are free here" +
      (parties > 1 ? " for " + std::to_string(parties) + " parties" : "") +
      (shortage->fits ? ": --unit " + std::to_string(shortage->fits->unit) + " --threads " +
                            std::to_string(shortage->fits->threads) + " would fit"
                      : ": no unit fits, free some memory"));
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
  const CommonOptions common = line.common();
  PreprocessRequest job = stored_request_from(line, line.text("store"));
  job.party = parse_party("party", line.text("party"));
  job.endpoint = endpoint_from(line);
  return with_metrics(line, {"preprocess", {job.store}, job.store_key}, [&]() -> WorkDone {
    check_memory(engine::resolve(job), 1, engine::available_memory_bytes());
    Terminal terminal(common.quiet);
    const PreprocessResult result = tinyot::preprocess(job, &terminal, terminal.cancel());
    print(common.format, job.party, result);
    const int signal = StopSignals::received();
    return {signal == 0 ? 0 : 128 + signal, result.ands, result.phases};
  });
}

}  // namespace tinyot::tools
