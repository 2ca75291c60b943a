#include "storage/session_file.h"

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kReference = 128;

SessionFile test_session() {
  SessionFile session;
  session.manifest = test_manifest(Party::B);
  session.global_key = kTestDelta;
  session.reference.bits_a = test_batch(MaterialKind::AuthBitsA, Party::B, 0, kReference);
  session.reference.bits_b = test_batch(MaterialKind::AuthBitsB, Party::B, 7, kReference);
  return session;
}

StoreKey key_of(char letter) {
  return StoreKey(std::vector<std::byte>(32, static_cast<std::byte>(letter)));
}

class SessionFileTest : public StoreTest {
 protected:
  std::filesystem::path file_ = root_ / "session";
};

TEST_F(SessionFileTest, RoundTripKeepsEveryField) {
  for (const std::optional<StoreKey>& key :
       {std::optional<StoreKey>(), std::optional<StoreKey>(key_of('k'))}) {
    std::filesystem::remove(file_);
    write_session_file(file_, test_session(), key);
    SessionFile session = read_session_file(file_, key);
    EXPECT_EQ(session.manifest, test_manifest(Party::B));
    EXPECT_EQ(session.global_key.value.lo, kTestDelta.value.lo);
    EXPECT_EQ(session.global_key.value.hi, kTestDelta.value.hi);
    EXPECT_TRUE(holds(std::move(session.reference.bits_a), MaterialKind::AuthBitsA, Party::B, 0,
                      kReference));
    EXPECT_TRUE(holds(std::move(session.reference.bits_b), MaterialKind::AuthBitsB, Party::B, 7,
                      kReference));
    EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0600));
  }
}

TEST_F(SessionFileTest, DoesNotReplaceExistingFile) {
  write_session_file(file_, test_session(), {});
  const std::string before = read_file(file_);
  EXPECT_TRUE(
      mentions(message_of([&] { write_session_file(file_, test_session(), {}); }), "exists"));
  EXPECT_EQ(read_file(file_), before);
}

TEST_F(SessionFileTest, DoesNotFollowLeftoverLink) {
  write_private_file(root_ / "elsewhere", "not a session's");
  std::filesystem::create_symlink(root_ / "elsewhere", root_ / "session.new");
  write_session_file(file_, test_session(), {});
  EXPECT_EQ(read_file(root_ / "elsewhere"), "not a session's");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file_)));
  EXPECT_EQ(read_session_file(file_, {}).manifest, test_manifest(Party::B));
}

TEST_F(SessionFileTest, DetectsFlippedBitsAndTruncation) {
  write_session_file(file_, test_session(), {});
  const std::string bytes = read_file(file_);
  for (std::size_t at = 0; at < bytes.size(); at += at < 80 ? 1 : 97) {
    for (const int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      write_private_file(file_, flipped);
      EXPECT_THROW((void)read_session_file(file_, {}), StoreError)
          << "byte " << at << " bit " << bit;
    }
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, std::size_t{56}, bytes.size() - 1}) {
    write_private_file(file_, bytes.substr(0, size));
    EXPECT_THROW((void)read_session_file(file_, {}), StoreError) << "cut to " << size;
  }
}

TEST_F(SessionFileTest, OtherFormatNamesBothAndWhatToDo) {
  write_session_file(file_, test_session(), {});
  const std::string bytes = read_file(file_);
  constexpr std::size_t kVersionAt = 8;
  for (const auto& [version, action] :
       {std::pair<char, std::string>{2, "start a new session"},
        std::pair<char, std::string>{4, "use the version that made the file"}}) {
    std::string other = bytes;
    other[kVersionAt] = version;
    write_private_file(file_, other);
    EXPECT_EQ(message_of([&] { (void)read_session_file(file_, {}); }),
              "the session file " + file_.string() + " has format " + std::to_string(version) +
                  "; this version reads format 3: " + action);
  }
}

TEST_F(SessionFileTest, RejectsSuperfluousKey) {
  write_session_file(file_, test_session(), {});
  EXPECT_TRUE(mentions(message_of([&] { (void)read_session_file(file_, key_of('k')); }),
                       "is not sealed under a store key"));
  EXPECT_EQ(remedy_of([&] { (void)read_session_file(file_, key_of('k')); }), Remedy::OmitStoreKey);
}

TEST_F(SessionFileTest, RequiresKeyAndPrivateMode) {
  write_session_file(file_, test_session(), key_of('k'));
  EXPECT_TRUE(mentions(message_of([&] { (void)read_session_file(file_, {}); }),
                       "sealed under a store key"));
  EXPECT_EQ(remedy_of([&] { (void)read_session_file(file_, {}); }), Remedy::GiveStoreKey);
  EXPECT_TRUE(
      mentions(message_of([&] { (void)read_session_file(file_, key_of('o')); }), "does not open"));
  std::filesystem::permissions(file_, std::filesystem::perms(0640));
  EXPECT_TRUE(mentions(message_of([&] { (void)read_session_file(file_, key_of('k')); }),
                       "open to other users"));
}

}  // namespace
}  // namespace tinyot
