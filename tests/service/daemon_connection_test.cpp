// The connection of a client to its daemon ends with all that gRPC runs for it.
#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "service/client.h"
#include "tests/support/files.h"

namespace tinyot::service {
namespace {

TEST(DaemonConnection, LeavesNothingOfItsLibrary) {
  const test::TestDirectory directory;
  {
    DaemonConnection connection({.text = "unix:" + (directory / "none").string(), .tls = {}});
    EXPECT_THROW((void)connection.peers(), Error);
  }
  EXPECT_EQ(::grpc_is_initialized(), 0);
}

}  // namespace
}  // namespace tinyot::service
