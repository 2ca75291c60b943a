// The threads of gRPC end before the process cleans OpenSSL up: what one that ends later has kept
// of OpenSSL is a leak to LeakSanitizer.
#include <grpc/grpc.h>
#include <gtest/gtest.h>

namespace tinyot::test {
namespace {

class GrpcEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override {
    grpc_init();
    grpc_shutdown_blocking();
  }
};

[[maybe_unused]] const auto* const grpc_environment =
    ::testing::AddGlobalTestEnvironment(new GrpcEnvironment);

}  // namespace
}  // namespace tinyot::test
