// A job that one party cannot store is refused at both before anything of it is begun, whatever its
// amount is. This executable defines statvfs in place of the C library, so that a party's disk is
// as full as a test wants it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "tests/support/two_threads.h"

namespace {

std::mutex disk_mutex;
std::string full_directory;  // below which the disk is full
std::uint64_t free_bytes;

}  // namespace

extern "C" int statvfs(const char* path, struct statvfs* result) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const int status = ::fstatvfs(file, result);
  ::close(file);
  const std::lock_guard lock(disk_mutex);
  if (status == 0 && !full_directory.empty() && std::string(path).starts_with(full_directory))
    result->f_bavail = free_bytes / result->f_frsize;
  return status;
}

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kUnit = 1 << 10, kAnds = 1 << 15, kBytesFree = 1 << 20;

struct CountsJobs final : Observer {
  void began(std::uint64_t, std::uint64_t) override { ++jobs; }
  std::atomic<int> jobs = 0;
};

// Each party has its store in a directory that is a disk of its own.
class DiskSpace : public ::testing::TestWithParam<Party> {
 protected:
  DiskSpace() {
    for (const Party party : {Party::A, Party::B})
      std::filesystem::create_directory(disk_of(party));
  }
  ~DiskSpace() override { set_full(""); }

  Party full() const { return GetParam(); }
  std::filesystem::path disk_of(Party party) const {
    return directory_ / std::string(1, letter(party));
  }
  std::filesystem::path store_of(Party party) const { return disk_of(party) / "store"; }
  static void set_full(const std::string& directory, std::uint64_t bytes = kBytesFree) {
    const std::lock_guard lock(disk_mutex);
    full_directory = directory;
    free_bytes = bytes;
  }

  PreprocessRequest request_of(Party party, Amount amount, std::uint64_t ands) const {
    PreprocessRequest request{
        .party = party, .endpoint = endpoints_.of(party), .store = store_of(party)};
    request.parameters.profile = Profile::Fast;
    request.parameters.unit = kUnit;
    request.amount = amount;
    request.ands = ands;
    request.inputs = 64;
    return request;
  }
  using Change = std::function<void(Party, PreprocessRequest&)>;
  void make(Amount amount, std::uint64_t ands, const Change& change = {}) const {
    both([&](Party party) {
      PreprocessRequest request = request_of(party, amount, ands);
      if (change) change(party, request);
      preprocess(request);
    });
  }
  // The party whose disk is full says so, the other one that its peer's is; neither begins the job.
  void expect_refused(Amount amount, std::uint64_t ands, const Change& change = {}) const {
    set_full(disk_of(full()));
    both([&](Party party) {
      PreprocessRequest request = request_of(party, amount, ands);
      if (change) change(party, request);
      CountsJobs observer;
      try {
        preprocess(request, &observer);
        ADD_FAILURE() << "not refused";
      } catch (const DiskFull& error) {
        EXPECT_EQ(party, full()) << error.what();
        EXPECT_NE(std::string(error.what()).find("disk full: the material to be made takes up to "),
                  std::string::npos)
            << error.what();
      } catch (const Disagreement& error) {
        EXPECT_NE(party, full()) << error.what();
        EXPECT_NE(std::string(error.what()).find("the peer cannot store the material"),
                  std::string::npos)
            << error.what();
      }
      EXPECT_EQ(observer.jobs, 0);
    });
    set_full("");
  }
  void expect_no_stores() const {
    for (const Party party : {Party::A, Party::B}) {
      EXPECT_FALSE(std::filesystem::exists(store_of(party)));
      EXPECT_FALSE(std::filesystem::exists(disk_of(party) / "session"));
    }
  }
  // Nothing has changed since `before`: no unit was begun, and no job recorded.
  void expect_as_before(const std::vector<StoreInfo>& before) const {
    const std::vector<StoreInfo> now = infos();
    for (std::size_t party = 0; party < now.size(); ++party) {
      EXPECT_EQ(now[party].state, before[party].state);
      EXPECT_EQ(now[party].units_made, before[party].units_made);
      EXPECT_EQ(now[party].security.outstanding, before[party].security.outstanding);
      EXPECT_EQ(now[party].left(), before[party].left());
    }
  }
  std::vector<StoreInfo> infos() const {
    return {store_info(store_of(Party::A)), store_info(store_of(Party::B))};
  }

  TestDirectory directory_;
  Endpoints endpoints_;
};

INSTANTIATE_TEST_SUITE_P(OfEitherParty, DiskSpace, ::testing::Values(Party::A, Party::B),
                         [](const auto& party) { return std::string(1, letter(party.param)); });

TEST_P(DiskSpace, NewStoreIsRefused) {
  for (const Amount amount : {Amount::Total, Amount::Left}) expect_refused(amount, kAnds);
  expect_refused(Amount::Total, 2 * kAnds, [&](Party party, PreprocessRequest& request) {
    request.session = disk_of(party) / "session";
    request.shards = 2;
  });
  expect_no_stores();
}

TEST_P(DiskSpace, GrowthIsRefused) {
  make(Amount::Total, kUnit);
  const std::vector<StoreInfo> before = infos();
  expect_refused(Amount::More, kAnds);
  expect_refused(Amount::Left, kAnds);
  expect_as_before(before);
  EXPECT_EQ(before[0].state, StoreState::Complete);
  make(Amount::Left, 2 * kUnit);
  EXPECT_EQ(infos()[0].ands_left, 2 * kUnit);
}

TEST_P(DiskSpace, RestOfJobIsRefused) {
  for (const Amount amount : {Amount::Total, Amount::Left}) {
    both([&](Party party) {
      std::stop_source stop;
      struct StopsAfterUnit final : Observer {
        explicit StopsAfterUnit(std::stop_source source) : stop(std::move(source)) {}
        void advanced(std::uint64_t unit, std::uint64_t, std::string_view, std::uint64_t,
                      std::uint64_t) override {
          if (unit == 1) stop.request_stop();
        }
        std::stop_source stop;
      } observer(stop);
      preprocess(request_of(party, amount, kAnds), &observer, stop.get_token());
    });
    const std::vector<StoreInfo> before = infos();
    ASSERT_EQ(before[0].state, StoreState::Open);
    ASSERT_GT(before[0].units_made, 0u);
    const auto resumed = [](Party, PreprocessRequest& request) { request.resume = true; };
    expect_refused(amount, kAnds, resumed);
    expect_as_before(before);
    make(amount, kAnds, resumed);
    EXPECT_EQ(infos()[0].ands_left, kAnds);
    for (const Party party : {Party::A, Party::B}) std::filesystem::remove_all(store_of(party));
  }
}

// The space that is asked for is enough, and not much more than is used.
TEST_P(DiskSpace, AsksForWhatIsUsed) {
  make(Amount::Total, kAnds);
  const std::uint64_t used = infos()[0].bytes;
  for (const Party party : {Party::A, Party::B}) std::filesystem::remove_all(store_of(party));
  set_full(disk_of(full()), used - 1);
  EXPECT_THROW(make(Amount::Total, kAnds), Error);
  set_full(disk_of(full()), used + used / 8 + (4 << 20));
  make(Amount::Total, kAnds);
}

// A peer that is not there does not change the reason.
TEST_P(DiskSpace, IsReasonWithoutPeer) {
  set_full(disk_of(full()));
  PreprocessRequest request = request_of(full(), Amount::Left, kAnds);
  const Timeouts timeouts{.connect = std::chrono::milliseconds(200)};
  request.endpoint = full() == Party::A ? Endpoint::listen(free_address(), timeouts)
                                        : Endpoint::connect(free_address(), timeouts);
  EXPECT_THROW(preprocess(request), DiskFull);
  expect_no_stores();
}

}  // namespace
}  // namespace tinyot
