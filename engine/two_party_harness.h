// Both parties on threads of this process, over loopback: for measurements of short jobs.
#pragma once

#include <array>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/cause.h"
#include "engine/endpoint.h"
#include "net/tcp.h"
#include "tinyot/preprocess.h"

namespace tinyot::engine {

// Calls work(party, endpoint) for both. Returns the results of A and of B. Fails: as the work; if
// both fail, with the failure that explains the other.
template <class Work>
auto as_both_parties(const net::TcpTimeouts& timeouts, Work work) {
  using Result = decltype(work(Party::A, Endpoint()));
  const net::LoopbackPort port;
  std::array<std::optional<Result>, 2> results;
  std::array<std::exception_ptr, 2> failures;
  const auto run = [&](Party party) {
    const auto index = static_cast<std::size_t>(party);
    try {
      results[index] = work(party, endpoint_with({.listen = party == Party::A,
                                                  .address = port.address(),
                                                  .timeouts = timeouts}));
    } catch (...) {
      failures[index] = std::current_exception();
    }
  };
  std::thread of_b(run, Party::B);
  run(Party::A);
  of_b.join();
  if (const auto& failure = root_cause(failures[0], failures[1])) std::rethrow_exception(failure);
  return std::array<Result, 2>{std::move(*results[0]), std::move(*results[1])};
}

// The result that took longer.
template <class Result>
Result slower_of(std::array<Result, 2> results) {
  return std::move(results[results[0].wall_s > results[1].wall_s ? 0 : 1]);
}

// Both parties preprocess to stores in a directory. Returns the result of the slower one.
std::filesystem::path store_in(const std::filesystem::path& directory, Party party);
PreprocessResult preprocess_as_both(const PreprocessRequest& request,
                                    const std::filesystem::path& directory,
                                    const net::TcpTimeouts& timeouts);

}  // namespace tinyot::engine
