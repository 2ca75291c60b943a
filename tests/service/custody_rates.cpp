// Times of requests for keys through two daemons on this machine, beside those of plain jobs of the
// same circuit through the same daemons, and of the syncs that a request waits for. Not a test:
// nothing is asserted of times. tests/service/custody_rates --gtest_also_run_disabled_tests
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <thread>

#include "custody_daemons.h"
#include "net/shaped_link.h"
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

// Of a process and its threads that have ended.
double cpu_s(pid_t pid) {
  const std::string stat = test::read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class CustodyRates : public CustodyTest {
 protected:
  static constexpr int kCalls = 60;

  // Median time of a call; CPU time and bytes of both parties together.
  template <class Call>
  double print_calls(const char* name, const Call& call, int count = kCalls) {
    for (int i = 0; i < (count + 7) / 8; ++i) call(i);  // keys are loaded, and circuits known
    const double cpu = cpus_s(), bytes = bytes_sent();
    const double p50 = p50_ms(count, call);
    std::printf("  %-24s p50 %7.2f ms, CPU %6.2f ms, %8.0f bytes\n", name, p50,
                1000 * (cpus_s() - cpu) / count, (bytes_sent() - bytes) / count);
    return p50;
  }
  // Both parties submit, then one waits for the result, as the requests of a client do.
  double print_jobs(const std::string& circuit, const test::Inputs& of_a,
                    const test::Inputs& of_b) {
    return print_calls(("job " + circuit).c_str(), [&](int) {
      const std::string id = "job-" + std::to_string(++jobs_);
      ASSERT_TRUE(b_->client().submit({id, circuit, "", of_b}).ok());
      ASSERT_TRUE(a_->client().submit({id, circuit, "", of_a}).ok());
      ASSERT_EQ(a_->client().result(id).job.state(), v1::DONE);
      ASSERT_EQ(b_->client().result(id).job.state(), v1::DONE);
    });
  }
  void make_keys() const {
    for (const auto& [label, key_class, algorithm] : {std::tuple("gcm", "aead", "aes256"),
                                                      {"cmac", "mac", "aes128"},
                                                      {"hmac", "mac", "hmac_sha256"}}) {
      const auto made = keys_a_->create(label, key_class, algorithm);
      ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    }
  }
  void print_uses(int count) {
    for (const auto& [name, client] : {std::pair("A", keys_a_.get()), {"B", keys_b_.get()}}) {
      std::printf("client of %s\n", name);
      const auto sign = [keys = client](const char* key, std::size_t bytes) {
        const auto made = keys->sign(key, std::string(bytes, 'm'));
        EXPECT_TRUE(made.status.ok()) << made.status.error_message();
      };
      print_calls(
          "CMAC, 16 bytes", [&](int) { sign("cmac", 16); }, count);
      print_calls(
          "AES-256-GCM, 32 bytes",
          [keys = client](int) {
            EXPECT_TRUE(keys->encrypt("gcm", std::string(32, 'm')).status.ok());
          },
          count);
      print_calls(
          "HMAC-SHA-256, 32 bytes", [&](int) { sign("hmac", 32); }, count);
    }
  }
  double cpus_s() const { return cpu_s(a_->pid()) + cpu_s(b_->pid()); }
  double bytes_sent() const {
    double bytes = 0;
    for (const auto& daemon : {a_.get(), b_.get()})
      bytes += std::stod("0" + daemon->metric("tinyot_sent_bytes_total{peer=\"" +
                                              std::string(daemon == a_.get() ? "bob" : "alice") +
                                              "\",phase=\"evaluation\"}"));
    return bytes;
  }
  int jobs_ = 0;
};

TEST_F(CustodyRates, DISABLED_Print) {
  CustodySetup setup;
  setup.ands = "12000000";
  setup.inputs = "4000000";
  setup.jobs = "allow { circuit: 'aes256_gcm' parameter { name: 'bytes' max: 64 } }";
  start_custody(setup);
  ASSERT_TRUE(is_stocked(11'000'000));
  make_keys();
  const system::File file(dir_ / "sync", O_RDWR | O_CREAT);
  const std::string line(700, 'x');
  const double sync = p50_ms(kCalls, [&](int i) {
    file.write_at(static_cast<std::uint64_t>(i) * line.size(), std::as_bytes(std::span(line)));
    file.sync();
  });
  std::printf("sync of a log line %.2f ms\n", sync);
  const auto hex = [](std::size_t bytes) { return "0x" + std::string(2 * bytes, '1'); };
  print_jobs("aes128", {{"message", hex(16)}, {"key_a", hex(16)}}, {{"key_b", hex(16)}});
  print_jobs("aes256_gcm:bytes=32", {{"message", hex(32)}, {"key_a", hex(32)}, {"nonce", hex(12)}},
             {{"key_b", hex(32)}});
  print_uses(kCalls);
  for (const int clients : {1, 2, 4, 8}) {
    std::mutex mutex;
    std::vector<double> times;
    const double cpu = cpus_s();
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
    std::printf("%d clients, CMAC: %.1f a second, p50 %.1f ms, longest %.1f ms, %.1f CPUs\n",
                clients, static_cast<double>(times.size()) / all, median_ms(times),
                1000 * std::ranges::max(times), (cpus_s() - cpu) / all);
  }
}

// Garbled runs, whose half round trips are few.
TEST_F(CustodyRates, DISABLED_PrintOverASlowLink) {
  const std::string port = test::reserved_port();
  const net::ShapedLink link({.rtt = std::chrono::milliseconds(20), .bits_per_s = 100e6},
                             {"127.0.0.1", port}, {"127.0.0.1", port_});
  CustodySetup setup;
  setup.port_b = port;
  setup.ands = "2600000";
  setup.inputs = "400000";
  setup.material = AndMaterial::Garbling;
  start_custody(setup);
  ASSERT_TRUE(is_stocked(2'500'000));
  make_keys();
  print_uses(12);
}

}  // namespace
}  // namespace tinyot
