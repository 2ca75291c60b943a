// A job as the interface describes it, and as its file does.
#pragma once

#include <chrono>
#include <vector>

#include "job_record.pb.h"
#include "service/jobs.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::service {

v1::Job message_of(const Job& job, const JobStatus& status);

record::Job record_of(const JobRequest& request, const JobOrigin& origin,
                      std::chrono::system_clock::time_point submitted_at);
// Of a job that ends now.
record::Job record_of_end(const Job& job, const JobStatus& status, const Values& outputs);

// A job that has not ended waits for its peer.
JobStatus status_from(const record::Job& record);
std::vector<circuit::OutputBundle> outputs_from(const record::Job& record);
std::chrono::system_clock::time_point time_from(double seconds);

}  // namespace tinyot::service
