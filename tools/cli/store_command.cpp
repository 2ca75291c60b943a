#include "tools/cli/store_command.h"

#include <chrono>

#include "base/error.h"
#include "tinyot/store.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/report.h"
#include "tools/cli/store_options.h"

namespace tinyot::tools {
namespace {

struct StoreLine {
  std::filesystem::path directory;
  std::optional<StoreKey> store_key;
  CommonOptions common;
};

std::optional<StoreLine> store_line(const std::string& command, const Arguments& arguments) {
  CommandLine line("store " + command, "DIR [--store-key @FILE]",
                   "tinyot store " + command + " store-a");
  add_store_options(line.options());
  line.positional("store", 1);
  line.require("store");
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

}  // namespace

int store_retire(const Arguments& arguments) {
  const auto line = store_line("retire", arguments);
  if (!line) return 0;
  const std::optional<StoreInfo> before = info_of(*line);
  const RetiredStore retired = retire_store(line->directory, line->store_key);
  std::string text = "the session has ended: the keys of " + line->directory.string() +
                     " are erased, and its directory can be removed\n";
  if (before)
    text += "it had " + grouped(before->ands_left) + " unused ANDs and " +
            grouped(before->inputs_left) + " unused inputs of each party\n";
  for (const std::string& left : retired.not_done) text += "not done: " + left + "\n";
  print_report(line->common.format,
               {{"store", line->directory.string()},
                {"state", "revoked"},
                {"revocation_reason", retired.reason},
                {"not_done", retired.not_done}},
               text);
  return 0;
}

int store_adopt(const Arguments& arguments) {
  const auto line = store_line("adopt", arguments);
  if (!line) return 0;
  const StoreState state = adopt_store(line->directory, line->store_key);
  print_report(line->common.format,
               {{"store", line->directory.string()}, {"state", std::string(name_of(state))}},
               line->directory.string() +
                   " is the original from now on; do not use the store that it was copied from\n");
  return 0;
}

int store_merge(const Arguments& arguments) {
  CommandLine line("store merge", "OUT SHARD... [--store-key @FILE]",
                   "tinyot store merge whole shards/1 shards/2 shards/3");
  line.options().several("store", "the store to make, and the shards of the session");
  add_store_key_option(line.options());
  line.positional("store", -1);
  if (!line.parse(arguments)) return 0;
  const std::vector<std::string> given = line.list("store");
  if (given.size() < 2)
    throw UsageError("tinyot store merge needs the store to make and the shards; see --help");
  const std::vector<std::filesystem::path> shards(given.begin() + 1, given.end());
  const auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  const MergedStore merged = merge_stores(given.front(), shards, store_key_from(line),
                                          [&](std::uint64_t done, std::uint64_t total) {
                                            if (!progress)
                                              progress.emplace("bytes", total, line.common().quiet);
                                            progress->observe("merge", done);
                                          });
  progress.reset();
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (merged.was_done) {
    print_report(
        line.common().format, {{"store", given.front()}, {"merged_already", true}},
        "the shards have already been merged into " + given.front() + "; nothing has changed\n");
    return 0;
  }
  print_report(line.common().format,
               {{"store", given.front()},
                {"batches", merged.batches},
                {"bytes", merged.bytes},
                {"wall_s", wall_s}},
               grouped(merged.batches) + " batches, " +
                   bytes_text(static_cast<double>(merged.bytes)) + ", are now in " + given.front() +
                   " (" + seconds_text(wall_s) + "); the shards are revoked\n");
  return 0;
}

}  // namespace tinyot::tools
