// `tinyot store ...`: shows what is in a store, verifies it, and carries out its owner's decisions.
#pragma once

#include "tools/cli/command_line.h"

namespace tinyot::tools {

int store_info(const Arguments& arguments);
int store_verify(const Arguments& arguments);
int store_retire(const Arguments& arguments);
int store_merge(const Arguments& arguments);
int store_adopt(const Arguments& arguments);

// What protects the keys of a revoked store that are not overwritten yet.
std::string keys_left_text();

}  // namespace tinyot::tools
