// `tinyot store ...`: what is in a store, whether it is sound, and what its owner decides about it.
#pragma once

#include "tools/command_line.h"

namespace tinyot::tools {

int store_command(const Arguments& arguments);

// One each.
int store_info(const Arguments& arguments);
int store_verify(const Arguments& arguments);
int store_retire(const Arguments& arguments);
int store_merge(const Arguments& arguments);
int store_adopt(const Arguments& arguments);

// What protects the keys of a dead store of which some are left.
std::string keys_left_text();

}  // namespace tinyot::tools
