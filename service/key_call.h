// A call of a client about keys, for as long as it waits.
#pragma once

#include <functional>

#include "service/access.h"

namespace tinyot::service {

// Whether the client may make the call is the interface's to find out (Access).
struct KeyCall {
  Caller caller;
  bool is_officer = false;  // may manage keys
  // Whether the client no longer waits; called now and then.
  std::function<bool()> is_gone = {};
  // Whether a caller may manage keys by now: officers have to agree to what is to be done, as it
  // is done. Without it nobody may.
  std::function<bool(const Caller&)> may_manage_keys = {};
};

}  // namespace tinyot::service
