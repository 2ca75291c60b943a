// Many jobs of many concurrent clients of both parties, while daemons are killed, connections are
// cut, a peer cheats, and clients submit what is forbidden or disappear. Every job ends with the
// right result or a stated error, and no object of material is served twice.
//
// TINYOT_JOBS, TINYOT_CLIENTS, TINYOT_KILLS, TINYOT_CUTS, TINYOT_CHEATS and TINYOT_SEED set the
// size; tests/service/run does that for the whole campaign.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <thread>

#include "circuitgen/formats/values.h"
#include "engine/loaded_circuit.h"
#include "tests/reliability/ledger.h"
#include "tests/service/daemons.h"
#include "tests/service/link_relay.h"
#include "tests/support/lane_values.h"

namespace tinyot::test {
namespace {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

std::uint64_t setting(const char* name, std::uint64_t default_value) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : default_value;
}

// The same at both parties' clients, by the job's number.
struct Task {
  std::string id;
  std::string circuit;
  std::size_t lanes = 1;
  std::vector<v1::SubmitRequest> requests[2];     // of A and B
  std::map<std::string, std::string> outputs[2];  // expected
};

std::string bits_of(const circuit::LaneValues& values) {
  std::string bits;
  for (const BitVector& value : values) {
    const auto bytes = value.bytes();
    bits.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return bits;
}

Task make_task(std::uint64_t number, std::uint64_t seed) {
  constexpr std::pair<const char*, std::size_t> kCircuits[] = {{"aes128", 4},
                                                               {"millionaires", 3},
                                                               {"sha256:bytes=32", 1},
                                                               {"hamming", 2},
                                                               {"random:width=300,depth=10", 1}};
  Random random(seed * 1'000'003 + number);
  Task task;
  task.id = "job-" + std::to_string(number);
  const auto& [name, lanes_max] = kCircuits[number % std::size(kCircuits)];
  task.circuit = name;
  task.lanes = 1 + random() % lanes_max;
  const auto loaded = *engine::LoadedCircuit::generated(name, task.lanes);
  const circuit::CircuitInfo& info = loaded.info();
  std::vector<circuit::LaneValues> inputs;
  for (const circuit::InputBundle& bundle : info.inputs) {
    circuit::LaneValues values;
    for (std::size_t lane = 0; lane < (bundle.same_in_all_lanes ? 1 : task.lanes); ++lane) {
      BitVector value(bundle.bits);
      for (std::uint64_t& word : value.words()) word = random();
      value.clear_padding();
      values.push_back(std::move(value));
    }
    v1::SubmitRequest part;
    part.add_inputs()->set_name(bundle.name);
    part.mutable_inputs(0)->set_bits(bits_of(values));
    task.requests[bundle.source == circuit::InputSource::A ? 0 : 1].push_back(std::move(part));
    inputs.push_back(std::move(values));
  }
  const auto outputs = circuit::evaluate(loaded.circuit(), task.lanes, inputs);
  for (int party = 0; party < 2; ++party) {
    v1::SubmitRequest first;
    first.mutable_job()->set_id(task.id);
    first.mutable_job()->set_circuit(task.circuit);
    first.mutable_job()->set_lanes(task.lanes);
    task.requests[party].insert(task.requests[party].begin(), std::move(first));
    for (std::size_t i = 0; i < info.outputs.size(); ++i)
      if (circuit::receives(info.outputs[i].to, party == 0 ? Party::A : Party::B))
        task.outputs[party][info.outputs[i].name] = bits_of(outputs[i]);
  }
  return task;
}

struct Tally {
  std::atomic<std::uint64_t> done{0}, failed{0}, unreachable{0}, wrong{0}, forgotten{0};
  std::mutex mutex;
  std::vector<double> latencies;  // seconds, of jobs that are done
  std::map<std::string, std::uint64_t> errors;
};

// The memory of a process in use, in bytes.
std::uint64_t memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

class CampaignTest : public DaemonTest {
 protected:
  // `is_kept`: the daemons keep jobs over a restart, and clients ask again after one.
  void run_campaign(bool is_kept);
  // One of the clients of a party: takes every n-th job.
  void run_client(int party, std::uint64_t first, std::uint64_t step);
  void attempt(int party, const Task& task);
  Client::Result result_of(const Client& client, const std::string& id) const;
  Daemon& daemon(int party) { return party == 0 ? *a_ : *b_; }
  std::uint64_t ledger_reused() const;

  const std::uint64_t jobs_ = setting("TINYOT_JOBS", 60), clients_ = setting("TINYOT_CLIENTS", 4),
                      kills_ = setting("TINYOT_KILLS", 2), cuts_ = setting("TINYOT_CUTS", 1),
                      cheats_ = setting("TINYOT_CHEATS", 1), seed_ = setting("TINYOT_SEED", 1);
  bool is_kept_ = false;
  Tally tally_;
  std::atomic<std::uint64_t> ended_{0};
};

// It is kept by the daemon: a job that has ended here is refused to the peer.
Client::Result CampaignTest::result_of(const Client& client, const std::string& id) const {
  Client::Result result;
  for (int attempts = 0; attempts < 100; ++attempts) {
    result = client.result(id, false);
    if (!is_kept_ || result.status.error_code() != grpc::StatusCode::UNAVAILABLE) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the next attempt
  }
  return result;
}

// Submits a job to its party's daemon, again if the daemon has just been killed, and checks what
// comes of it.
void CampaignTest::attempt(int party, const Task& task) {
  const Client client(daemon(party).socket().string());
  for (int attempts = 0; attempts < 100; ++attempts) {
    const auto begin = Clock::now();
    const grpc::Status submitted = client.submit(task.requests[party]);
    if (submitted.error_code() == grpc::StatusCode::UNAVAILABLE) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the next attempt
      continue;
    }
    // A daemon that was killed before it answered may have kept the job.
    const bool is_known =
        is_kept_ && attempts > 0 && submitted.error_code() == grpc::StatusCode::ALREADY_EXISTS;
    if (!submitted.ok() && !is_known) {
      ++tally_.failed;
      const std::lock_guard lock(tally_.mutex);
      ++tally_.errors["refused: " + submitted.error_message()];
      return;
    }
    const Client::Result result = result_of(client, task.id);
    if (!result.status.ok()) {
      // The daemon was killed: whether the job has been evaluated is not known.
      ++tally_.unreachable;
      return;
    }
    if (result.job.state() == v1::DONE) {
      ++tally_.done;
      tally_.wrong += result.outputs != task.outputs[party];
      const std::lock_guard lock(tally_.mutex);
      tally_.latencies.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    } else {
      ++tally_.failed;
      EXPECT_FALSE(result.job.error().message().empty());
      const std::lock_guard lock(tally_.mutex);
      const std::string& message = result.job.error().message();
      ++tally_.errors[message.substr(0, message.find(" (phase"))];
    }
    return;
  }
  ADD_FAILURE() << "the daemon does not come back";
}

void CampaignTest::run_client(int party, std::uint64_t first, std::uint64_t step) {
  Random random(seed_ + first);
  for (std::uint64_t number = first; number < jobs_; number += step) {
    const Task task = make_task(number, seed_);
    attempt(party, task);
    ++ended_;
    if (random() % 16 == 0) {
      // Forbidden, and forgotten by its client.
      const Client client(daemon(party).socket().string());
      const grpc::Status status =
          client.submit({"x" + std::to_string(number), "sort", "", {{"values", "0"}}});
      EXPECT_NE(status.error_code(), grpc::StatusCode::OK);
      tally_.forgotten +=
          client
              .submit(party == 0 ? millionaires_a("lost-a" + std::to_string(number), 1)
                                 : millionaires_b("lost-b" + std::to_string(number), 1))
              .ok();
    }
  }
}

std::uint64_t CampaignTest::ledger_reused() const {
  Ledger ledger;
  for (const Daemon* daemon : {a_.get(), b_.get()})
    for (const auto& file : std::filesystem::directory_iterator(daemon->ledgers()))
      ledger.read(file.path());
  EXPECT_GT(ledger.served('A'), 0u);
  EXPECT_GT(ledger.served('B'), 0u);
  return ledger.reused();
}

void CampaignTest::run_campaign(bool is_kept) {
  is_kept_ = is_kept;
  LinkRelay relay(port_);
  Setup setup;
  // The relay takes time, which undisturbed runs measure.
  if (cuts_ + cheats_ > 0) setup.port_b = relay.port();
  setup.low = "low { ands: 300000 }";
  setup.high = "high { ands: 600000 }";
  setup.daemon_a = setup.daemon_b = "jobs_max: 10000 job_timeout_s: 5 result_timeout_s: 30";
  if (is_kept) {
    write_private_file(dir_ / "key", std::string(32, 'k'));
    setup.daemon_a += " store_key: '" + (dir_ / "key").string() + "'";
    setup.daemon_b = setup.daemon_a;
  }
  setup.peer_a = setup.peer_b = "idle_timeout_s: 10";
  start(setup);

  const auto begin = Clock::now();
  std::vector<std::thread> clients;
  for (int party = 0; party < 2; ++party)
    for (std::uint64_t i = 0; i < clients_; ++i)
      clients.emplace_back([=, this] { run_client(party, i, clients_); });
  // At even distances: kills in the first half, then the others.
  const auto wait_for = [&](double part) {
    const auto at = static_cast<std::uint64_t>(part * 2 * static_cast<double>(jobs_));
    ASSERT_TRUE(becomes_true([&] { return ended_ >= at; }, std::chrono::seconds(1200)));
  };
  Random random(seed_);
  for (std::uint64_t i = 0; i < kills_; ++i) {
    wait_for(0.5 * static_cast<double>(i + 1) / static_cast<double>(kills_ + 1));
    Daemon& killed = daemon(static_cast<int>(random() % 2));
    killed.kill();
    killed.start();
  }
  const std::uint64_t others = cuts_ + cheats_;
  std::uint64_t memory_early = 0;
  for (std::uint64_t i = 0; i < others; ++i) {
    wait_for(0.5 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(others + 1));
    if (i == 0) memory_early = memory_of(a_->pid()) + memory_of(b_->pid());
    if (i < cheats_) {
      const std::uint64_t before = relay.changed();
      relay.change_evaluations();
      EXPECT_TRUE(becomes_true([&] { return relay.changed() > before; }));
      relay.pass_on();
    } else {
      relay.cut();
    }
  }
  for (std::thread& client : clients) client.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::uint64_t memory_late = memory_of(a_->pid()) + memory_of(b_->pid());

  EXPECT_EQ(tally_.wrong, 0u);
  if (is_kept) {
    EXPECT_EQ(tally_.unreachable, 0u);
  }
  EXPECT_EQ(tally_.done + tally_.failed + tally_.unreachable, 2 * jobs_);
  // A disturbance ends at most the jobs that run, and each of these at both parties.
  EXPECT_GE(tally_.done, jobs_);
  EXPECT_EQ(ledger_reused(), 0u);
  ASSERT_TRUE(is_stocked());
  evaluate("at-the-end");

  std::ranges::sort(tally_.latencies);
  const auto quantile = [&](double part) {
    const auto index =
        static_cast<std::size_t>(static_cast<double>(tally_.latencies.size()) * part);
    return 1000 * tally_.latencies[std::min(index, tally_.latencies.size() - 1)];
  };
  std::cout << jobs_ << " jobs of " << clients_ << " clients of each party in " << seconds << " s ("
            << static_cast<double>(jobs_) / seconds << " jobs/s), " << kills_ << " kills, " << cuts_
            << " cuts, " << cheats_ << " times cheating: " << tally_.done << " results, "
            << tally_.failed << " stated errors, " << tally_.unreachable
            << " unknown as the daemon was killed; p50 " << quantile(0.5) << " ms, p99 "
            << quantile(0.99) << " ms; memory of both " << (memory_early >> 20) << " MiB, then "
            << (memory_late >> 20) << " MiB\n";
  for (const auto& [error, count] : tally_.errors)
    std::cout << "  " << count << " " << error << "\n";
}

TEST_F(CampaignTest, EveryJobEndsWithItsResultOrAnError) { run_campaign(false); }

// And its client learns which, whichever daemon was killed.
TEST_F(CampaignTest, EveryJobThatIsKeptEndsWithItsResultOrAnError) { run_campaign(true); }

}  // namespace
}  // namespace tinyot::test
