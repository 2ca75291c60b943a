#include "base/cause.h"

#include "base/error.h"

namespace tinyot {

Cause cause_of(const std::exception_ptr& failure) {
  try {
    if (!failure) return Cause::None;
    std::rethrow_exception(failure);
  } catch (const WorkerStopped&) {
    return Cause::Stopped;
  } catch (const PeerCheated&) {
    return Cause::Cheated;
  } catch (const PeerAborted&) {
    return Cause::Aborted;
  } catch (const NetworkError&) {
    return Cause::Network;
  } catch (...) {
    return Cause::Other;
  }
}

const std::exception_ptr& root_cause(const std::exception_ptr& first,
                                     const std::exception_ptr& second) {
  return cause_of(second) > cause_of(first) ? second : first;
}

}  // namespace tinyot
