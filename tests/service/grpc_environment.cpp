// The threads of gRPC end before the process cleans OpenSSL up: what one that ends later has kept
// of OpenSSL is a leak to LeakSanitizer. gRPC ends them on a thread of its own if the last of its
// objects was destroyed on one of them.
#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tinyot::test {
namespace {

constexpr std::chrono::seconds kEndTime{10};

class GrpcEnvironment final : public ::testing::Environment {
 public:
  void TearDown() override {
    const auto until = std::chrono::steady_clock::now() + kEndTime;
    while (::grpc_is_initialized() != 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(::grpc_is_initialized(), 0) << "an object of gRPC is left at the end of the tests";
  }
};

[[maybe_unused]] const auto* const grpc_environment =
    ::testing::AddGlobalTestEnvironment(new GrpcEnvironment);

}  // namespace
}  // namespace tinyot::test
