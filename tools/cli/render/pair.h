// What two commands have reported, as one report.
#pragma once

#include <string>

#include "tools/cli/pair.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

// Of commands with this --format: the reports of both in one object, or their texts; the failure
// that explains the end of both, if there is one. Returns the exit status.
int print(Format format, const PairEnded& ended);

// {"A": ..., "B": ..., "wall_s": ...}; null for a party that failed.
Json joined(const PairEnded& ended);

// What a report of `tinyot run` in JSON says of an encryption.
struct EncryptionReport {
  std::string json, ciphertext;
  double wall_s = 0, gates_per_s = 0;
};
EncryptionReport encryption_from(const std::string& report);

struct DemoReport {
  const PairEnded& made;  // in the format of the demo
  EncryptionReport fips, many;
};
void print(Format format, const DemoReport& report);

}  // namespace tinyot::tools
