// Both parties on this machine, as two processes over loopback: for trying and measuring.
#pragma once

#include <functional>

#include "tools/preprocess.h"

namespace tinyot::tools {

// What is between the two parties. TLS is with keys that the process makes for itself, and that end
// with it.
enum class Channels { Plain, Tls };
std::string_view name_of(Channels channels);  // as --tls has it
struct LocalLink {
  LocalLink(const net::TcpTimeouts& link_timeouts, Channels link_channels = Channels::Plain)
      : timeouts(link_timeouts), channels(link_channels) {}
  net::TcpTimeouts timeouts;
  Channels channels;
};
// Timeouts, and --tls no, yes or both.
void add_link_options(Options& options);
std::vector<LocalLink> links_from(const CommandLine& line);

// A party's job, given who it is and where it finds its peer.
using PartyJob = std::function<JobResult(Party, const engine::Endpoint&)>;

// Runs the job as A and as B, each in a child process, and joins their reports: {"A": ..., "B":
// ..., "wall_s": ...}. The exit status is 0 if both are 0, otherwise that of the party whose end
// explains the other's; if that party failed, its failure is the report. Errors are printed to
// stderr by the children, each line with its party's letter. Call it before the process has
// threads.
JobResult run_pair(const PartyJob& job, const LocalLink& link);

}  // namespace tinyot::tools
