// What the daemon answers: its failures as return codes, and answers that it never gives.
#include "module_test.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

class ReplyTest : public ModuleTest {
 protected:
  v1::SocketReply sealed(const std::string& nonce, const std::string& text,
                         const std::string& tag) {
    v1::SocketReply reply;
    reply.mutable_encrypt()->set_nonce(nonce);
    reply.mutable_encrypt()->set_ciphertext(text);
    reply.mutable_encrypt()->set_tag(tag);
    return reply;
  }
  // Of an encryption of four bytes that gets this answer. Nothing is given out unless it is CKR_OK.
  CK_RV code_for(const FakeDaemon::Answer& answer) {
    daemon_.answer_with(answer);
    Gcm gcm;
    EXPECT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files_), CKR_OK);
    std::string out(32, '#');
    CK_ULONG size = out.size();
    const CK_RV code =
        module_->C_Encrypt(session_, data_of(text_), text_.size(), data_of(out), &size);
    if (code != CKR_OK) {
      EXPECT_EQ(out, std::string(32, '#'));
      EXPECT_EQ(gcm.nonce, std::string(12, '\0'));
      // The operation has ended.
      EXPECT_EQ(module_->C_EncryptFinal(session_, data_of(out), &size),
                CKR_OPERATION_NOT_INITIALIZED);
    }
    daemon_.answer_with({});
    return code;
  }
  void SetUp() override {
    ModuleTest::SetUp();
    files_ = key("files");
  }

  const std::string text_ = "text";
  CK_OBJECT_HANDLE files_ = 0;
};

TEST_F(ReplyTest, FailuresHaveReturnCodes) {
  const std::map<std::uint32_t, CK_RV> kCodes = {
      {3, CKR_DATA_LEN_RANGE},              // INVALID_ARGUMENT
      {4, CKR_FUNCTION_REJECTED},           // DEADLINE_EXCEEDED
      {5, CKR_KEY_HANDLE_INVALID},          // NOT_FOUND
      {7, CKR_KEY_FUNCTION_NOT_PERMITTED},  // PERMISSION_DENIED
      {8, CKR_DEVICE_MEMORY},               // RESOURCE_EXHAUSTED
      {9, CKR_KEY_FUNCTION_NOT_PERMITTED},  // FAILED_PRECONDITION
      {10, CKR_DEVICE_ERROR},               // ABORTED: the peer cheated
      {12, CKR_DEVICE_ERROR},               // UNIMPLEMENTED
      {13, CKR_DEVICE_ERROR},               // INTERNAL
      {14, CKR_DEVICE_ERROR},               // UNAVAILABLE
      {99, CKR_DEVICE_ERROR},
  };
  for (const auto& [status, code] : kCodes) {
    v1::SocketReply reply = sealed("nonce-of-12b", "xxxx", std::string(16, 't'));
    reply.set_code(status);
    reply.set_message("why");
    EXPECT_EQ(code_for([&](const auto&) { return reply.SerializeAsString(); }), code) << status;
  }
}

TEST_F(ReplyTest, OtherReplyThanExpectedIsDeviceError) {
  const std::string nonce = "nonce-of-12b", tag(16, 't');
  const auto code = [&](const v1::SocketReply& reply) {
    return code_for([&](const auto&) { return reply.SerializeAsString(); });
  };
  EXPECT_EQ(code(sealed(nonce, "xxxx", tag)), CKR_OK);
  EXPECT_EQ(code(sealed(nonce, "xxx", tag)), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed(nonce, std::string(100'000, 'x'), tag)), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed(nonce, "", tag)), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed("nonce", "xxxx", tag)), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed(nonce + "x", "xxxx", tag)), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed(nonce, "xxxx", "")), CKR_DEVICE_ERROR);
  EXPECT_EQ(code(sealed(nonce, "xxxx", tag + "t")), CKR_DEVICE_ERROR);
  EXPECT_EQ(code({}), CKR_DEVICE_ERROR);
  v1::SocketReply other;
  other.mutable_decrypt()->set_is_valid(true);
  EXPECT_EQ(code(other), CKR_DEVICE_ERROR);
}

TEST_F(ReplyTest, NonceOfCallerIsTheOneThatWasUsed) {
  const CK_OBJECT_HANDLE iv = key("iv");
  const v1::SocketReply reply = sealed("other-nonce!", "xxxx", std::string(16, 't'));
  daemon_.answer_with([&](const auto&) { return reply.SerializeAsString(); });
  Gcm gcm("nonce-of-12b");
  EXPECT_EQ(encrypt(module_, session_, iv, gcm, text_).code, CKR_DEVICE_ERROR);
}

TEST_F(ReplyTest, TextAndTagHaveTheirLengths) {
  const CK_OBJECT_HANDLE cmac = key("cmac");
  v1::SocketReply reply;
  reply.mutable_decrypt()->set_is_valid(true);
  reply.mutable_decrypt()->set_plaintext("longer");
  daemon_.answer_with([&](const auto&) { return reply.SerializeAsString(); });
  Gcm gcm;
  EXPECT_EQ(decrypt(module_, session_, files_, gcm, std::string(20, 's')).code, CKR_DEVICE_ERROR);
  reply.mutable_decrypt()->set_is_valid(false);
  reply.mutable_decrypt()->set_plaintext("four");
  EXPECT_EQ(decrypt(module_, session_, files_, gcm, std::string(20, 's')).code,
            CKR_ENCRYPTED_DATA_INVALID);
  reply.mutable_sign()->set_tag(std::string(15, 't'));
  EXPECT_EQ(sign(module_, session_, cmac, CKM_AES_CMAC, text_).code, CKR_DEVICE_ERROR);
  reply.mutable_sign()->set_tag(std::string(32, 't'));
  EXPECT_EQ(sign(module_, session_, cmac, CKM_AES_CMAC, text_).code, CKR_DEVICE_ERROR);
  reply.mutable_sign()->set_tag(std::string(16, 't'));
  EXPECT_EQ(sign(module_, session_, cmac, CKM_AES_CMAC, text_).code, CKR_OK);
  // No answer is not the answer no.
  EXPECT_EQ(verify(module_, session_, cmac, CKM_AES_CMAC, text_, std::string(16, 't')),
            CKR_DEVICE_ERROR);
}

TEST_F(ReplyTest, MalformedRepliesAreDeviceErrors) {
  using namespace std::string_literals;
  const std::string kMessages[] = {
      "\x08"s,                                          // a tag without its number
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s,  // a number without an end
      "\x22"s,                                          // bytes without a length
      "\x22\x05xx"s,                                    // fewer bytes than they say
      "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // and far fewer
      "\x0b\x0c"s,                                      // a group
      "\x0f\x01"s,                                      // no such type
      "\x22\x04\x12\x7fxx"s,                            // in the message inside
      "\x0d\x01\x02"s,                                  // too short for 32 bits
      "\x09\x01\x02"s,                                  // for 64 bits
  };
  for (const std::string& message : kMessages)
    EXPECT_EQ(code_for([&](const auto&) { return message; }), CKR_DEVICE_ERROR)
        << &message - kMessages;
  v1::SocketReply reply = sealed("nonce-of-12b", "xxxx", std::string(16, 't'));
  EXPECT_EQ(code_for([&](const auto&) { return reply.SerializeAsString() + "\x0b\x0c"; }),
            CKR_DEVICE_ERROR);
  // Fields of a later version are no error.
  EXPECT_EQ(code_for([&](const auto&) {
              return "\x9d\x06\x01\x02\x03\x04\x99\x06"s + "12345678"s + "\xa2\x06\x02xx"s +
                     reply.SerializeAsString();
            }),
            CKR_OK);
}

TEST_F(ReplyTest, RepliesHaveAtMost16MiB) {
  const v1::SocketReply reply = sealed("nonce-of-12b", "xxxx", std::string(16, 't'));
  // A field of a later version fills it up.
  std::string message = "\xa2\x06" + std::string("\xf0\xff\xff\x07");
  const std::size_t padding = (16 << 20) - message.size() - reply.ByteSizeLong();
  message[2] = static_cast<char>(0x80 | (padding & 0x7f));
  message[3] = static_cast<char>(0x80 | (padding >> 7 & 0x7f));
  message[4] = static_cast<char>(0x80 | (padding >> 14 & 0x7f));
  message[5] = static_cast<char>(padding >> 21);
  message += std::string(padding, 'p') + reply.SerializeAsString();
  ASSERT_EQ(message.size(), 16u << 20);
  EXPECT_EQ(code_for([&](const auto&) { return message; }), CKR_OK);
  message += std::string("\x10\x01");
  EXPECT_EQ(code_for([&](const auto&) { return message; }), CKR_DEVICE_ERROR);
}

TEST_F(ReplyTest, BrokenConnectionIsDeviceError) {
  using namespace std::string_literals;
  EXPECT_EQ(code_for([](const auto&) { return std::nullopt; }), CKR_DEVICE_ERROR);
  for (const std::string& raw : {""s, "\0"s, "\0\0\0\4"s, "\0\0\0\4xxx"s, "\xff\xff\xff\xff"s,
                                 "\x01\0\0\1"s + std::string(100, 'x')}) {
    daemon_.send_raw(raw);
    EXPECT_EQ(code_for({}), CKR_DEVICE_ERROR) << raw.size();
  }
}

// As with too many connections. The text is more than a socket holds, so that sending it fails.
TEST_F(ReplyTest, RefusalWithoutRequestHasItsCode) {
  v1::SocketReply reply;
  reply.set_code(8);
  daemon_.refuse_with(reply);
  for (int i = 0; i < 20; ++i) {
    Gcm gcm(std::string(12, '\0'), std::string(65536, 'a'));
    EXPECT_EQ(encrypt(module_, session_, files_, gcm, std::string(65536, 'x')).code,
              CKR_DEVICE_MEMORY);
  }
}

TEST_F(ReplyTest, DaemonRestartedBetweenInitAndFinal) {
  Gcm gcm;
  std::string out(64, '\0');
  CK_ULONG size = out.size();
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files_), CKR_OK);
  daemon_.stop();
  ASSERT_EQ(module_->C_EncryptUpdate(session_, data_of(text_), 4, data_of(out), &size), CKR_OK);
  daemon_.start();
  size = out.size();
  ASSERT_EQ(module_->C_EncryptFinal(session_, data_of(out), &size), CKR_OK);
  EXPECT_EQ(out.substr(0, size), openssl_seal(std::string(32, 'a'), gcm.nonce, "", text_));
  // Not there at the end: the operation is over, the session is not.
  gcm.nonce.assign(12, '\0');
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files_), CKR_OK);
  daemon_.stop();
  size = out.size();
  EXPECT_EQ(module_->C_Encrypt(session_, data_of(text_), 4, data_of(out), &size), CKR_DEVICE_ERROR);
  daemon_.start();
  EXPECT_EQ(encrypt(module_, session_, files_, gcm, text_).code, CKR_OK);
}

}  // namespace
}  // namespace tinyot::test
