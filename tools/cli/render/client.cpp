#include "tools/cli/render/client.h"

#include <cmath>

namespace tinyot::tools {
namespace {

std::string counted(std::uint64_t count, const std::string& what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

std::string_view name_of(RemoteJob::State state) {
  switch (state) {
    case RemoteJob::State::WaitingForPeer:
      return "waiting_for_peer";
    case RemoteJob::State::Queued:
      return "queued";
    case RemoteJob::State::Running:
      return "running";
    case RemoteJob::State::Done:
      return "done";
    case RemoteJob::State::Failed:
      return "failed";
    case RemoteJob::State::Cancelled:
      return "cancelled";
    case RemoteJob::State::Unknown:
      break;
  }
  return "unknown";
}

Json fields_of(const RemoteJob& job) {
  Json fields = {{"job", job.id},      {"peer", job.peer}, {"circuit", job.circuit},
                 {"lanes", job.lanes}, {"ands", job.ands}, {"state", name_of(job.state)}};
  if (job.failure) {
    const Failure failure{job.failure->status, job.failure->message, {}, {}};
    fields["failure"] = failure_report(failure)["error"];
  }
  if (!job.session.empty()) fields["session"] = job.session;
  fields["submitted_at_s"] = job.submitted_at_s;
  if (job.state == RemoteJob::State::Done) fields["evaluation_s"] = job.evaluation_s;
  if (job.state >= RemoteJob::State::Done) fields["total_s"] = job.total_s;
  return fields;
}

std::string outcome_text(const RemoteJob& job) {
  switch (job.state) {
    case RemoteJob::State::WaitingForPeer:
      return "waiting for the peer to submit it";
    case RemoteJob::State::Queued:
      return "queued: both parties have submitted it";
    case RemoteJob::State::Running:
      return "running";
    case RemoteJob::State::Done:
      return "done in " + seconds_text(job.evaluation_s) + ", " + seconds_text(job.total_s) +
             " after its submission";
    case RemoteJob::State::Failed:
      return "failed" + (job.failure ? ": " + job.failure->message : "");
    case RemoteJob::State::Cancelled:
      return "cancelled";
    case RemoteJob::State::Unknown:
      break;
  }
  return "in an unknown state";
}

std::string text_of(const RemoteJob& job) {
  return "job " + job.id + " with " + job.peer + ": " + job.circuit + ", " +
         (job.lanes == 1 ? "" : counted(job.lanes, "lane") + ", ") + counted(job.ands, "AND") +
         ", " + outcome_text(job) + "\n";
}

std::string stock_text(const Json& sessions) {
  std::string text;
  for (const Json& session : sessions) {
    text += session["peer"].get<std::string>() + ": session " +
            session["session"].get<std::string>() + (session["is_current"] ? " (current)" : "") +
            ", " + counted(session["ands_left"], "AND") + " and " +
            counted(session["inputs_left"], "input") + " of each party left, refilled below " +
            grouped(session["low_ands"]) + " up to " + grouped(session["high_ands"]) + " ANDs" +
            (session["is_refilling"] ? ", refilling" : "") + ", " +
            bytes_text(session["store_bytes"].get<double>()) + ", " +
            std::to_string(std::lround(100 * session["budget_spent"].get<double>())) +
            " % of its budget spent\n";
  }
  return text.empty() ? "no sessions\n" : text;
}

std::string peers_text(const Json& peers) {
  std::string text;
  for (const Json& peer : peers) {
    text += peer["name"].get<std::string>() + ": this is party " +
            peer["party"].get<std::string>() +
            (peer["is_connected"] ? ", connected, " : ", not connected, ") +
            counted(peer["jobs_waiting"], "job") + " waiting, " + grouped(peer["jobs_running"]) +
            " running";
    if (peer["sessions_revoked"] > 0)
      text += ", " + counted(peer["sessions_revoked"], "session") + " revoked";
    if (const std::string reason = peer["refills_stopped"]; !reason.empty())
      text += "; no refills: " + reason;
    if (const std::string error = peer["last_error"]; !error.empty())
      text += "; last error: " + error;
    text += "\n";
  }
  return text;
}

}  // namespace tinyot::tools
