// Jobs on the disk: what a later process finds of them, and what nobody finds once they have been
// begun, have ended or have been forgotten.
#include "tests/service/kept_jobs.h"

#include <sys/stat.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "service/job_message.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using service::Jobs;
using service::JobState;
using service::SharedJob;

class KeptJobsTest : public ::testing::Test {
 protected:
  fs::path file_of(const std::string& id) const { return dir_ / "jobs" / (id + ".job"); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(dir_ / "jobs"))
      names.insert(file.path().filename().string());
    return names;
  }
  // Whether a table of keys has any.
  bool has_keys() const {
    const std::string table = read_file(dir_ / "job.keys");
    return table.find_first_not_of('\0', 128) != std::string::npos;
  }
  // The failure of the only job.
  std::string failure_later() const {
    const KeptJobs later(dir_);
    EXPECT_EQ(later.restored().size(), 1u);
    return later.restored().empty() ? "" : later.failure();
  }
  static void flip(const fs::path& file, std::size_t at) {
    std::string bytes = read_file(file);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    write_file(file, bytes);
  }

  const TestDirectory directory_;
  const fs::path dir_ = directory_.path();
};

TEST_F(KeptJobsTest, WaitingJobWaitsAgain) {
  std::chrono::system_clock::time_point submitted;
  {
    KeptJobs jobs(dir_);
    const SharedJob job = jobs.add("first", 7);
    submitted = jobs->status(*job).submitted_at;
    jobs.add("second", 8);
  }
  KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 2u);
  const SharedJob job = later->find("bob", "first");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(later->status(*job).state, JobState::WaitingForPeer);
  EXPECT_EQ(later.input_of(*job), 7u);
  EXPECT_EQ(later.input_of(*later->find("bob", "second")), 8u);
  EXPECT_EQ(job->request().terms.circuit(), "millionaires");
  EXPECT_EQ(job->ands(), 32u);
  EXPECT_LT(std::chrono::abs(later->status(*job).submitted_at - submitted),
            std::chrono::milliseconds(1));
  EXPECT_THROW(later.add("first"), Jobs::Refusal);
}

TEST_F(KeptJobsTest, CircuitFileIsReadAgain) {
  const std::string text = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
  { KeptJobs(dir_).add("job", 1, text); }
  const KeptJobs later(dir_);
  ASSERT_EQ(later.failure(), "");
  const SharedJob job = later.restored().front().job;
  EXPECT_EQ(job->request().circuit_bytes, text.size());
  EXPECT_EQ(job->ands(), 1u);
}

TEST_F(KeptJobsTest, ResultIsFetchedLater) {
  service::JobStatus before;
  {
    KeptJobs jobs(dir_);
    const SharedJob job = jobs.add("job");
    jobs->begin(*job);
    ASSERT_TRUE(jobs->finish(*job, KeptJobs::result(1)));
    before = jobs->status(*job);
  }
  KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 1u);
  EXPECT_EQ(later.failure(), "");
  const SharedJob job = later.restored().front().job;
  const service::JobStatus status = later->status(*job);
  EXPECT_EQ(status.state, JobState::Done);
  EXPECT_EQ(status.session, before.session);
  EXPECT_EQ(status.phase, OnlinePhase::Garbled);
  EXPECT_EQ(status.half_round_trips, before.half_round_trips);
  EXPECT_TRUE(status.was_prepared);
  EXPECT_EQ(status.evaluation_s, 0.5);
  EXPECT_EQ(job->ands(), 32u);
  EXPECT_EQ(later->outputs(*job).integer("a_has_more"), 1u);
  ASSERT_EQ(job->outputs().size(), 1u);
  EXPECT_EQ(job->outputs().front().name, "a_has_more");
  EXPECT_EQ(job->outputs().front().bits, 1u);
  EXPECT_EQ(job->outputs().front().format, circuit::ValueFormat::Integer);
  EXPECT_FALSE(later->cancel(*job));
  EXPECT_THROW(later.add("job"), Jobs::Refusal);
}

TEST_F(KeptJobsTest, FailureAndCancellationStay) {
  {
    KeptJobs jobs(dir_);
    jobs->fail(*jobs.add("failed"), {ErrorClass::Disagreement, "the terms differ"});
    jobs->cancel(*jobs.add("cancelled"));
  }
  KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 2u);
  const service::JobStatus failed = later->status(*later->find("bob", "failed"));
  EXPECT_EQ(failed.state, JobState::Failed);
  EXPECT_EQ(failed.error.error_class, ErrorClass::Disagreement);
  EXPECT_EQ(failed.error.message, "the terms differ");
  EXPECT_EQ(later->status(*later->find("bob", "cancelled")).state, JobState::Cancelled);
}

TEST_F(KeptJobsTest, JobThatHasBegunIsNotRepeated) {
  {
    KeptJobs jobs(dir_);
    jobs->begin(*jobs.add("job"));
  }
  {
    KeptJobs later(dir_);
    EXPECT_NE(later.failure().find("stopped after the job had begun"), std::string::npos);
    const SharedJob job = later.restored().front().job;
    EXPECT_EQ(later->inputs(*job), nullptr);
    EXPECT_EQ(job->ands(), 32u);  // as before
    later->fail(*job, *later.restored().front().failure);
  }
  // It is not news the next time, and still the id of a job.
  KeptJobs last(dir_);
  EXPECT_EQ(last.failure(), "");
  EXPECT_EQ(last->status(*last.restored().front().job).state, JobState::Failed);
  EXPECT_THROW(last.add("job"), Jobs::Refusal);
}

// Whoever has taken the files before and the keys after, as in a backup.
class CopiedJobsTest : public KeptJobsTest {
 protected:
  void copy_job() { fs::copy_file(file_of("job"), copy_.path() / "job"); }
  // The job's file from before, with the keys of now.
  void put_back() {
    fs::remove(file_of("job"));
    fs::copy_file(copy_.path() / "job", file_of("job"));
  }
  // All keys that are in the table now.
  std::vector<crypto::SealKey> keys_left() const {
    SessionId owner;
    const std::string peer = "bob";
    const crypto::SealKey hash =
        crypto::derive_key(std::as_bytes(std::span(peer)), {}, "TinyOT jobs with a peer");
    std::memcpy(owner.bytes.data(), hash.bytes.data(), owner.bytes.size());
    const storage::KeyTable table(dir_ / "job.keys", owner, key_of_jobs());
    std::vector<crypto::SealKey> keys;
    for (std::uint64_t slot = 1; slot < table.slots_end(); ++slot)
      if (!table.is_erased(slot)) keys.push_back(table.key(slot, "a job"));
    return keys;
  }
  const TestDirectory copy_;
};

TEST_F(CopiedJobsTest, InputsCannotBeReadOnceTheJobHasBegun) {
  {
    KeptJobs jobs(dir_);
    const SharedJob job = jobs.add("job");
    copy_job();
    jobs->begin(*job);
    jobs->finish(*job, KeptJobs::result(1));
  }
  put_back();
  KeptJobs later(dir_);
  EXPECT_NE(later.failure().find("had begun"), std::string::npos) << later.failure();
  EXPECT_EQ(later->inputs(*later.restored().front().job), nullptr);
}

// Nor with any key that is still in the table.
TEST_F(CopiedJobsTest, NoKeyThatIsLeftOpensTheInputsOfAJobThatHasBegun) {
  for (const bool has_begun : {false, true}) {
    {
      KeptJobs jobs(dir_);
      const SharedJob job = jobs.add("job");
      fs::remove(copy_.path() / "job");
      copy_job();
      if (has_begun) jobs->begin(*job);
    }
    const service::SealedJob sealed(copy_.path() / "job");
    service::record::Job record;
    record.add_values()->set_name("a");
    record.mutable_values(0)->set_lanes(1);
    record.mutable_values(0)->set_bits(32);
    std::size_t keys = 0, open_inputs = 0;
    for (const crypto::SealKey& key : keys_left()) {
      ++keys;
      try {
        EXPECT_EQ(sealed.open_values(record, key).integer("a"), 5u);
        ++open_inputs;
      } catch (const StoreError&) {
      }
    }
    EXPECT_EQ(keys, has_begun ? 1u : 2u);
    EXPECT_EQ(open_inputs, has_begun ? 0u : 1u);
    fs::remove_all(dir_ / "jobs");
    fs::remove(dir_ / "job.keys");
  }
}

TEST_F(CopiedJobsTest, NothingCanBeReadOnceTheJobIsForgotten) {
  {
    KeptJobs jobs(dir_);
    const SharedJob job = jobs.add("job");
    jobs->finish(*job, KeptJobs::result(1));
    copy_job();
    jobs->forget(*job);
    EXPECT_FALSE(has_keys());
    EXPECT_TRUE(files().empty());
  }
  put_back();
  const KeptJobs later(dir_);
  EXPECT_TRUE(later.restored().empty());
  EXPECT_TRUE(files().empty()) << "a file without a key stays";
}

// Nor with the keys of the job that came after it.
TEST_F(CopiedJobsTest, KeysOfLaterJobsDoNotOpenIt) {
  {
    KeptJobs jobs(dir_);
    const SharedJob job = jobs.add("job");
    copy_job();
    jobs->forget(*job);
    jobs.add("other", 9);
  }
  put_back();
  KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 2u);
  for (const auto& [job, failure] : later.restored()) {
    if (job->id() == "other")
      EXPECT_EQ(later.input_of(*job), 9u);
    else
      EXPECT_NE(failure.value().message.find("lost"), std::string::npos);
  }
}

TEST_F(CopiedJobsTest, JobsThatExpireAreErased) {
  {
    KeptJobs jobs(dir_, key_of_jobs(),
                  {100, 1 << 20, std::chrono::seconds(600), std::chrono::seconds(0)});
    const SharedJob done = jobs.add("job"), waiting = jobs.add("waiting");
    jobs->finish(*done, KeptJobs::result(1));
    copy_job();
    EXPECT_TRUE(jobs->expire().empty());
    EXPECT_EQ(jobs->find("bob", "job"), nullptr);
    jobs->cancel(*waiting);
    jobs->expire();
    EXPECT_FALSE(has_keys());
  }
  put_back();
  EXPECT_TRUE(KeptJobs(dir_).restored().empty());
}

// The time during which no daemon runs counts.
TEST_F(KeptJobsTest, TimesGoOn) {
  using std::chrono::seconds;
  {
    KeptJobs jobs(dir_);
    jobs.add("waiting");
    jobs->finish(*jobs.add("done"), KeptJobs::result(1));
  }
  KeptJobs later(dir_, key_of_jobs(), {100, 1 << 20, seconds(0), seconds(0)});
  const std::vector<SharedJob> late = later->expire();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late.front()->id(), "waiting");
  EXPECT_EQ(later->find("bob", "done"), nullptr);
  EXPECT_EQ(files(), std::set<std::string>{"waiting.job"});
}

// A restart gives no job its time anew.
TEST_F(KeptJobsTest, TimesOfEarlierProcessesCount) {
  constexpr double kEarlier_s = 601;  // than the limits of 600 s allow
  {
    KeptJobs jobs(dir_);
    for (const char* const age : {"old", "new"}) {
      jobs.add(age + std::string("-waiting"));
      jobs->finish(*jobs.add(age + std::string("-done")), KeptJobs::result(1));
    }
  }
  {
    service::JobFiles files(dir_, "bob", key_of_jobs());
    for (service::JobFiles::Kept& kept : files.load()) {
      if (!kept.id.starts_with("old")) continue;
      kept.job.set_submitted_at_s(kept.job.submitted_at_s() - kEarlier_s);
      if (kept.job.has_ended()) {
        kept.job.set_ended_at_s(kept.job.ended_at_s() - kEarlier_s);
        EXPECT_TRUE(files.end(kept.number, kept.id, kept.job, kept.values));
        continue;
      }
      files.remove(std::array{service::JobFiles::Place{kept.id, kept.number}});
      files.add(kept.job, kept.circuit_file, kept.values);
    }
  }
  KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 4u);
  const std::vector<SharedJob> late = later->expire();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late.front()->id(), "old-waiting");
  EXPECT_EQ(files(), (std::set<std::string>{"new-done.job", "new-waiting.job", "old-waiting.job"}));
}

// A clock that was ahead, and has been set back, gives no job more time.
TEST_F(KeptJobsTest, TimesInTheFutureAreNow) {
  using std::chrono::seconds;
  constexpr double kAhead_s = 1e6;
  {
    KeptJobs jobs(dir_);
    jobs.add("waiting");
    jobs->finish(*jobs.add("done"), KeptJobs::result(1));
  }
  {
    service::JobFiles files(dir_, "bob", key_of_jobs());
    for (service::JobFiles::Kept& kept : files.load()) {
      kept.job.set_submitted_at_s(kept.job.submitted_at_s() + kAhead_s);
      if (kept.job.has_ended()) {
        kept.job.set_ended_at_s(kept.job.ended_at_s() + kAhead_s);
        EXPECT_TRUE(files.end(kept.number, kept.id, kept.job, kept.values));
        continue;
      }
      files.remove(std::array{service::JobFiles::Place{kept.id, kept.number}});
      files.add(kept.job, kept.circuit_file, kept.values);
    }
  }
  KeptJobs later(dir_, key_of_jobs(), {100, 1 << 20, seconds(0), seconds(0)});
  const std::vector<SharedJob> late = later->expire();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late.front()->id(), "waiting");
  EXPECT_EQ(later->find("bob", "done"), nullptr);
}

TEST_F(KeptJobsTest, NoIdIsTheNameOfAnotherFile) {
  const std::set<std::string> ids = {"a", "a.job", "a.job.new", "job.keys", "a.new", "jobs"};
  {
    KeptJobs jobs(dir_);
    for (const std::string& id : ids) jobs.add(id);
  }
  std::set<std::string> found;
  const KeptJobs later(dir_);
  for (const auto& [job, failure] : later.restored()) {
    EXPECT_FALSE(failure.has_value());
    found.insert(job->id());
  }
  EXPECT_EQ(found, ids);
}

TEST_F(KeptJobsTest, FilesAreThoseOfTheOwnerAlone) {
  KeptJobs(dir_).add("job");
  for (const fs::path& path : {file_of("job"), dir_ / "job.keys"}) {
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u) << path;
  }
  EXPECT_EQ(fs::status(dir_ / "jobs").permissions(), fs::perms::owner_all);
}

TEST_F(KeptJobsTest, NothingIsReadableInTheFiles) {
  const std::uint64_t number = 0x71727374;
  {
    KeptJobs jobs(dir_);
    jobs.add("waiting", number);
    service::JobResult result = KeptJobs::result(1);
    result.outputs.set("text", std::uint64_t{0x7576777871727374});
    jobs->finish(*jobs.add("done", number), std::move(result));
  }
  for (const fs::path& path : {file_of("waiting"), file_of("done"), dir_ / "job.keys"}) {
    const std::string bytes = read_file(path);
    for (const char* secret : {"tsrq", "millionaires", "a_has_more"})
      EXPECT_EQ(bytes.find(secret), std::string::npos) << path << secret;
  }
}

// Once a job has ended, one key seals all parts of its file.
TEST_F(KeptJobsTest, NonceSealsOnce) {
  constexpr std::size_t kNoncesAt = 48, kHeaderBytes = 72;
  std::set<std::string> nonces;
  std::size_t seals = 0;
  const auto note = [&] {
    const std::string header = read_file(file_of("job")).substr(0, kHeaderBytes);
    for (std::size_t at = kNoncesAt; at < kHeaderBytes; at += sizeof(crypto::SealNonce), ++seals)
      nonces.insert(header.substr(at, sizeof(crypto::SealNonce)));
  };
  KeptJobs jobs(dir_);
  for (int i = 0; i < 8; ++i) {
    const SharedJob job = jobs.add("job");
    note();
    jobs->begin(*job);
    if (i % 2 == 0)
      jobs->finish(*job, KeptJobs::result(1));
    else
      jobs->cancel(*job);
    note();
    jobs->forget(*job);
  }
  EXPECT_EQ(seals, 32u);
  EXPECT_EQ(nonces.size(), seals);
}

TEST_F(KeptJobsTest, EveryChangedByteIsFound) {
  { KeptJobs(dir_).add("job"); }
  const std::string bytes = read_file(file_of("job")), table = read_file(dir_ / "job.keys");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    write_file(dir_ / "job.keys", table);
    write_file(file_of("job"), bytes);
    flip(file_of("job"), at);
    const KeptJobs later(dir_);
    // The number of its keys may be that of a job that has been forgotten.
    const bool is_number = at >= 16 && at < 24;
    if (is_number && later.restored().empty()) continue;
    ASSERT_EQ(later.restored().size(), 1u) << at;
    EXPECT_NE(later.failure().find("the job is lost"), std::string::npos) << at;
    EXPECT_NE(later.failure().find(file_of("job").string()), std::string::npos) << at;
  }
}

TEST_F(KeptJobsTest, TruncatedAndForeignFilesLoseOneJobOnly) {
  {
    KeptJobs jobs(dir_);
    for (const char* id : {"cut", "empty", "foreign", "whole"}) jobs.add(id);
  }
  fs::resize_file(file_of("cut"), fs::file_size(file_of("cut")) - 1);
  fs::resize_file(file_of("empty"), 0);
  fs::remove(file_of("foreign"));
  fs::copy_file(file_of("whole"), file_of("foreign"));
  write_file(dir_ / "jobs" / "note", "not a job");
  KeptJobs later(dir_);
  EXPECT_EQ(later.restored().size(), 4u);
  for (const auto& [job, failure] : later.restored()) {
    EXPECT_EQ(failure.has_value(), job->id() != "whole") << job->id();
    if (failure) later->fail(*job, *failure);
  }
  EXPECT_TRUE(fs::exists(dir_ / "jobs" / "note"));
  // What is lost is reported until it is forgotten.
  KeptJobs last(dir_);
  EXPECT_EQ(last.restored().size(), 4u);
  for (const auto& [job, failure] : last.restored()) {
    EXPECT_FALSE(failure.has_value()) << job->id();
    last->forget(*job);
  }
  EXPECT_EQ(files(), std::set<std::string>{"note"});
  EXPECT_FALSE(has_keys());
}

TEST_F(KeptJobsTest, FileThatIsLongerThanItSaysIsRefused) {
  { KeptJobs(dir_).add("job"); }
  write_file(file_of("job"), read_file(file_of("job")) + "x");
  EXPECT_NE(failure_later().find("is longer than it says"), std::string::npos);
}

// Its name is none that a job may have.
TEST_F(KeptJobsTest, FileWithoutAnIdIsLeftAlone) {
  { KeptJobs(dir_).add("job"); }
  for (const char* const name : {"a b.job", ".job", "..job.new", "a b.job.new"})
    write_file(dir_ / "jobs" / name, "not a job");
  const KeptJobs later(dir_);
  EXPECT_EQ(later.restored().size(), 1u);
  EXPECT_EQ(files(),
            (std::set<std::string>{"job.job", "a b.job", ".job", "..job.new", "a b.job.new"}));
}

TEST_F(KeptJobsTest, WhatCannotBeRemovedIsToldOf) {
  { KeptJobs(dir_).add("job"); }
  fs::create_directory(dir_ / "jobs" / "other.job.new");
  EXPECT_THROW(KeptJobs{dir_}, StoreError);
  EXPECT_TRUE(fs::exists(file_of("job")));
}

// Of outputs, their format is kept: a client prints them as the circuit says.
TEST_F(KeptJobsTest, FormatsOfOutputsAreKept) {
  using circuit::ValueFormat;
  service::record::Job record;
  for (const ValueFormat format :
       {ValueFormat::Bytes, ValueFormat::Integer, ValueFormat::MsbInteger}) {
    record.add_values()->set_format(std::string(name_of(format)));
    EXPECT_EQ(service::outputs_from(record).back().format, format);
  }
}

// Such as by a program that wipes keys: the jobs have gone, and new ones are kept.
TEST_F(KeptJobsTest, TableOfKeysThatWasErasedIsMadeAnew) {
  { KeptJobs(dir_).add("job"); }
  storage::KeyTable::erase_file(dir_ / "job.keys");
  {
    KeptJobs later(dir_);
    EXPECT_TRUE(later.restored().empty());
    later.add("new");
  }
  KeptJobs last(dir_);
  ASSERT_EQ(last.restored().size(), 1u);
  EXPECT_EQ(last.restored().front().job->id(), "new");
  EXPECT_EQ(last.failure(), "");
}

// What a file says of its values is compared with what it has.
TEST_F(KeptJobsTest, ValuesAreThoseOfTheRecord) {
  const crypto::SealKey key = crypto::derive_key(std::vector<std::byte>(32), {}, "a test");
  Values values;
  values.set("a", LaneMatrix(2, 9));
  std::uint64_t ones = 0x1ff;
  LaneMatrix full(1, 9);
  ASSERT_TRUE(full.assign(0, std::as_bytes(std::span(&ones, 1)).first(2)));
  values.set("b", std::move(full));
  service::record::Job record;
  service::add_bundles(values, record);
  const auto bytes = service::seal_job(7, record, "file", values, key, key);
  write_file(dir_ / "sealed", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const service::SealedJob sealed(dir_ / "sealed");
  EXPECT_EQ(sealed.number(), 7u);
  EXPECT_EQ(sealed.open(key).circuit_file, "file");
  EXPECT_EQ(sealed.open_values(record, key).integer("b"), 0x1ffu);
  const auto refuses = [&](const std::function<void(service::record::Job&)>& change) {
    service::record::Job other = record;
    change(other);
    try {
      (void)sealed.open_values(other, key);
    } catch (const StoreError& error) {
      return std::string(error.what()).find("of another version") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refuses([](auto& of) { of.mutable_values(0)->set_lanes(1); }));
  EXPECT_TRUE(refuses([](auto& of) { of.mutable_values(1)->set_lanes(2); }));
  EXPECT_TRUE(refuses([](auto& of) { of.mutable_values(0)->set_lanes(std::uint64_t{1} << 60); }));
  EXPECT_TRUE(refuses([](auto& of) { of.mutable_values(1)->set_bits(8); }));
  EXPECT_TRUE(refuses([](auto& of) { of.mutable_values()->RemoveLast(); }));
  // Of nothing there may be any number.
  EXPECT_FALSE(refuses([](auto& of) {
    auto& nothing = *of.add_values();
    nothing.set_name("c");
    nothing.set_lanes(3);
  }));
}

TEST_F(KeptJobsTest, ChangedKeyLosesItsJobOnly) {
  {
    KeptJobs jobs(dir_);
    jobs.add("first");
    jobs.add("second");
  }
  flip(dir_ / "job.keys", 128 + 64 + 20);  // slot 1, of the first job
  const KeptJobs later(dir_);
  ASSERT_EQ(later.restored().size(), 2u);
  for (const auto& [job, failure] : later.restored())
    EXPECT_EQ(failure.has_value(), job->id() == "first") << job->id();
}

TEST_F(KeptJobsTest, OtherKeysAndPeersAreRefused) {
  { KeptJobs(dir_).add("job"); }
  const auto refusal = [&](const std::string& peer, const StoreKey& key) -> std::string {
    try {
      service::JobFiles(dir_, peer, key);
    } catch (const StoreError& error) {
      return error.what();
    }
    return {};
  };
  for (const std::string& why : {refusal("bob", key_of_jobs('x')), refusal("carol", key_of_jobs())})
    EXPECT_NE(why.find("remove " + (dir_ / "job.keys").string()), std::string::npos) << why;
  EXPECT_THROW(service::JobFiles::check(dir_, "bob", {}), StoreError);
  EXPECT_THROW(service::JobFiles::check(dir_, "bob", key_of_jobs('x')), StoreError);
  service::JobFiles::check(dir_, "bob", key_of_jobs());
  EXPECT_EQ(failure_later(), "");
  // Without the keys, the jobs are gone.
  fs::remove(dir_ / "job.keys");
  EXPECT_TRUE(KeptJobs(dir_).restored().empty());
  EXPECT_TRUE(files().empty());
}

TEST_F(KeptJobsTest, KeysWithoutAFileAreErased) {
  {
    KeptJobs jobs(dir_);
    jobs.add("job");
    jobs.add("stays");
  }
  fs::rename(file_of("job"), dir_ / "jobs" / "job.job.new");
  {
    const KeptJobs later(dir_);
    ASSERT_EQ(later.restored().size(), 1u);
    EXPECT_EQ(files(), std::set<std::string>{"stays.job"});
  }
  KeptJobs last(dir_);
  last->forget(*last.restored().front().job);
  EXPECT_FALSE(has_keys());
}

TEST_F(KeptJobsTest, PlacesOfKeysAreUsedAgain) {
  KeptJobs jobs(dir_);
  for (int i = 0; i < 20; ++i) {
    const SharedJob first = jobs.add("first"), second = jobs.add("second");
    jobs->forget(*first);
    jobs->forget(*second);
  }
  EXPECT_LE(fs::file_size(dir_ / "job.keys"), 128u + 5 * 64);
}

TEST_F(KeptJobsTest, JobsOfEarlierProcessesCountForTheLimits) {
  {
    KeptJobs jobs(dir_);
    jobs.add("first");
    jobs.add("second");
  }
  KeptJobs later(dir_, key_of_jobs(),
                 {2, 1 << 20, std::chrono::seconds(600), std::chrono::seconds(600)});
  EXPECT_THROW(later.add("third"), Jobs::Refusal);
  later->forget(*later->find("bob", "first"));
  later.add("third");
}

// A restart makes no room.
TEST_F(KeptJobsTest, JobsOfEarlierProcessesTakeAsManyBytes) {
  constexpr std::uint64_t kMost = 1 << 20;
  const auto free = [](Jobs& jobs) {
    std::uint64_t fits = 0, too_many = kMost + 1;
    while (fits + 1 < too_many) {
      service::JobRequest probe;
      probe.id = "probe";
      probe.peer = "carol";
      probe.inputs = std::make_shared<const Values>();
      probe.circuit_bytes = (fits + too_many) / 2;
      try {
        jobs.forget(*jobs.add(std::move(probe)));
        fits = (fits + too_many) / 2;
      } catch (const Jobs::Refusal&) {
        too_many = (fits + too_many) / 2;
      }
    }
    return fits;
  };
  const std::string text = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
  std::uint64_t left = 0;
  {
    KeptJobs jobs(dir_);
    EXPECT_EQ(free(*jobs), kMost);
    jobs.add("waiting", 1, text);
    const std::uint64_t beside_one = free(*jobs);
    EXPECT_LT(beside_one, kMost - text.size());
    jobs->finish(*jobs.add("done"), KeptJobs::result(1));
    left = free(*jobs);
    EXPECT_LT(left, beside_one);
  }
  KeptJobs later(dir_);
  EXPECT_EQ(free(*later), left);
  for (const std::string id : {"waiting", "done"}) later->forget(*later->find("bob", id));
  EXPECT_EQ(free(*later), kMost);
}

// A circuit that this version makes otherwise is not evaluated in place of the one submitted.
TEST_F(KeptJobsTest, AnotherCircuitOfTheNameIsRefused) {
  {
    KeptJobs jobs(dir_);
    service::JobOrigin origin;
    origin.job.set_id("job");
    origin.job.set_circuit("millionaires:bits=16");
    service::JobRequest request;
    request.id = "job";
    request.peer = "bob";
    request.circuit = *engine::LoadedCircuit::generated("millionaires", 1);
    request.terms = service::terms_of(*request.circuit);
    request.inputs = std::make_shared<const Values>();
    jobs->add(std::move(request), origin);
  }
  EXPECT_NE(failure_later().find("no longer that of the job"), std::string::npos);
}

// Several threads at once, as those of clients and workers.
TEST_F(KeptJobsTest, ThreadsDoNotDisturbEachOther) {
  std::map<std::string, JobState> told;
  {
    KeptJobs jobs(dir_);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&jobs, thread] {
        for (int i = 0; i < 10; ++i) {
          const std::string id = std::to_string(thread) + "." + std::to_string(i);
          const SharedJob job = jobs.add(id, static_cast<std::uint64_t>(thread));
          std::jthread canceller([&] { jobs->cancel(*job); });
          jobs->begin(*job);
          jobs->keep_result(*job, KeptJobs::result(1));
          jobs->finish(*job, KeptJobs::result(1));
          canceller.join();
          EXPECT_TRUE(service::has_ended(jobs->status(*job).state));
          if (i % 2 == 0) jobs->forget(*job);
        }
      });
    threads.clear();
    EXPECT_EQ(files().size(), 20u);
    for (int thread = 0; thread < 4; ++thread)
      for (int i = 1; i < 10; i += 2) {
        const std::string id = std::to_string(thread) + "." + std::to_string(i);
        told[id] = jobs->status(*jobs->find("bob", id)).state;
      }
  }
  KeptJobs later(dir_);
  EXPECT_EQ(later.restored().size(), 20u);
  for (const auto& [job, failure] : later.restored()) {
    EXPECT_FALSE(failure.has_value()) << job->id();
    EXPECT_EQ(later->status(*job).state, told.at(job->id())) << job->id();
  }
}

}  // namespace
}  // namespace tinyot::test
