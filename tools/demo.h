// `tinyot demo`: both parties on this machine: preprocess, store, oblivious AES on the FIPS-197 vector and on 27 blocks.
#pragma once

#include "tools/command_line.h"

namespace tinyot {

int demo_command(const Arguments& arguments);

}  // namespace tinyot
