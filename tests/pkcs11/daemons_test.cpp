// The module with the daemons of two parties: outputs are OpenSSL's, and failures have their codes.
// TINYOT_PKCS11_CALLS and TINYOT_PKCS11_SECONDS set the size of the longer runs (doc/testing.md).
#include <signal.h>

#include <atomic>
#include <future>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "loaded_module.h"
#include "tests/service/custody_daemons.h"
#include "tests/support/from_environment.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

class ModuleWithDaemonsTest : public CustodyTest {
 protected:
  ModuleWithDaemonsTest() { ::setenv("TINYOT_PKCS11_SOCKET", socket_.c_str(), 1); }
  ~ModuleWithDaemonsTest() override { module_->C_Finalize(nullptr); }

  void start_module(CustodySetup setup = {}) {
    setup.daemon_a = "\npkcs11 { socket: '" + socket_ + "' }";
    start_custody(setup);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(module_->C_Initialize(nullptr), CKR_OK);
  }
  void open() {
    ASSERT_EQ(slots_of(module_).size(), 1u);
    session_ = open_session(module_);
  }
  CK_OBJECT_HANDLE import(const std::string& label, const std::string& key_class,
                          const std::string& algorithm, const std::string& bytes) {
    const auto made = keys_b_->import(label, key_class, algorithm, bytes);
    EXPECT_TRUE(made.status.ok()) << made.status.error_message();
    CK_OBJECT_HANDLE object = 0;
    // Active at this party, too.
    EXPECT_TRUE(
        becomes_true([&] { return (object = key_labelled(module_, session_, label)) != 0; }));
    return object;
  }

  const std::string socket_ = (dir_ / "pkcs11.socket").string();
  LoadedModule module_;
  CK_SESSION_HANDLE session_ = 0;
};

std::string random_text(std::mt19937_64& random, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

TEST_F(ModuleWithDaemonsTest, OutputsAreThoseOfOpenSsl) {
  CustodySetup setup;
  setup.ands = "1000000";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  std::mt19937_64 random(from_environment("TINYOT_SEED", 20261126));
  struct ImportedKey {
    std::string bytes;
    bool is_hmac = false;
    CK_OBJECT_HANDLE object = 0;
  };
  std::vector<ImportedKey> seals, macs;
  for (const std::size_t bytes : {16, 32}) {
    const std::string algorithm = bytes == 16 ? "aes128" : "aes256";
    for (const std::string key_class : {"aead", "mac"}) {
      ImportedKey key{random_text(random, bytes)};
      key.object = import(key_class + algorithm, key_class, algorithm, key.bytes);
      (key_class == "aead" ? seals : macs).push_back(key);
    }
  }
  macs.push_back({random_text(random, 32), true});
  macs.back().object = import("hmac", "mac", "hmac_sha256", macs.back().bytes);
  ASSERT_FALSE(HasFailure());

  const std::uint64_t calls = from_environment("TINYOT_PKCS11_CALLS", 10);
  std::set<std::string> nonces;
  std::vector<std::chrono::microseconds> times;
  std::uint64_t again = 0;
  // Without material, or while the stock is filled up, a call may be repeated.
  const auto insist = [&](const auto& call) {
    Result result{CKR_DEVICE_ERROR, {}};
    EXPECT_TRUE(becomes_true([&] {
      const auto begun = std::chrono::steady_clock::now();
      result = call();
      times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - begun));
      if (result.code == CKR_DEVICE_ERROR) ++again;
      return result.code != CKR_DEVICE_ERROR && result.code != CKR_DEVICE_MEMORY;
    }));
    return result;
  };
  for (std::uint64_t i = 0; i < calls && !HasFailure(); ++i) {
    const std::string text = random_text(random, random() % 70);
    if (i % 2 == 0) {
      const ImportedKey& key = seals[i / 2 % seals.size()];
      const std::string aad = random_text(random, random() % 20);
      Gcm gcm(std::string(12, '\0'), aad);
      const Result sealed =
          insist([&] { return encrypt(module_, session_, key.object, gcm, text); });
      ASSERT_EQ(sealed.code, CKR_OK);
      EXPECT_EQ(sealed.text, openssl_seal(key.bytes, gcm.nonce, aad, text));
      EXPECT_TRUE(nonces.insert(gcm.nonce).second) << "a nonce twice";
      std::string changed = sealed.text;
      const bool is_changed = random() % 4 == 0;
      if (is_changed) changed[random() % changed.size()] ^= 1;
      const Result opened =
          insist([&] { return decrypt(module_, session_, key.object, gcm, changed); });
      EXPECT_EQ(opened.code, is_changed ? CKR_ENCRYPTED_DATA_INVALID : CKR_OK);
      EXPECT_EQ(opened.text, is_changed ? "" : text);
    } else {
      const ImportedKey& key = macs[i / 2 % macs.size()];
      const CK_MECHANISM_TYPE type = key.is_hmac ? CKM_SHA256_HMAC : CKM_AES_CMAC;
      const Result tag = insist([&] { return sign(module_, session_, key.object, type, text); });
      ASSERT_EQ(tag.code, CKR_OK);
      EXPECT_EQ(tag.text,
                key.is_hmac ? openssl_hmac(key.bytes, text) : openssl_cmac(key.bytes, text));
      std::string changed = tag.text;
      const bool is_changed = random() % 4 == 0;
      if (is_changed) changed[random() % changed.size()] ^= 1;
      EXPECT_EQ(insist([&]() -> Result {
                  return {verify(module_, session_, key.object, type, text, changed), {}};
                }).code,
                is_changed ? CKR_SIGNATURE_INVALID : CKR_OK);
    }
  }
  std::ranges::sort(times);
  std::cout << times.size() << " calls, " << again << " repeated: p50 "
            << times[times.size() / 2].count() / 1000.0 << " ms, p99 "
            << times[times.size() * 99 / 100].count() / 1000.0 << " ms\n";
}

TEST_F(ModuleWithDaemonsTest, GeneratedKeyIsThatOfBothParties) {
  start_module();
  open();
  ASSERT_FALSE(HasFatalFailure());
  const std::string label = "made", id = "its id";
  CK_BBOOL yes = CK_TRUE;
  CK_ULONG bytes = 16;
  CK_ATTRIBUTE attributes[] = {{CKA_TOKEN, &yes, sizeof yes},
                               {CKA_LABEL, data_of(label), label.size()},
                               {CKA_ID, data_of(id), id.size()},
                               {CKA_VALUE_LEN, &bytes, sizeof bytes},
                               {CKA_ENCRYPT, &yes, sizeof yes}};
  CK_MECHANISM generation{CKM_AES_KEY_GEN, nullptr, 0};
  CK_OBJECT_HANDLE key = 0;
  ASSERT_EQ(module_->C_GenerateKey(session_, &generation, attributes, 5, &key), CKR_OK);
  const auto shown = keys_b_->show(label);
  ASSERT_TRUE(shown.status.ok()) << shown.status.error_message();
  EXPECT_EQ(shown.key.algorithm(), "aes128");
  EXPECT_EQ(shown.key.cka_id(), id);
  Gcm gcm(std::string(12, '\0'), "about");
  const Result sealed = encrypt(module_, session_, key, gcm, "text");
  ASSERT_EQ(sealed.code, CKR_OK);
  v1::EncryptReply same;
  same.set_nonce(gcm.nonce);
  same.set_ciphertext(sealed.text.substr(0, 4));
  same.set_tag(sealed.text.substr(4));
  EXPECT_EQ(keys_b_->decrypt(label, same, "about").reply.plaintext(), "text");
  EXPECT_EQ(find(module_, session_, {{CKA_ID, data_of(id), id.size()}}), std::vector{key});
  // After its rotation the label means the next one; the old one decrypts.
  const auto rotated = keys_a_->named(&v1::Keys::Stub::Rotate, label);
  ASSERT_TRUE(rotated.status.ok()) << rotated.status.error_message();
  const CK_OBJECT_HANDLE next = key_labelled(module_, session_, label);
  EXPECT_NE(next, key);
  EXPECT_EQ(decrypt(module_, session_, key, gcm, sealed.text).text, "text");
  EXPECT_EQ(encrypt(module_, session_, key, gcm, "text").code, CKR_MECHANISM_PARAM_INVALID)
      << "the nonce that was filled in is no request for another";
  Gcm other;
  EXPECT_EQ(encrypt(module_, session_, key, other, "text").code, CKR_KEY_FUNCTION_NOT_PERMITTED);
  EXPECT_EQ(encrypt(module_, session_, next, other, "text").code, CKR_OK);
}

TEST_F(ModuleWithDaemonsTest, CallerChoosesNonces) {
  CustodySetup setup;
  setup.policy_a = "allow { user: 'ME' key: '*' may: [CREATE, ENCRYPT, DECRYPT] nonces: CALLER }";
  setup.policy_b = "allow { peer: true key: '*' may: [CREATE, ENCRYPT, DECRYPT] nonces: CALLER }";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  const auto made = keys_a_->create("iv", "aead", "aes128", "caller");
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  const CK_OBJECT_HANDLE key = key_labelled(module_, session_, "iv");
  Gcm gcm("nonce-of-12b");
  const Result sealed = encrypt(module_, session_, key, gcm, "text");
  ASSERT_EQ(sealed.code, CKR_OK);
  EXPECT_EQ(decrypt(module_, session_, key, gcm, sealed.text).text, "text");
  EXPECT_EQ(encrypt(module_, session_, key, gcm, "text").text, sealed.text);
}

TEST_F(ModuleWithDaemonsTest, RefusalsHaveTheirCodes) {
  CustodySetup setup;
  setup.rights_a = "MANAGE_KEYS";
  setup.policy_b = kAll + std::string("allow { peer: true key: 'other' may: [CREATE] }");
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE, SIGN] }\n"
      "allow { user: 'ME' key: 'asks' may: [VERIFY] approval: true }";
  setup.custody_a = "approval_timeout_s: 1";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  for (const std::string label : {"asks", "other"})
    ASSERT_TRUE(keys_a_->create(label, "mac").status.ok());
  const auto restart = [&](const std::string& rights) {
    ASSERT_EQ(a_->stop().status, 0);
    std::string conf = read_file(a_->configuration());
    const std::size_t at = conf.find("RESUME, ") + 8;
    conf.replace(at, conf.find(']', at) - at, rights);
    write_file(a_->configuration(), conf);
    a_->start();
  };
  const CK_OBJECT_HANDLE asks = key_labelled(module_, session_, "asks"),
                         other = key_labelled(module_, session_, "other");
  const std::string tag(16, 't');
  const auto code = [&](CK_OBJECT_HANDLE key) {
    return verify(module_, session_, key, CKM_AES_CMAC, "text", tag);
  };
  EXPECT_EQ(code(asks), CKR_KEY_FUNCTION_NOT_PERMITTED) << "without the right to use keys";
  restart("USE_KEYS, MANAGE_KEYS");
  ASSERT_TRUE(is_stocked());
  EXPECT_EQ(code(other), CKR_KEY_FUNCTION_NOT_PERMITTED) << "no rule of this party";
  EXPECT_EQ(code(asks), CKR_FUNCTION_REJECTED) << "nobody approved";
  EXPECT_EQ(sign(module_, session_, other, CKM_AES_CMAC, std::string(5000, 'x')).code,
            CKR_KEY_FUNCTION_NOT_PERMITTED)
      << "longer than the rule's bytes_max";
  ASSERT_TRUE(keys_a_->named(&v1::Keys::Stub::Suspend, "other").status.ok());
  EXPECT_EQ(sign(module_, session_, other, CKM_AES_CMAC, "text").code,
            CKR_KEY_FUNCTION_NOT_PERMITTED)
      << "suspended";
  b_->kill();
  EXPECT_TRUE(becomes_true([&] {
    return sign(module_, session_, asks, CKM_AES_CMAC, "text").code == CKR_DEVICE_ERROR;
  })) << "not connected";
  // Without a right the client sees no token, and no error.
  restart("SUBMIT");
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  ASSERT_EQ(module_->C_Initialize(nullptr), CKR_OK);
  EXPECT_TRUE(slots_of(module_).empty());
}

// As on the other interface: an officer sees all keys, others those that a rule names for them.
TEST_F(ModuleWithDaemonsTest, WhoIsNoOfficerSeesTheKeysOfItsRulesAlone) {
  CustodySetup setup;
  setup.rights_a = "USE_KEYS";
  setup.policy_a =
      "allow { user: 'ME' key: 'mine' may: [SIGN] }\n"
      "allow { peer: true key: '*' may: [IMPORT] }";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  const std::string bytes(16, 'k');
  ASSERT_TRUE(keys_b_->import("others", "mac", "aes128", bytes).status.ok());
  ASSERT_NE(import("mine", "mac", "aes128", bytes), 0u);
  EXPECT_EQ(key_labelled(module_, session_, "others"), 0u);
}

// It may be repeated, which no officer's word may.
TEST_F(ModuleWithDaemonsTest, WithoutMaterialItIsTheDevice) {
  CustodySetup setup;
  setup.custody_a = "request_timeout_s: 2";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  const CK_OBJECT_HANDLE key = import("key", "mac", "hmac_sha256", std::string(32, 'k'));
  CK_RV code = CKR_OK;
  const std::string text(200, 'x');
  EXPECT_TRUE(becomes_true([&] {
    code = sign(module_, session_, key, CKM_SHA256_HMAC, text).code;
    return code != CKR_OK;
  }));
  EXPECT_EQ(code, CKR_DEVICE_ERROR);
}

TEST_F(ModuleWithDaemonsTest, ProgramThatGoesCancelsItsRequest) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { user: 'ME' key: '*' may: [SIGN] approval: true }";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(keys_a_->create("key", "mac").status.ok());
  const CK_OBJECT_HANDLE key = key_labelled(module_, session_, "key");
  const auto begin = [&] {
    return std::thread([&] {
      EXPECT_EQ(sign(module_, session_, key, CKM_AES_CMAC, "text").code, CKR_DEVICE_ERROR);
    });
  };
  std::thread caller = begin();
  EXPECT_TRUE(becomes_true([&] { return keys_a_->waiting() == 1; }));
  EXPECT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  caller.join();
  EXPECT_TRUE(becomes_true([&] { return keys_a_->waiting() == 0; }));
  // The daemon's end is one of what waits, and is not kept waiting by it.
  ASSERT_EQ(module_->C_Initialize(nullptr), CKR_OK);
  open();
  ASSERT_EQ(key_labelled(module_, session_, "key"), 1u);
  caller = begin();
  EXPECT_TRUE(becomes_true([&] { return keys_a_->waiting() == 1; }));
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);
  caller.join();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

// What waits is given up, as that of a client of the other interface.
TEST_F(ModuleWithDaemonsTest, WhoHasLostTheRightWaitsNoLonger) {
  CustodySetup setup;
  setup.policy_a =
      "allow { user: 'ME' key: '*' may: [CREATE] }\n"
      "allow { user: 'ME' key: '*' may: [SIGN] approval: true }";
  start_module(setup);
  open();
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(keys_a_->create("key", "mac").status.ok());
  const CK_OBJECT_HANDLE key = key_labelled(module_, session_, "key");
  auto waiting = std::async(
      std::launch::async, [&] { return sign(module_, session_, key, CKM_AES_CMAC, "text").code; });
  ASSERT_TRUE(becomes_true([&] { return keys_a_->waiting() == 1; }));
  std::string configuration = read_file(a_->configuration());
  const std::string rights = "USE_KEYS, MANAGE_KEYS";
  configuration.replace(configuration.find(rights), rights.size(), "RESUME");
  write_file(a_->configuration(), configuration);
  ASSERT_EQ(::kill(a_->pid(), SIGHUP), 0);
  EXPECT_TRUE(becomes_true(
      [&] { return waiting.wait_for(std::chrono::seconds(0)) == std::future_status::ready; },
      std::chrono::seconds(60)));
  keys_a_.reset();
  EXPECT_EQ(a_->stop().status, 0);  // which ends what waits still
  EXPECT_EQ(waiting.get(), CKR_FUNCTION_REJECTED);
}

// Threads go on, and no result is wrong, while the daemon is killed and started again.
TEST_F(ModuleWithDaemonsTest, EightThreadsWhileDaemonRestarts) {
  start_module();
  open();
  ASSERT_FALSE(HasFatalFailure());
  const std::string bytes(16, 'k');
  const CK_OBJECT_HANDLE key = import("key", "mac", "aes128", bytes);
  const auto seconds = std::chrono::seconds(from_environment("TINYOT_PKCS11_SECONDS", 0));
  const auto until = std::chrono::steady_clock::now() + seconds;
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  keys_a_.reset();
  const auto before = descriptors();
  std::atomic<std::uint64_t> right = 0, failed = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      std::mt19937_64 random(static_cast<std::uint64_t>(i));
      const CK_SESSION_HANDLE session = open_session(module_);
      while (!is_over) {
        const std::string text = random_text(random, random() % 40);
        const Result tag = sign(module_, session, key, CKM_AES_CMAC, text);
        if (tag.code == CKR_OK) {
          EXPECT_EQ(tag.text, openssl_cmac(bytes, text));
          ++right;
          continue;
        }
        EXPECT_TRUE(tag.code == CKR_DEVICE_ERROR || tag.code == CKR_FUNCTION_REJECTED ||
                    tag.code == CKR_DEVICE_MEMORY || tag.code == CKR_KEY_FUNCTION_NOT_PERMITTED)
            << tag.code;
        ++failed;
        std::this_thread::yield();
      }
    });
  std::uint64_t restarts = 0;
  for (std::uint64_t seen = 0; restarts < 2 || std::chrono::steady_clock::now() < until;
       ++restarts) {
    EXPECT_TRUE(becomes_true([&] { return right >= seen + 3; })) << right << " " << failed;
    a_->kill();
    a_->start();
    seen = right;
  }
  EXPECT_TRUE(becomes_true([&, seen = right.load()] { return right > seen; }));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(descriptors(), before + 3) << "those of the last client of the interface";
  std::cout << right << " right, " << failed << " failed, " << restarts << " restarts\n";
}

}  // namespace
}  // namespace tinyot::test
