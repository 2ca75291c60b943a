// What `tinyot store` reports.
#pragma once

#include <filesystem>
#include <optional>

#include "tinyot/store.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void print(Format format, const StoreInfo& info);
void print(Format format, const StoreCheck& check, double wall_s);
// `before`: what it had, if it could be opened.
void print(Format format, const std::filesystem::path& store,
           const std::optional<StoreInfo>& before, const RetiredStore& retired);
// A store that was adopted.
void print(Format format, const std::filesystem::path& store, StoreState state);
void print(Format format, const std::filesystem::path& out, const MergedStore& merged,
           double wall_s);

}  // namespace tinyot::tools
