// The names of states, outcomes, error classes and parties, once for the interface
// (tinyot/v1/party.proto), the metrics (doc/metrics.md), the log and the configuration.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "config.pb.h"
#include "service/jobs.h"
#include "tinyot/party.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::service {

// "A" or "B".
std::string name_of(Party party);
// Fails: UsageError for any other text.
Party party_named(const std::string& name);
Party party_of(config::Party party);

std::string name_of(JobState state);
v1::State state_of(JobState state);
v1::ErrorClass class_of(ErrorClass error_class);
ErrorClass class_from(v1::ErrorClass error_class);

// How a job has ended.
enum class JobOutcome : std::uint8_t {
  Done,
  Cancelled,
  FailedNetwork,
  FailedCheated,
  FailedStore,
  FailedDisagreement,
  FailedInternal
};
inline constexpr std::array kJobOutcomes = {
    JobOutcome::Done,          JobOutcome::Cancelled,   JobOutcome::FailedNetwork,
    JobOutcome::FailedCheated, JobOutcome::FailedStore, JobOutcome::FailedDisagreement,
    JobOutcome::FailedInternal};
std::string name_of(JobOutcome outcome);
JobOutcome failure_of(ErrorClass error_class);

// By whom a job is refused.
enum class RefusedBy : std::uint8_t { ThisParty, Peer };
inline constexpr std::array kRefusedBy = {RefusedBy::ThisParty, RefusedBy::Peer};
std::string name_of(RefusedBy by);

// Why a session has ended: a check has failed; an operator has retired it; a newer one is used.
enum class SessionEnd : std::uint8_t { Revoked, Retired, Replaced };
inline constexpr std::array kSessionEnds = {SessionEnd::Revoked, SessionEnd::Retired,
                                            SessionEnd::Replaced};
std::string name_of(SessionEnd end);

// What bytes are sent and received for.
enum class TrafficOf : std::uint8_t { Evaluation, Preparation, Refill };
inline constexpr std::array kTrafficOf = {TrafficOf::Evaluation, TrafficOf::Preparation,
                                          TrafficOf::Refill};
std::string name_of(TrafficOf use);

// Cancelled: by this party, which stops or has retired the session.
enum class RefillOutcome : std::uint8_t { Done, Failed, Cancelled };
inline constexpr std::array kRefillOutcomes = {RefillOutcome::Done, RefillOutcome::Failed,
                                               RefillOutcome::Cancelled};
std::string name_of(RefillOutcome outcome);

// What becomes of a run that is prepared: it waits for a job, a job takes it, it is lost with its
// connection, or it has not been made and has taken nothing.
enum class PreparedOutcome : std::uint8_t { Made, Used, Wasted, Failed };
inline constexpr std::array kPreparedOutcomes = {PreparedOutcome::Made, PreparedOutcome::Used,
                                                 PreparedOutcome::Wasted, PreparedOutcome::Failed};
std::string name_of(PreparedOutcome outcome);

}  // namespace tinyot::service
