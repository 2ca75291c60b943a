// An audit log on a small disk that has no room for another line.
#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "service/key_audit.h"

namespace tinyot::test {

// The disk is one of a few kilobytes.
inline void fill_audit(service::KeyAudit& audit) {
  service::AuditLine line;
  for (const std::size_t bytes : {std::size_t{8 << 10}, std::size_t{0}}) {
    line.outcome.assign(bytes, 'x');
    EXPECT_THROW(for (int i = 0; i < 1000; ++i) audit.append(line), StoreError);
  }
}

}  // namespace tinyot::test
