// The module in its program: threads, forks, the end and unloading.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <thread>

#include "module_test.h"
#include "system/descriptor.h"
#include "tests/support/becomes_true.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

class LifetimeTest : public ModuleTest {
 protected:
  static std::size_t descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
  }
  // The status of a child that does this.
  template <class Work>
  static int in_child(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  // Encrypts on a thread, whose call waits for the daemon until `released`.
  struct Waiting {
    std::thread thread;
    CK_RV code = CKR_OK;
  };
  void wait_in_call(Waiting& waiting, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE files) {
    waiting.thread = std::thread([&, session, files] {
      Gcm gcm;
      waiting.code = encrypt(module_, session, files, gcm, "text").code;
    });
  }
};

TEST_F(LifetimeTest, ArgumentsOfInitializeAreChecked) {
  EXPECT_EQ(module_->C_Initialize(nullptr), CKR_CRYPTOKI_ALREADY_INITIALIZED);
  EXPECT_EQ(module_->C_Finalize(this), CKR_ARGUMENTS_BAD);
  ASSERT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  EXPECT_EQ(module_->C_Finalize(nullptr), CKR_CRYPTOKI_NOT_INITIALIZED);
  CK_INFO info{};
  EXPECT_EQ(module_->C_GetInfo(&info), CKR_CRYPTOKI_NOT_INITIALIZED);
  CK_ULONG count = 0;
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, nullptr, &count), CKR_CRYPTOKI_NOT_INITIALIZED);
  CK_C_INITIALIZE_ARGS arguments{};
  arguments.pReserved = this;
  EXPECT_EQ(module_->C_Initialize(&arguments), CKR_ARGUMENTS_BAD);
  arguments.pReserved = nullptr;
  arguments.CreateMutex = [](void**) { return CK_RV{CKR_OK}; };
  EXPECT_EQ(module_->C_Initialize(&arguments), CKR_ARGUMENTS_BAD);
  arguments.DestroyMutex = arguments.LockMutex =
      arguments.UnlockMutex = [](void*) { return CK_RV{CKR_OK}; };
  EXPECT_EQ(module_->C_Initialize(&arguments), CKR_CANT_LOCK);
  arguments.flags = CKF_OS_LOCKING_OK;
  EXPECT_EQ(module_->C_Initialize(&arguments), CKR_OK);
  CK_SESSION_INFO session{};
  EXPECT_EQ(module_->C_GetSessionInfo(session_, &session), CKR_SESSION_HANDLE_INVALID)
      << "sessions end with the module";
}

TEST_F(LifetimeTest, ChildOfForkInitializesItself) {
  const CK_OBJECT_HANDLE files = key("files");
  EXPECT_EQ(in_child([&] {
              CK_INFO info{};
              CK_SESSION_HANDLE session = 0;
              Gcm gcm;
              if (module_->C_GetInfo(&info) != CKR_CRYPTOKI_NOT_INITIALIZED ||
                  module_->C_EncryptInit(session_, gcm.mechanism(), files) !=
                      CKR_CRYPTOKI_NOT_INITIALIZED ||
                  module_->C_Finalize(nullptr) != CKR_CRYPTOKI_NOT_INITIALIZED ||
                  module_->C_Initialize(nullptr) != CKR_OK ||
                  module_->C_Initialize(nullptr) != CKR_CRYPTOKI_ALREADY_INITIALIZED)
                return false;
              if (slots_of(module_).size() != 2) return false;
              session = open_session(module_);
              const CK_OBJECT_HANDLE own = key_labelled(module_, session, "files");
              return encrypt(module_, session, own, gcm, "text").code == CKR_OK &&
                     module_->C_Finalize(nullptr) == CKR_OK &&
                     in_child([&] { return module_->C_Initialize(nullptr) == CKR_OK; }) == 0;
            }),
            0);
  Gcm gcm;
  EXPECT_EQ(encrypt(module_, session_, files, gcm, "text").code, CKR_OK);
}

// Of locks that threads of the parent hold the child has no owner.
TEST_F(LifetimeTest, ForkWhileThreadsAreInside) {
  const CK_OBJECT_HANDLE files = key("files");
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const CK_SESSION_HANDLE session = open_session(module_);
      while (!is_over) {
        Gcm gcm;
        EXPECT_EQ(encrypt(module_, session, files, gcm, "text").code, CKR_OK);
      }
    });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(in_child([&] {
                CK_INFO info{};
                return module_->C_GetInfo(&info) == CKR_CRYPTOKI_NOT_INITIALIZED &&
                       module_->C_Initialize(nullptr) == CKR_OK &&
                       module_->C_GetInfo(&info) == CKR_OK &&
                       module_->C_Finalize(nullptr) == CKR_OK;
              }),
              0);
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

// Each with a session of its own, and all with one that they should not share.
TEST_F(LifetimeTest, EightThreads) {
  const CK_OBJECT_HANDLE files = key("files"), hmac = key("hmac");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 40; ++round) {
        const CK_SESSION_HANDLE session = open_session(module_);
        const std::string text = "thread " + std::to_string(i) + " " + std::to_string(round);
        Gcm gcm({std::string(12, '\0')}, text);
        const Result sealed = encrypt(module_, session, files, gcm, text);
        EXPECT_EQ(sealed.text, openssl_seal(std::string(32, 'a'), gcm.nonce, text, text));
        EXPECT_EQ(decrypt(module_, session, files, gcm, sealed.text).text, text);
        EXPECT_EQ(sign(module_, session, hmac, CKM_SHA256_HMAC, text).text,
                  openssl_hmac(std::string(32, 'd'), text));
        EXPECT_EQ(key_labelled(module_, session, "files"), files);
        // Any of these may fail, but for want of the operation alone.
        CK_MECHANISM mechanism{CKM_SHA256_HMAC, nullptr, 0};
        std::string tag(32, '\0');
        CK_ULONG size = tag.size();
        const CK_RV begun = module_->C_SignInit(session_, &mechanism, hmac);
        EXPECT_TRUE(begun == CKR_OK || begun == CKR_OPERATION_ACTIVE) << begun;
        const CK_RV ended = module_->C_Sign(session_, data_of(text), 4, data_of(tag), &size);
        EXPECT_TRUE(ended == CKR_OK || ended == CKR_OPERATION_NOT_INITIALIZED) << ended;
        EXPECT_EQ(module_->C_CloseSession(session), CKR_OK);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LifetimeTest, FinalizeEndsCallsThatWait) {
  constexpr std::size_t kCalls = 30;
  const CK_OBJECT_HANDLE files = key("files");
  std::vector<CK_SESSION_HANDLE> sessions(kCalls);
  for (CK_SESSION_HANDLE& session : sessions) session = open_session(module_);
  daemon_.forget_requests();
  std::promise<void> is_over;
  daemon_.answer_with([until = is_over.get_future().share()](const auto&) {
    until.wait();
    return std::nullopt;
  });
  const std::size_t before = descriptors();
  std::vector<Waiting> calls(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) wait_in_call(calls[i], sessions[i], files);
  EXPECT_TRUE(becomes_true([&] { return daemon_.requests().size() == kCalls; }));
  Waiting same_session;
  wait_in_call(same_session, sessions[0], files);  // behind the first
  EXPECT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  // Those of the daemon: it has waited until the calls were over.
  EXPECT_LE(descriptors(), before + kCalls);
  for (Waiting& call : calls) {
    call.thread.join();
    EXPECT_EQ(call.code, CKR_DEVICE_ERROR);
  }
  same_session.thread.join();
  EXPECT_NE(same_session.code, CKR_OK);
  is_over.set_value();
}

// A daemon that has stopped, and as many programs before this one as may wait for it.
TEST_F(LifetimeTest, FinalizeEndsCallsThatWaitToConnect) {
  const CK_OBJECT_HANDLE files = key("files");
  daemon_.stop();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  const system::Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), at, sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  std::vector<system::Descriptor> others;
  do others.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  while (::connect(others.back().get(), at, sizeof address) == 0);
  ASSERT_EQ(errno, EAGAIN);
  const std::size_t before = descriptors();
  Waiting waiting;
  wait_in_call(waiting, session_, files);
  EXPECT_TRUE(becomes_true([&] { return descriptors() > before; }));
  EXPECT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  waiting.thread.join();
  EXPECT_EQ(waiting.code, CKR_DEVICE_ERROR);
}

TEST_F(LifetimeTest, ClosedSessionFinishesItsCall) {
  const CK_OBJECT_HANDLE files = key("files");
  const CK_SESSION_HANDLE session = open_session(module_);
  daemon_.forget_requests();
  std::promise<void> is_closed;
  daemon_.answer_with(
      [&, until = is_closed.get_future().share()](const v1::SocketRequest& request) {
        until.wait();
        return daemon_.reply_to(request).SerializeAsString();
      });
  Waiting waiting;
  wait_in_call(waiting, session, files);
  EXPECT_TRUE(becomes_true([&] { return daemon_.requests().size() == 1; }));
  EXPECT_EQ(module_->C_CloseSession(session), CKR_OK);
  is_closed.set_value();
  waiting.thread.join();
  EXPECT_EQ(waiting.code, CKR_OK);
}

TEST_F(LifetimeTest, UnloadingLeavesNothingOpen) {
  ASSERT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  const std::size_t before = descriptors();
  for (int i = 0; i < 20; ++i)
    std::thread([&] {
      const LoadedModule own;
      // One more use of the same library, which the fixture has loaded.
      ASSERT_EQ(own->C_Initialize(nullptr), CKR_OK);
      ASSERT_EQ(slots_of(own).size(), 2u);
      const CK_SESSION_HANDLE session = open_session(own);
      Gcm gcm;
      EXPECT_EQ(encrypt(own, session, key_labelled(own, session, "files"), gcm, "text").code,
                CKR_OK);
      ASSERT_EQ(own->C_Finalize(nullptr), CKR_OK);
    }).join();
  // Those of the daemon's connections end soon.
  EXPECT_TRUE(becomes_true([&] { return descriptors() <= before; }));
}

TEST(UnloadingTest, LibraryIsReallyUnloaded) {
  const TestDirectory directory;
  const std::string socket = (directory / "socket").string();
  ::setenv("TINYOT_PKCS11_SOCKET", socket.c_str(), 1);
  FakeDaemon daemon(socket);
  daemon.add("bob", "files", "aead", "aes256", std::string(32, 'a'));
  for (int i = 0; i < 20; ++i) {
    {
      const LoadedModule module;
      ASSERT_EQ(module->C_Initialize(nullptr), CKR_OK);
      ASSERT_EQ(slots_of(module).size(), 1u);
      if (i % 2 == 0) {
        EXPECT_EQ(module->C_Finalize(nullptr), CKR_OK);
      }
    }
    EXPECT_EQ(::dlopen(TINYOT_PKCS11_MODULE, RTLD_NOW | RTLD_NOLOAD), nullptr);
  }
}

}  // namespace
}  // namespace tinyot::test
