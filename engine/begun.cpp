#include "engine/begun.h"

#include "base/error.h"
#include "offline/unit/preprocessor.h"

namespace tinyot::engine {

Begun open_existing(const PreprocessRequest& job) {
  Begun begun;
  std::error_code error;
  if (job.session && job.amount != Amount::Total)
    throw UsageError(
        "nothing can be added to the shards of a session: merge them, and add to the merged store");
  if (job.session && std::filesystem::exists(*job.session, error)) {
    begun.session_file = storage::read_session_file(*job.session, job.store_key);
    if (begun.session_file->reference.bits_a.count != offline::kReferenceBits)
      throw StoreError("the session file " + job.session->string() +
                       " does not hold the reference bits of a session; begin a new one");
  } else if (job.session && job.shard != 1) {
    throw StoreError("there is no session file " + job.session->string() +
                     " yet: begin shard 1, which makes it, and copy it here");
  }
  const bool exists = storage::Store::exists(job.store);
  if ((job.resume && (!job.session || exists)) || job.amount == Amount::More ||
      (job.amount == Amount::Left && exists))
    begun.store = storage::Store::open(
        job.store, {.purpose = storage::Purpose::Make, .store_key = job.store_key});
  else
    storage::Store::check_absent(job.store);
  return begun;
}

JobPlan plan_of(const PreprocessRequest& request, const Begun& begun) {
  const storage::Manifest* const manifest = begun.manifest();
  const bool grows = request.amount != Amount::Total;
  if (manifest == nullptr || (grows && manifest->state == StoreState::Complete))
    return JobPlan(resolve(request));
  check_same_amount(begun.name(request), *manifest, request);
  return JobPlan(last_job(grows ? request : resolve(request, manifest), *manifest));
}

}  // namespace tinyot::engine
