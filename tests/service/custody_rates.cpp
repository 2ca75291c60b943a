// Times of requests for keys through two daemons on this machine, beside those of plain jobs of the
// same circuit through the same daemons, and of the syncs that a request waits for. Not a test:
// nothing is asserted of times. tests/service/custody_rates --gtest_also_run_disabled_tests
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <thread>

#include "custody_daemons.h"
#include "system/file.h"

namespace tinyot {
namespace {

using test::CustodyTest;
using test::KeyClient;
using Clock = std::chrono::steady_clock;

double median_ms(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2] * 1000;
}

template <class Call>
double p50_ms(int count, const Call& call) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    call(i);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return median_ms(std::move(times));
}

class CustodyRates : public CustodyTest {
 protected:
  // Both parties submit, then wait for the result, as the requests of a client do.
  double plain_job_ms(const std::string& circuit, const test::Inputs& of_a,
                      const test::Inputs& of_b, int count) {
    return p50_ms(count, [&](int i) {
      const std::string id = "job-" + std::to_string(++jobs_) + "-" + std::to_string(i);
      ASSERT_TRUE(b_->client().submit({id, circuit, "", of_b}).ok());
      ASSERT_TRUE(a_->client().submit({id, circuit, "", of_a}).ok());
      ASSERT_EQ(a_->client().result(id).job.state(), v1::DONE);
    });
  }
  int jobs_ = 0;
};

TEST_F(CustodyRates, DISABLED_Print) {
  CustodySetup setup;
  setup.ands = "12000000";
  setup.inputs = "4000000";
  start_custody(setup);
  ASSERT_TRUE(is_stocked(11'000'000));
  const auto made = keys_a_->create("gcm", "aead", "aes256");
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  ASSERT_TRUE(keys_a_->create("cmac", "mac", "aes128").status.ok());
  ASSERT_TRUE(keys_a_->create("hmac", "mac", "hmac_sha256").status.ok());
  constexpr int kCalls = 100;
  const system::File file(dir_ / "sync", O_RDWR | O_CREAT);
  const std::string line(700, 'x');
  const double sync = p50_ms(kCalls, [&](int i) {
    file.write_at(static_cast<std::uint64_t>(i) * line.size(), std::as_bytes(std::span(line)));
    file.sync();
  });
  std::printf("sync of a log line      %7.2f ms\n", sync);
  for (const auto& [name, client] : {std::pair("A", keys_a_.get()), {"B", keys_b_.get()}}) {
    for (int i = 0; i < 8; ++i)
      (void)client->sign("cmac", "warm"), (void)client->encrypt("gcm", "w");
    std::printf("client of %s\n", name);
    std::printf("  CMAC, 16 bytes        %7.2f ms\n", p50_ms(kCalls, [&](int) {
                  EXPECT_TRUE(client->sign("cmac", std::string(16, 'm')).status.ok());
                }));
    std::printf("  AES-256-GCM, 32 bytes %7.2f ms\n", p50_ms(kCalls, [&](int) {
                  EXPECT_TRUE(client->encrypt("gcm", std::string(32, 'm')).status.ok());
                }));
    std::printf("  HMAC, 32 bytes        %7.2f ms\n", p50_ms(kCalls / 4, [&](int) {
                  EXPECT_TRUE(client->sign("hmac", std::string(32, 'm')).status.ok());
                }));
  }
  for (const int clients : {1, 2, 4, 8}) {
    std::mutex mutex;
    std::vector<double> times;
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < clients; ++i)
        threads.emplace_back([&, i] {
          const KeyClient client(i % 2 == 0 ? a_->socket() : b_->socket());
          for (int k = 0; k < 40; ++k) {
            const auto called = Clock::now();
            const auto signed_by_client = client.sign("cmac", std::string(16, 'm'));
            EXPECT_TRUE(signed_by_client.status.ok()) << signed_by_client.status.error_message();
            const std::lock_guard lock(mutex);
            times.push_back(std::chrono::duration<double>(Clock::now() - called).count());
          }
        });
    }
    const double all = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%d clients, CMAC         %7.1f a second; p50 %.1f ms, longest %.1f ms\n", clients,
                static_cast<double>(times.size()) / all, median_ms(times),
                1000 * std::ranges::max(times));
  }
  const auto hex = [](std::size_t bytes) { return "0x" + std::string(2 * bytes, '1'); };
  std::printf("plain job aes128        %7.2f ms\n",
              plain_job_ms("aes128", {{"message", hex(16)}, {"key_a", hex(16)}},
                           {{"key_b", hex(16)}}, kCalls));
}

}  // namespace
}  // namespace tinyot
