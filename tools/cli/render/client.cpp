#include "tools/cli/render/client.h"

#include <cmath>

#include "tools/cli/render/circuit.h"
#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

using service::RemoteJob;
using service::RemotePeer;
using service::RemotePrepared;
using service::RemoteSession;

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

std::string text_of(const RemoteJob& job) {
  return "job " + job.id + " with " + job.peer + ": " + job.circuit + ", " +
         (job.lanes == 1 ? "" : counted(job.lanes, "lane") + ", ") + counted(job.ands, "AND") +
         ", " + outcome_text(job) + "\n";
}

Json json_of(const RemoteSession& session) {
  return {{"peer", session.peer},
          {"session", session.session},
          {"is_current", session.is_current},
          {"ands_left", session.ands_left},
          {"inputs_left", session.inputs_left},
          {"low_ands", session.low_ands},
          {"high_ands", session.high_ands},
          {"budget_spent", session.budget_spent},
          {"store_bytes", session.store_bytes},
          {"is_refilling", session.is_refilling}};
}

std::string text_of(const RemoteSession& session) {
  return session.peer + ": session " + session.session + (session.is_current ? " (current)" : "") +
         ", " + counted(session.ands_left, "AND") + " and " +
         counted(session.inputs_left, "input") + " of each party left, refilled below " +
         grouped(session.low_ands) + " up to " + grouped(session.high_ands) + " ANDs" +
         (session.is_refilling ? ", refilling" : "") + ", " + bytes_text(session.store_bytes) +
         ", " + std::to_string(std::lround(100 * session.budget_spent)) +
         " % of its budget spent\n";
}

Json json_of(const RemotePrepared& runs) {
  return {{"circuit", runs.circuit}, {"lanes", runs.lanes},           {"in_stock", runs.in_stock},
          {"kept", runs.kept},       {"configured", runs.configured}, {"reason", runs.reason}};
}

std::string text_of(const RemotePrepared& runs) {
  return "  " + counted(runs.in_stock, "prepared run") + " of " + runs.circuit +
         (runs.lanes == 1 ? "" : " on " + counted(runs.lanes, "lane")) + ", " + grouped(runs.kept) +
         " of " + grouped(runs.configured) + " kept" +
         (runs.reason.empty() ? "" : ": " + runs.reason) + "\n";
}

Json json_of(const RemotePeer& peer) {
  Json prepared = Json::array();
  for (const RemotePrepared& runs : peer.prepared) prepared.push_back(json_of(runs));
  return {{"name", peer.name},
          {"party", peer.party},
          {"is_connected", peer.is_connected},
          {"last_error", peer.last_error},
          {"jobs_waiting", peer.jobs_waiting},
          {"jobs_running", peer.jobs_running},
          {"sessions_revoked", peer.sessions_revoked},
          {"refills_stopped", peer.refills_stopped},
          {"sessions_risk", peer.sessions_risk},
          {"jobs_held", peer.jobs_held},
          {"prepared", prepared}};
}

std::string text_of(const RemotePeer& peer) {
  std::string prepared;
  for (const RemotePrepared& runs : peer.prepared) prepared += text_of(runs);
  return peer.name + ": this is party " + peer.party +
         (peer.is_connected ? ", connected, " : ", not connected, ") +
         counted(peer.jobs_waiting, "job") + " waiting, " + grouped(peer.jobs_running) +
         " running" +
         (peer.sessions_revoked > 0 ? ", " + counted(peer.sessions_revoked, "session") + " revoked"
                                    : "") +
         (peer.jobs_held.empty() ? "" : "; jobs wait: " + peer.jobs_held) +
         (peer.refills_stopped.empty() ? "" : "; no refills: " + peer.refills_stopped) +
         (peer.last_error.empty() ? "" : "; last error: " + peer.last_error) + "\n" + prepared;
}

// Entries of a list, a line each.
template <class Entry>
void print_list(Format format, const std::string& command, const std::string& field,
                const std::vector<Entry>& entries, const std::string& none) {
  Json list = Json::array();
  std::string text;
  for (const Entry& entry : entries) {
    list.push_back(json_of(entry));
    text += text_of(entry);
  }
  print_report(format, {{"command", command}, {field, list}}, text.empty() ? none : text);
}

}  // namespace

std::string outcome_text(const RemoteJob& job) {
  switch (job.state) {
    case RemoteJob::State::WaitingForPeer:
      return "waiting for the peer to submit it";
    case RemoteJob::State::Queued:
      return "queued: both parties have submitted it";
    case RemoteJob::State::Running:
      return "running";
    case RemoteJob::State::Done:
      return "done in " + seconds_text(job.evaluation_s) +
             (job.online.empty() ? "" : " (" + job.online) +
             (job.was_prepared ? ", prepared before" : "") + (job.online.empty() ? "" : ")") +
             ", " + seconds_text(job.total_s) + " after its submission";
    case RemoteJob::State::Failed:
      return "failed" + (job.failure ? ": " + job.failure->message : "");
    case RemoteJob::State::Cancelled:
      return "cancelled";
    case RemoteJob::State::Unknown:
      break;
  }
  return "in an unknown state";
}

void print(Format format, const std::string& command, const RemoteJob& job,
           const std::optional<PrintedOutputs>& outputs) {
  Json report = {{"command", command},         {"job", job.id},      {"peer", job.peer},
                 {"circuit", job.circuit},     {"lanes", job.lanes}, {"ands", job.ands},
                 {"state", name_of(job.state)}};
  if (job.failure)
    report["failure"] = failure_report(
        {status_of(job.failure->error_class), job.failure->message, {}, {}})["error"];
  if (!job.session.empty()) report["session"] = job.session;
  report["submitted_at_s"] = job.submitted_at_s;
  if (job.state == RemoteJob::State::Done) {
    report["evaluation_s"] = job.evaluation_s;
    report["online"] = job.online;
    report["half_round_trips"] = half_round_trips_json(job.half_round_trips);
    report["was_prepared"] = job.was_prepared;
  }
  if (job.state >= RemoteJob::State::Done) report["total_s"] = job.total_s;
  if (outputs) report["outputs"] = json_of(*outputs);
  print_report(format, report, text_of(job) + (outputs ? text_of(*outputs) : ""));
}

void print(Format format, const RowsReport& report) {
  print_report(format,
               {{"command", "client run"},
                {"job", report.job},
                {"peer", report.peer},
                {"circuit", report.circuit},
                {"rows", report.rows},
                {"jobs", report.jobs},
                {"ands", report.ands},
                {"evaluation_s", report.evaluation_s}},
               counted(report.rows, "row") + " of " + report.circuit + " with " + report.peer +
                   " in " + counted(report.jobs, "job") + ", " + counted(report.ands, "AND") +
                   ", " + seconds_text(report.evaluation_s) + "\n");
}

void print(Format format, const std::vector<RemoteSession>& sessions) {
  print_list(format, "client stock", "sessions", sessions, "no sessions\n");
}

void print(Format format, const std::vector<RemotePeer>& peers) {
  print_list(format, "client peers", "peers", peers, {});
}

void print_retired(Format format, const std::string& peer, const std::string& session) {
  print_report(format, {{"command", "client retire"}, {"peer", peer}, {"session", session}},
               "session " + session + " with " + peer + " has ended; a new one begins\n");
}

void print_resumed(Format format, const std::string& peer) {
  print_report(format, {{"command", "client resume"}, {"peer", peer}},
               "refills with " + peer + " go on\n");
}

}  // namespace tinyot::tools
