#include "service/names.h"

namespace tinyot::service {
namespace {

// In the order of the enums.
constexpr std::array<std::string_view, 6> kStateNames = {"waiting", "queued", "running",
                                                         "done",    "failed", "cancelled"};
constexpr std::array<std::string_view, kJobOutcomes.size()> kOutcomeNames = {
    "done",         "cancelled",           "failed_network", "failed_cheated",
    "failed_store", "failed_disagreement", "failed_internal"};
constexpr std::array<std::string_view, kRefusedBy.size()> kRefusedByNames = {"this_party", "peer"};
constexpr std::array<std::string_view, kSessionEnds.size()> kSessionEndNames = {
    "revoked", "retired", "replaced"};
constexpr std::array<std::string_view, kTrafficOf.size()> kTrafficNames = {"evaluation",
                                                                           "preparation", "refill"};
constexpr std::array<std::string_view, kRefillOutcomes.size()> kRefillOutcomeNames = {
    "done", "failed", "cancelled"};

constexpr std::array<std::string_view, kPreparedOutcomes.size()> kPreparedOutcomeNames = {
    "made", "used", "wasted", "failed"};

template <class Enum, std::size_t count>
std::string name_in(const std::array<std::string_view, count>& names, Enum value) {
  return std::string(names.at(static_cast<std::size_t>(value)));
}

}  // namespace

std::string name_of(JobState state) { return name_in(kStateNames, state); }
std::string name_of(JobOutcome outcome) { return name_in(kOutcomeNames, outcome); }
std::string name_of(RefusedBy by) { return name_in(kRefusedByNames, by); }
std::string name_of(SessionEnd end) { return name_in(kSessionEndNames, end); }
std::string name_of(TrafficOf use) { return name_in(kTrafficNames, use); }
std::string name_of(RefillOutcome outcome) { return name_in(kRefillOutcomeNames, outcome); }

std::string name_of(PreparedOutcome outcome) { return name_in(kPreparedOutcomeNames, outcome); }

std::string name_of(Party party) { return {letter(party)}; }

Party party_named(const std::string& name) {
  for (const Party party : {Party::A, Party::B})
    if (name == name_of(party)) return party;
  throw UsageError("a party is A or B, not '" + name + "'");
}

Party party_of(config::Party party) { return party == config::A ? Party::A : Party::B; }

v1::State state_of(JobState state) {
  switch (state) {
    case JobState::WaitingForPeer:
      return v1::WAITING_FOR_PEER;
    case JobState::Queued:
      return v1::QUEUED;
    case JobState::Running:
      return v1::RUNNING;
    case JobState::Done:
      return v1::DONE;
    case JobState::Failed:
      return v1::FAILED;
    case JobState::Cancelled:
      break;
  }
  return v1::CANCELLED;
}

v1::ErrorClass class_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::Usage:
      return v1::USAGE;
    case ErrorClass::Network:
      return v1::NETWORK;
    case ErrorClass::PeerCheated:
      return v1::PEER_CHEATED;
    case ErrorClass::Store:
      return v1::STORE;
    case ErrorClass::Disagreement:
      return v1::DISAGREEMENT;
    case ErrorClass::Other:
    case ErrorClass::Cancelled:
      break;
  }
  return v1::INTERNAL;
}

ErrorClass class_from(v1::ErrorClass error_class) {
  for (const ErrorClass known : {ErrorClass::Usage, ErrorClass::Network, ErrorClass::PeerCheated,
                                 ErrorClass::Store, ErrorClass::Disagreement})
    if (class_of(known) == error_class) return known;
  return ErrorClass::Other;
}

JobOutcome failure_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::Network:
      return JobOutcome::FailedNetwork;
    case ErrorClass::PeerCheated:
      return JobOutcome::FailedCheated;
    case ErrorClass::Store:
      return JobOutcome::FailedStore;
    case ErrorClass::Disagreement:
      return JobOutcome::FailedDisagreement;
    case ErrorClass::Other:
    case ErrorClass::Usage:
    case ErrorClass::Cancelled:
      break;
  }
  return JobOutcome::FailedInternal;
}

}  // namespace tinyot::service
