// A daemon ends, its disk fails or the power fails at each system call of a job's files in turn.
// What a client has been told is so afterwards, and what has begun never waits again.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <set>
#include <utility>

#include "base/error.h"
#include "tests/service/kept_jobs.h"
#include "tests/storage/faults/disk.h"
#include "tests/storage/faults/interposed.h"
#include "tests/storage/process_support.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

namespace fs = std::filesystem;
using service::JobState;
using service::SharedJob;
using test::KeptJobs;

constexpr std::uint64_t kInput = 77, kOutput = 1;

// Which steps of a job have returned without an error.
struct Progress {
  bool is_submitted = false, is_refused = false;
  bool has_begun = false, is_beginning = false, is_not_begun = false;
  bool is_done = false, is_forgotten = false, is_next_submitted = false;
};

void live(const fs::path& directory, Progress& progress) {
  KeptJobs jobs(directory);
  SharedJob job;
  try {
    job = jobs.add("job", kInput);
    progress.is_submitted = true;
  } catch (const StoreError&) {
    progress.is_refused = true;
    return;
  }
  progress.is_beginning = true;
  try {
    jobs->begin(*job);
    progress.has_begun = true;
  } catch (const StoreError& error) {
    progress.is_not_begun = true;
    jobs->fail(*job, {ErrorClass::Store, error.what()});
    return;
  }
  jobs->finish(*job, KeptJobs::result(kOutput));
  progress.is_done = true;
  jobs->forget(*job);
  progress.is_forgotten = true;
  try {
    jobs.add("next", kInput);  // the place of its keys has been that of others
    progress.is_next_submitted = true;
  } catch (const StoreError&) {
  }
}

// `is_disk_sound`: every call that returned has done its work.
void check(const fs::path& directory, const Progress& progress, bool is_disk_sound) {
  KeptJobs later(directory);
  std::set<std::string> files, ids;
  for (const auto& file : fs::directory_iterator(directory / "jobs"))
    files.insert(file.path().filename().string());
  for (const auto& [job, failure] : later.restored()) {
    ids.insert(job->id());
    EXPECT_TRUE(files.erase(job->id() + ".job")) << job->id();
    const JobState state = later->status(*job).state;
    if (job->id() == "next") {
      EXPECT_TRUE(progress.is_forgotten);
      EXPECT_FALSE(failure.has_value());
      continue;
    }
    if (failure) {
      EXPECT_NE(failure->message.find("had begun"), std::string::npos) << failure->message;
      EXPECT_TRUE(progress.is_beginning);
    } else if (state == JobState::WaitingForPeer) {
      EXPECT_FALSE(progress.has_begun) << "it would be repeated";
      EXPECT_EQ(later.input_of(*job), kInput);
    } else if (state == JobState::Done) {
      EXPECT_TRUE(progress.has_begun);
      EXPECT_EQ(later->outputs(*job).integer("a_has_more"), kOutput);
    } else {
      EXPECT_TRUE(progress.is_not_begun);
    }
    if (is_disk_sound) {
      EXPECT_FALSE(progress.is_forgotten) << "it can be read";
      EXPECT_FALSE(progress.is_refused);
      EXPECT_TRUE(!progress.is_done || state == JobState::Done) << "its outputs are lost";
    }
  }
  EXPECT_TRUE(files.empty());
  if (is_disk_sound) {
    EXPECT_TRUE(!progress.is_submitted || progress.is_done || ids.contains("job")) << "it is lost";
    EXPECT_TRUE(!progress.is_next_submitted || ids.contains("next"));
  }
  for (const auto& [job, failure] : later.restored()) later->forget(*job);
  // The files can be used on.
  later->forget(*later.add("job", kInput + 1));
}

class KeptJobsFaultTest : public ::testing::Test {
 protected:
  // A new directory for each fault; returns how many system calls there are.
  std::uint64_t fail_everywhere(Fault fault, bool is_disk_sound) {
    for (std::uint64_t at = 1;; ++at) {
      const test::TestDirectory directory;
      const Shared<Progress> progress;
      const int status = status_of_child([&] {
        arm(fault, at);
        try {
          live(directory.path(), *progress);
        } catch (const StoreError&) {
          // The daemon does not start.
        }
        ::_exit(calls() < at ? 10 : 11);
      });
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at call " +
                   std::to_string(at));
      const bool is_reached = !(WIFEXITED(status) && WEXITSTATUS(status) == 10);
      const bool is_killed = fault == Fault::Kill || fault == Fault::TornWrite;
      if (is_reached) {
        EXPECT_TRUE(is_killed ? was_killed(status)
                              : WIFEXITED(status) && WEXITSTATUS(status) == 11);
      }
      check(directory.path(), *progress, is_disk_sound);
      if (!is_reached || HasFailure()) return at;
    }
  }
};

TEST_F(KeptJobsFaultTest, SurvivesKillAtEveryCall) {
  EXPECT_GT(fail_everywhere(Fault::Kill, true), 15u) << "system calls are not intercepted";
  fail_everywhere(Fault::TornWrite, true);
}

TEST_F(KeptJobsFaultTest, SurvivesFullDisk) { fail_everywhere(Fault::NoSpace, false); }

TEST_F(KeptJobsFaultTest, SurvivesFailingDisk) {
  for (const Fault fault : {Fault::IoError, Fault::ShortWrite, Fault::DiskFails})
    fail_everywhere(fault, false);
}

// Nothing is left of what was refused.
TEST_F(KeptJobsFaultTest, RefusedJobLeavesNothing) {
  std::uint64_t refused = 0;
  for (std::uint64_t at = 1;; ++at) {
    const test::TestDirectory directory;
    KeptJobs jobs(directory.path());
    arm(Fault::NoSpace, at);
    bool is_refused = false;
    try {
      jobs.add("job", kInput);
    } catch (const DiskFull&) {
      is_refused = true;
    }
    const bool is_reached = calls() >= at;
    disarm();
    EXPECT_EQ(is_refused, is_reached);
    if (!is_reached) break;
    ++refused;
    EXPECT_TRUE(fs::is_empty(directory / "jobs")) << at;
    EXPECT_EQ(jobs->find("bob", "job"), nullptr);
    EXPECT_TRUE(KeptJobs(directory.path()).restored().empty()) << at;
    jobs.add("job", kInput);  // there is space again
  }
  EXPECT_GE(refused, 4u);
}

// A job that was cancelled while the disk was full does not wait again.
TEST_F(KeptJobsFaultTest, CancelledJobDoesNotWaitAgain) {
  for (std::uint64_t at = 1;; ++at) {
    const test::TestDirectory directory;
    bool is_reached = false;
    {
      KeptJobs jobs(directory.path());
      const SharedJob job = jobs.add("job", kInput);
      arm(Fault::NoSpace, at);
      EXPECT_TRUE(jobs->cancel(*job));
      is_reached = calls() >= at;
      disarm();
    }
    KeptJobs later(directory.path());
    ASSERT_EQ(later.restored().size(), 1u);
    const auto& [job, failure] = later.restored().front();
    EXPECT_TRUE(failure || service::has_ended(later->status(*job).state)) << at;
    if (!is_reached) break;
  }
}

// Whatever could not be written of a job that has ended is written once there is room.
TEST_F(KeptJobsFaultTest, EndThatMetAFullDiskIsWrittenLater) {
  std::uint64_t unwritten = 0;
  for (std::uint64_t at = 1;; ++at) {
    const test::TestDirectory directory;
    bool is_reached = false;
    {
      KeptJobs jobs(directory.path());
      const SharedJob job = jobs.add("job", kInput), forgotten = jobs.add("forgotten", kInput);
      jobs->begin(*job);
      jobs->begin(*forgotten);
      arm(Fault::NoSpace, at);
      jobs->finish(*job, KeptJobs::result(kOutput));
      is_reached = calls() >= at;
      arm(Fault::NoSpace, at);
      jobs->fail(*forgotten, {ErrorClass::Network, "another"});
      disarm();
      // Of a full disk nothing is known but that it was: the call may have been the last one.
      const std::uint64_t both = jobs->unwritten("bob");
      unwritten += both;
      EXPECT_EQ(jobs->unwritten("carol"), 0u);
      arm(Fault::NoSpace, 1);
      jobs->write_again();
      disarm();
      EXPECT_EQ(jobs->unwritten("bob"), both) << "still no room";
      jobs->forget(*forgotten);
      jobs->write_again();
      EXPECT_EQ(jobs->unwritten("bob"), 0u);
    }
    KeptJobs later(directory.path());
    ASSERT_EQ(later.restored().size(), 1u) << at;
    const auto& [job, failure] = later.restored().front();
    EXPECT_FALSE(failure.has_value()) << at << failure->message;
    ASSERT_EQ(later->status(*job).state, JobState::Done);
    EXPECT_EQ(later->outputs(*job).integer("a_has_more"), kOutput);
    if (!is_reached) break;
  }
  EXPECT_GE(unwritten, 4u);
}

// Looks at the jobs before each system call that changes a file.
class Look final : public Observer {
 public:
  explicit Look(std::function<void()> look) : look_(std::move(look)) { observe(this); }
  ~Look() override { observe(nullptr); }
  void before_call() override {
    ++calls_;
    look_();
  }
  void written(int, std::uint64_t, std::size_t) override {}
  void resized(int) override {}
  void synced(int) override {}
  std::uint64_t calls() const { return calls_; }

 private:
  const std::function<void()> look_;
  std::uint64_t calls_ = 0;
};

constexpr service::JobLimits kNoTime{100, 1 << 20, std::chrono::seconds(0),
                                     std::chrono::seconds(0)};

// Its client has not been told yet that there is such a job, and it may still be refused: the peer
// is not told of it, and nobody else finds it.
TEST_F(KeptJobsFaultTest, JobIsNowhereUntilItIsOnTheDisk) {
  const test::TestDirectory directory;
  KeptJobs jobs(directory.path(), test::key_of_jobs(), kNoTime);
  {
    const Look look([&] {
      EXPECT_EQ(jobs->find("bob", "job"), nullptr);
      EXPECT_TRUE(jobs->named("job").empty());
      EXPECT_TRUE(jobs->of_peer("bob").empty());
      EXPECT_EQ(jobs->counts("bob").waiting, 0u);
      EXPECT_TRUE(jobs->expire().empty());
    });
    jobs.add("job");
    EXPECT_GT(look.calls(), 3u);
  }
  EXPECT_NE(jobs->find("bob", "job"), nullptr);
  EXPECT_EQ(jobs->counts("bob").waiting, 1u);
}

// Whoever is told of an end may rely on it after a power failure.
TEST_F(KeptJobsFaultTest, NobodyIsToldOfAnEndBeforeItIsOnTheDisk) {
  using End = std::function<bool(service::Jobs&, service::Job&)>;
  for (const End& end : {End([](service::Jobs&jobs, service::Job&job) {
                           return jobs.fail(job, {ErrorClass::Network, "gone"});
                         }),
                         End([](service::Jobs&jobs, service::Job&job) { return jobs.cancel(job); }),
                         End([](service::Jobs&jobs, service::Job&job) {
                           return jobs.finish(job, KeptJobs::result(kOutput));
                         })}) {
    const test::TestDirectory directory;
    KeptJobs jobs(directory.path());
    const SharedJob job = jobs.add("job", kInput);
    {
      const Look look([&] {
        EXPECT_FALSE(service::has_ended(jobs->status(*job).state));
        EXPECT_FALSE(jobs->wait(*job, service::Jobs::Clock::now()));
        EXPECT_TRUE(jobs->outputs(*job).names().empty());
      });
      EXPECT_TRUE(end(*jobs, *job));
      EXPECT_GT(look.calls(), 3u);
    }
    EXPECT_TRUE(service::has_ended(jobs->status(*job).state));
  }
}

// Its client has the daemon forget it, while another one does so or its time is over.
TEST_F(KeptJobsFaultTest, JobLeavesOnce) {
  const test::TestDirectory directory;
  KeptJobs jobs(directory.path(), test::key_of_jobs(), kNoTime);
  const SharedJob job = jobs.add("job", kInput);
  jobs->finish(*job, KeptJobs::result(kOutput));
  {
    bool is_inside = false;
    const Look look([&] {
      EXPECT_FALSE(is_inside);
      is_inside = true;
      jobs->forget(*job);
      EXPECT_TRUE(jobs->expire().empty());
      is_inside = false;
      EXPECT_EQ(jobs->find("bob", "job"), job) << "its file is still there";
    });
    jobs->forget(*job);
    EXPECT_GT(look.calls(), 2u);
  }
  EXPECT_EQ(jobs->find("bob", "job"), nullptr);
  EXPECT_TRUE(fs::is_empty(directory / "jobs"));
  jobs.add("job", kInput);
}

// Otherwise its end would be written once its file had gone.
TEST_F(KeptJobsFaultTest, JobIsForgottenOnceItsEndIsWritten) {
  std::uint64_t syncs = 1;
  for (std::uint64_t at = 1; at <= syncs; ++at) {
    const test::TestDirectory directory;
    KeptJobs jobs(directory.path());
    const SharedJob job = jobs.add("job", kInput);
    std::future<void> forgetting;
    std::atomic<std::uint64_t> count = 0;
    after_syncs([&] {
      if (++count != at) return;
      forgetting = std::async(std::launch::async, [&] { jobs->forget(*job); });
      EXPECT_EQ(forgetting.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
    });
    EXPECT_TRUE(jobs->finish(*job, KeptJobs::result(kOutput)));
    if (forgetting.valid()) forgetting.get();
    after_syncs({});
    if (count < at) break;
    syncs = at + 1;
    EXPECT_TRUE(fs::is_empty(directory / "jobs")) << "after sync " << at;
    EXPECT_EQ(jobs->find("bob", "job"), nullptr);
  }
  EXPECT_GT(syncs, 2u);
}

// Its time may be over while what could not be written of it is written.
TEST_F(KeptJobsFaultTest, JobExpiresOnceItsEndIsWritten) {
  const test::TestDirectory directory;
  KeptJobs jobs(directory.path(), test::key_of_jobs(), kNoTime);
  const SharedJob job = jobs.add("job", kInput);
  jobs->begin(*job);
  arm(Fault::NoSpace, 1);
  EXPECT_TRUE(jobs->finish(*job, KeptJobs::result(kOutput)));
  disarm();
  ASSERT_EQ(jobs->unwritten("bob"), 1u);
  std::uint64_t syncs = 0;
  bool is_inside = false;
  after_syncs([&] {
    EXPECT_FALSE(is_inside) << "two threads could write it at a time";
    if (std::exchange(is_inside, true)) return;
    ++syncs;
    jobs->write_again();
    EXPECT_TRUE(jobs->expire().empty());
    EXPECT_EQ(jobs->find("bob", "job"), job);
    is_inside = false;
  });
  jobs->write_again();
  after_syncs({});
  EXPECT_GT(syncs, 0u);
  EXPECT_EQ(jobs->unwritten("bob"), 0u);
  jobs->expire();
  EXPECT_EQ(jobs->find("bob", "job"), nullptr);
  EXPECT_TRUE(fs::is_empty(directory / "jobs"));
}

TEST_F(KeptJobsFaultTest, SurvivesPowerCutAtEveryCall) {
  const test::TestDirectory root;
  const fs::path place = root / "disk", image = root / "image";
  fs::create_directory(place);
  std::mt19937_64 rng(1);
  const Disk::Chance oldest = [](std::size_t) { return 0; };
  const Disk::Chance newest = [](std::size_t states) { return states - 1; };
  const Disk::Chance any = [&](std::size_t states) { return rng() % states; };
  Progress progress;
  Disk* disk = nullptr;
  std::uint64_t cuts = 0;
  const auto cut = [&] {
    ++cuts;
    for (const auto& chance : {oldest, newest, any, any, any}) {
      if (HasFailure()) return;
      SCOPED_TRACE("power cut before call " + std::to_string(cuts));
      disk->after_power_cut(image, chance);
      check(image, progress, true);
      fs::remove_all(image);
    }
  };
  Disk observed(place, cut);
  disk = &observed;
  observe(&observed);
  live(place, progress);
  observe(nullptr);
  cut();
  EXPECT_TRUE(progress.is_forgotten);
  EXPECT_GT(cuts, 15u);
}

}  // namespace
}  // namespace tinyot::faults
