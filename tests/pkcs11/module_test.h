// Tests of the module with a daemon that answers as they say.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "fake_daemon.h"
#include "loaded_module.h"
#include "tests/support/files.h"

namespace tinyot::test {

// The names of return codes would need a table; tests compare numbers.
class ModuleTest : public ::testing::Test {
 protected:
  ModuleTest() { ::setenv("TINYOT_PKCS11_SOCKET", socket_.c_str(), 1); }

  // With keys of peer "bob", and one of "carol".
  void SetUp() override {
    aead_ = daemon_.add("bob", "files", "aead", "aes256", std::string(32, 'a')).shown.id();
    daemon_.add("bob", "iv", "aead", "aes128", std::string(16, 'b')).shown.set_nonces("caller");
    daemon_.add("bob", "cmac", "mac", "aes128", std::string(16, 'c'));
    daemon_.add("bob", "hmac", "mac", "hmac_sha256", std::string(32, 'd'));
    daemon_.add("bob", "kdf", "kdf", "aes256", std::string(32, 'e'));
    daemon_.add("carol", "theirs", "aead", "aes256", std::string(32, 'f'));
    ASSERT_EQ(module_->C_Initialize(nullptr), CKR_OK);
    ASSERT_EQ(slots_of(module_).size(), 2u);
    session_ = open_session(module_);
  }
  void TearDown() override { module_->C_Finalize(nullptr); }

  CK_OBJECT_HANDLE key(const std::string& label) {
    const CK_OBJECT_HANDLE found = key_labelled(module_, session_, label);
    EXPECT_NE(found, 0u) << label;
    return found;
  }

  const TestDirectory directory_;
  const std::string socket_ = (directory_ / "socket").string();
  FakeDaemon daemon_{socket_};
  LoadedModule module_;
  CK_SESSION_HANDLE session_ = 0;
  std::string aead_;  // id of "files"
};

}  // namespace tinyot::test
