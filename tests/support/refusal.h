// What a call refuses.
#pragma once

#include <string>

#include "tinyot/error.h"

namespace tinyot::test {

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing is refused";
}

}  // namespace tinyot::test
