// `tinyot store ...`: shows what is in a store, verifies it, and carries out its owner's decisions.
#include "tinyot/store.h"

#include <chrono>

#include "base/error.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/failure.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/store.h"
#include "tools/cli/store_options.h"

namespace tinyot::tools {
namespace {

struct StoreLine {
  std::filesystem::path directory;
  std::optional<StoreKey> store_key;
  CommonOptions common;
};

CommandLine store_line(const std::string& verb, const std::string& usage,
                       const std::string& example) {
  CommandLine line("store " + verb, usage, "tinyot store " + verb + " " + example);
  add_store_options(line.options());
  line.positional("store", 1);
  line.require("store");
  return line;
}

std::optional<StoreLine> parsed(const std::string& verb, const Arguments& arguments,
                                const std::string& example = "store-a") {
  CommandLine line = store_line(verb, "DIR [--store-key @FILE]", example);
  if (!line.parse(arguments)) return std::nullopt;
  return StoreLine{line.text("store"), store_key_from(line), line.common()};
}

// Empty if the store cannot be opened.
std::optional<StoreInfo> info_of(const StoreLine& line) {
  try {
    return tinyot::store_info(line.directory, line.store_key);
  } catch (const StoreError&) {
    return std::nullopt;
  }
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

BytesObserver shown_by(Progress& progress, const std::string& phase) {
  return [&progress, phase](std::uint64_t done, std::uint64_t total) {
    progress.observe(phase, done, total);
  };
}

}  // namespace

int store_info(const Arguments& arguments) {
  const auto line = parsed("info", arguments, "store-a --format json");
  if (!line) return 0;
  print(line->common.format, tinyot::store_info(line->directory, line->store_key));
  return 0;
}

int store_verify(const Arguments& arguments) {
  CommandLine line =
      store_line("verify", "DIR [--store-key @FILE] [--listen HOST:PORT | --connect HOST:PORT]",
                 "store-a --listen 127.0.0.1:7766");
  add_endpoint_options(line.options());
  if (!line.parse(arguments)) return 0;
  std::optional<Endpoint> peer;
  if (line.has("listen") || line.has("connect")) peer = endpoint_from(line);
  const auto begin = Clock::now();
  Progress progress("bytes", line.common().quiet);
  const StoreCheck check =
      verify_store(line.text("store"), store_key_from(line), peer, shown_by(progress, "verify"));
  progress.end();
  print(line.common().format, check, seconds_since(begin));
  return check.is_sound() ? 0 : static_cast<int>(ExitStatus::Store);
}

int store_retire(const Arguments& arguments) {
  const auto line = parsed("retire", arguments);
  if (!line) return 0;
  const std::optional<StoreInfo> before = info_of(*line);
  print(line->common.format, line->directory, before,
        retire_store(line->directory, line->store_key));
  return 0;
}

int store_adopt(const Arguments& arguments) {
  const auto line = parsed("adopt", arguments);
  if (!line) return 0;
  print(line->common.format, line->directory, adopt_store(line->directory, line->store_key));
  return 0;
}

int store_merge(const Arguments& arguments) {
  CommandLine line("store merge", "OUT SHARD... [--store-key @FILE]",
                   "tinyot store merge whole shards/1 shards/2 shards/3");
  line.options().multi_value("store", "the store to make, and the shards of the session");
  add_store_key_option(line.options());
  line.positional("store", -1);
  if (!line.parse(arguments)) return 0;
  const std::vector<std::string> given = line.list("store");
  if (given.size() < 2)
    throw UsageError("tinyot store merge needs the store to make and the shards; see --help");
  const std::vector<std::filesystem::path> shards(given.begin() + 1, given.end());
  const auto begin = Clock::now();
  Progress progress("bytes", line.common().quiet);
  const MergedStore merged =
      merge_stores(given.front(), shards, store_key_from(line), shown_by(progress, "merge"));
  progress.end();
  print(line.common().format, given.front(), merged, seconds_since(begin));
  return 0;
}

}  // namespace tinyot::tools
