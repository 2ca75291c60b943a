// What `tinyot selftest` reports.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/selftest/adversary/campaign.h"
#include "tools/selftest/adversary/revocation.h"

namespace tinyot::tools {

// Prints the outcomes of the attacks. Returns the exit status: 1 if an outcome contradicts the
// table, or if a guess survives more or less often than its probability allows.
int report_campaign(CampaignResult result, const std::vector<Revocation>& revocations,
                    std::uint64_t seed, double wall_s, Format format);

}  // namespace tinyot::tools
