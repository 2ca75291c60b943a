// What the commands report that set up a party: `tinyot keygen`, and `tinyot serve --check`.
#pragma once

#include <filesystem>
#include <string>

#include "engine/key_file.h"
#include "service/start_check.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

void print(Format format, const net::Identity& identity, const std::filesystem::path& file);
// Of a key whose certificate has been renewed.
void print_renewed(Format format, const net::Identity& identity, const std::filesystem::path& file);
void print(Format format, const std::string& file, const service::StartCheck& check);

}  // namespace tinyot::tools
