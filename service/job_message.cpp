#include "service/job_message.h"

#include <algorithm>

#include "service/names.h"

namespace tinyot::service {
namespace {

double seconds_of(std::chrono::system_clock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

circuit::ValueFormat format_named(const std::string& name) {
  using circuit::ValueFormat;
  for (const ValueFormat format : {ValueFormat::Bytes, ValueFormat::MsbInteger})
    if (name == name_of(format)) return format;
  return ValueFormat::Integer;
}

}  // namespace

v1::Job message_of(const Job& job, const JobStatus& status) {
  v1::Job message;
  message.set_id(job.id());
  message.set_peer(job.request().peer);
  message.set_circuit(job.request().terms.circuit());
  message.set_lanes(job.request().terms.lanes());
  message.set_ands(job.ands());
  message.set_state(state_of(status.state));
  if (status.state == JobState::Failed) {
    message.mutable_error()->set_error_class(class_of(status.error.error_class));
    message.mutable_error()->set_message(status.error.message);
  }
  message.set_session(status.session);
  if (status.state == JobState::Done) {
    message.set_online(std::string(name_of(status.phase)));
    message.set_half_round_trips_a(status.half_round_trips[0]);
    message.set_half_round_trips_b(status.half_round_trips[1]);
    message.set_was_prepared(status.was_prepared);
  }
  message.set_submitted_at_s(seconds_of(status.submitted_at));
  message.set_evaluation_s(status.evaluation_s);
  message.set_total_s(status.total_s);
  return message;
}

record::Job record_of(const JobRequest& request, const JobOrigin& origin,
                      std::chrono::system_clock::time_point submitted_at) {
  record::Job record;
  *record.mutable_submitted() = origin.job;
  *record.mutable_terms() = request.terms;
  record.set_submitted_at_s(seconds_of(submitted_at));
  record.set_ands(request.circuit->cost().ands_of(request.circuit->lanes()));
  add_bundles(*request.inputs, record);
  return record;
}

record::Job record_of_end(const Job& job, const JobStatus& status, const Values& outputs) {
  record::Job record;
  *record.mutable_ended() = message_of(job, status);
  *record.mutable_terms() = job.request().terms;
  record.set_submitted_at_s(seconds_of(status.submitted_at));
  record.set_ended_at_s(seconds_of(std::chrono::system_clock::now()));
  add_bundles(outputs, record);
  for (record::Bundle& bundle : *record.mutable_values()) {
    const auto of = std::ranges::find(job.outputs(), bundle.name(), &circuit::OutputBundle::name);
    if (of == job.outputs().end()) continue;
    bundle.set_format(std::string(name_of(of->format)));
    bundle.set_type(of->type);
  }
  return record;
}

std::chrono::system_clock::time_point time_from(double seconds) {
  using Clock = std::chrono::system_clock;
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

JobStatus status_from(const record::Job& record) {
  JobStatus status;
  status.submitted_at = time_from(record.submitted_at_s());
  if (!record.has_ended()) return status;
  const v1::Job& ended = record.ended();
  status.state = ended.state() == v1::DONE        ? JobState::Done
                 : ended.state() == v1::CANCELLED ? JobState::Cancelled
                                                  : JobState::Failed;
  status.error = {class_from(ended.error().error_class()), ended.error().message()};
  status.session = ended.session();
  if (!ended.online().empty())
    status.phase = requested_phase(ended.online()).value_or(OnlinePhase::Interactive);
  status.half_round_trips = {ended.half_round_trips_a(), ended.half_round_trips_b()};
  status.was_prepared = ended.was_prepared();
  status.evaluation_s = ended.evaluation_s();
  status.total_s = ended.total_s();
  return status;
}

std::vector<circuit::OutputBundle> outputs_from(const record::Job& record) {
  std::vector<circuit::OutputBundle> outputs;
  for (const record::Bundle& bundle : record.values())
    outputs.push_back({bundle.name(), static_cast<std::uint32_t>(bundle.bits()),
                       circuit::Receiver::Both, format_named(bundle.format()), bundle.type()});
  return outputs;
}

}  // namespace tinyot::service
