// Uses of keys through the module: results, buffers and codes.
#include "module_test.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

class KeyTest : public ModuleTest {};

TEST_F(KeyTest, SealsUnderCoinsOfBothPartiesAndOpens) {
  const std::string text = "attack at dawn";
  Gcm gcm({}, "about");
  gcm.nonce = std::string(12, '\0');
  gcm.parameters.pIv = data_of(gcm.nonce);
  gcm.parameters.ulIvLen = 12;
  const Result sealed = encrypt(module_, session_, key("files"), gcm, text);
  ASSERT_EQ(sealed.code, CKR_OK);
  EXPECT_EQ(gcm.nonce, "coins1000001") << "the program needs the nonce";
  EXPECT_EQ(sealed.text, openssl_seal(std::string(32, 'a'), gcm.nonce, "about", text));
  const Result opened = decrypt(module_, session_, key("files"), gcm, sealed.text);
  ASSERT_EQ(opened.code, CKR_OK);
  EXPECT_EQ(opened.text, text);
}

TEST_F(KeyTest, SealsUnderNonceOfCaller) {
  Gcm gcm("nonce-of-12b");
  const Result sealed = encrypt(module_, session_, key("iv"), gcm, "text");
  ASSERT_EQ(sealed.code, CKR_OK);
  EXPECT_EQ(sealed.text, openssl_seal(std::string(16, 'b'), "nonce-of-12b", "", "text"));
  EXPECT_EQ(gcm.nonce, "nonce-of-12b");
  // Zeros are a nonce as any other.
  Gcm zeros;
  ASSERT_EQ(encrypt(module_, session_, key("iv"), zeros, "text").code, CKR_OK);
  EXPECT_EQ(daemon_.requests().back().encrypt().nonce(), std::string(12, '\0'));
}

TEST_F(KeyTest, EmptyTextIsText) {
  Gcm gcm;
  const Result sealed = encrypt(module_, session_, key("files"), gcm, "");
  ASSERT_EQ(sealed.code, CKR_OK);
  ASSERT_EQ(sealed.text.size(), 16u);
  EXPECT_EQ(decrypt(module_, session_, key("files"), gcm, sealed.text).code, CKR_OK);
  EXPECT_EQ(sign(module_, session_, key("cmac"), CKM_AES_CMAC, "").text,
            openssl_cmac(std::string(16, 'c'), ""));
}

TEST_F(KeyTest, SignsAndVerifies) {
  const struct {
    std::string label;
    CK_MECHANISM_TYPE type;
    std::string expected;
  } kCases[] = {{"cmac", CKM_AES_CMAC, openssl_cmac(std::string(16, 'c'), "message")},
                {"hmac", CKM_SHA256_HMAC, openssl_hmac(std::string(32, 'd'), "message")}};
  for (const auto& each : kCases) {
    const CK_OBJECT_HANDLE by = key(each.label);
    const Result tag = sign(module_, session_, by, each.type, "message");
    ASSERT_EQ(tag.code, CKR_OK);
    EXPECT_EQ(tag.text, each.expected);
    EXPECT_EQ(verify(module_, session_, by, each.type, "message", tag.text), CKR_OK);
    EXPECT_EQ(verify(module_, session_, by, each.type, "massage", tag.text), CKR_SIGNATURE_INVALID);
    daemon_.forget_requests();
    EXPECT_EQ(verify(module_, session_, by, each.type, "message", tag.text.substr(1)),
              CKR_SIGNATURE_LEN_RANGE);
    EXPECT_TRUE(daemon_.requests().empty()) << "a tag of another length takes no material";
  }
}

TEST_F(KeyTest, PartsAreOneText) {
  Gcm gcm;
  const CK_OBJECT_HANDLE files = key("files");
  std::string sealed;
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  daemon_.forget_requests();
  std::string part = "0123456789", out(100, '#');
  for (int i = 0; i < 3; ++i) {
    CK_ULONG size = 0;
    // The question for the size does not add the part.
    ASSERT_EQ(module_->C_EncryptUpdate(session_, data_of(part), part.size(), nullptr, &size),
              CKR_OK);
    EXPECT_EQ(size, part.size());
    size = out.size();
    ASSERT_EQ(module_->C_EncryptUpdate(session_, data_of(part), part.size(), data_of(out), &size),
              CKR_OK);
    EXPECT_EQ(size, 0u);
  }
  EXPECT_TRUE(daemon_.requests().empty());
  CK_ULONG size = out.size();
  ASSERT_EQ(module_->C_EncryptFinal(session_, data_of(out), &size), CKR_OK);
  ASSERT_EQ(size, 46u);
  sealed = out.substr(0, size);
  EXPECT_EQ(daemon_.requests().size(), 1u);
  // And back, with the tag in a part of its own.
  out.assign(100, '#');
  ASSERT_EQ(module_->C_DecryptInit(session_, gcm.mechanism(), files), CKR_OK);
  for (const std::string& of : {sealed.substr(0, 30), sealed.substr(30)}) {
    size = out.size();
    ASSERT_EQ(module_->C_DecryptUpdate(session_, data_of(of), of.size(), data_of(out), &size),
              CKR_OK);
    EXPECT_EQ(size, 0u) << "no plaintext before the tag";
  }
  EXPECT_EQ(out, std::string(100, '#'));
  size = out.size();
  ASSERT_EQ(module_->C_DecryptFinal(session_, data_of(out), &size), CKR_OK);
  EXPECT_EQ(out.substr(0, size), part + part + part);
  // MACs.
  CK_MECHANISM cmac{CKM_AES_CMAC, nullptr, 0};
  ASSERT_EQ(module_->C_SignInit(session_, &cmac, key("cmac")), CKR_OK);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(module_->C_SignUpdate(session_, data_of(part), part.size()), CKR_OK);
  size = out.size();
  ASSERT_EQ(module_->C_SignFinal(session_, data_of(out), &size), CKR_OK);
  const std::string tag = out.substr(0, size);
  EXPECT_EQ(tag, openssl_cmac(std::string(16, 'c'), part + part));
  ASSERT_EQ(module_->C_VerifyInit(session_, &cmac, key("cmac")), CKR_OK);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(module_->C_VerifyUpdate(session_, data_of(part), part.size()), CKR_OK);
  EXPECT_EQ(module_->C_VerifyFinal(session_, data_of(tag), tag.size()), CKR_OK);
}

// No question for a size, and no call with too small a buffer, takes material or ends anything.
TEST_F(KeyTest, QuestionsForSizesSendNothing) {
  Gcm gcm;
  const CK_OBJECT_HANDLE files = key("files"), cmac_key = key("cmac");
  CK_MECHANISM cmac{CKM_AES_CMAC, nullptr, 0};
  std::string text = "text of 16 bytes", out(64, '#');
  daemon_.forget_requests();
  CK_ULONG size = 0;
  const auto too_small = [&](CK_ULONG expected, const auto& call) {
    size = 0;
    EXPECT_EQ(call(nullptr), CKR_OK);
    EXPECT_EQ(size, expected);
    size = expected - 1;
    EXPECT_EQ(call(data_of(out)), CKR_BUFFER_TOO_SMALL);
    EXPECT_EQ(size, expected);
    EXPECT_EQ(out, std::string(64, '#'));
    EXPECT_TRUE(daemon_.requests().empty());
    size = expected;
    EXPECT_EQ(call(data_of(out)), CKR_OK);
    EXPECT_EQ(size, expected);
    EXPECT_EQ(daemon_.requests().size(), 1u);
    daemon_.forget_requests();
    EXPECT_EQ(call(data_of(out)), CKR_OPERATION_NOT_INITIALIZED);
    const std::string result = out.substr(0, expected);
    out.assign(64, '#');
    return result;
  };
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  const std::string sealed = too_small(32, [&](CK_BYTE_PTR to) {
    return module_->C_Encrypt(session_, data_of(text), text.size(), to, &size);
  });
  ASSERT_EQ(module_->C_DecryptInit(session_, gcm.mechanism(), files), CKR_OK);
  EXPECT_EQ(too_small(16,
                      [&](CK_BYTE_PTR to) {
                        return module_->C_Decrypt(session_, data_of(sealed), sealed.size(), to,
                                                  &size);
                      }),
            text);
  ASSERT_EQ(module_->C_SignInit(session_, &cmac, cmac_key), CKR_OK);
  EXPECT_EQ(too_small(16,
                      [&](CK_BYTE_PTR to) {
                        return module_->C_Sign(session_, data_of(text), text.size(), to, &size);
                      }),
            openssl_cmac(std::string(16, 'c'), text));
  // The last calls of operations in parts.
  gcm.nonce.assign(12, '\0');
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  ASSERT_EQ(module_->C_EncryptUpdate(session_, data_of(text), 16, data_of(out), &size), CKR_OK);
  const std::string parts =
      too_small(32, [&](CK_BYTE_PTR to) { return module_->C_EncryptFinal(session_, to, &size); });
  ASSERT_EQ(module_->C_DecryptInit(session_, gcm.mechanism(), files), CKR_OK);
  ASSERT_EQ(module_->C_DecryptUpdate(session_, data_of(parts), 32, data_of(out), &size), CKR_OK);
  EXPECT_EQ(
      too_small(16, [&](CK_BYTE_PTR to) { return module_->C_DecryptFinal(session_, to, &size); }),
      text);
  ASSERT_EQ(module_->C_SignInit(session_, &cmac, cmac_key), CKR_OK);
  ASSERT_EQ(module_->C_SignUpdate(session_, data_of(text), 16), CKR_OK);
  (void)too_small(16, [&](CK_BYTE_PTR to) { return module_->C_SignFinal(session_, to, &size); });
}

TEST_F(KeyTest, WrongTagGivesNoPlaintext) {
  Gcm gcm;
  const CK_OBJECT_HANDLE files = key("files");
  std::string sealed = encrypt(module_, session_, files, gcm, "secret").text;
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  ASSERT_EQ(module_->C_DecryptInit(session_, gcm.mechanism(), files), CKR_OK);
  std::string out(32, '#');
  CK_ULONG size = out.size();
  EXPECT_EQ(module_->C_Decrypt(session_, data_of(sealed), sealed.size(), data_of(out), &size),
            CKR_ENCRYPTED_DATA_INVALID);
  EXPECT_EQ(out, std::string(32, '#'));
  EXPECT_EQ(module_->C_Decrypt(session_, data_of(sealed), sealed.size(), data_of(out), &size),
            CKR_OPERATION_NOT_INITIALIZED);
  // Less than a tag.
  EXPECT_EQ(decrypt(module_, session_, files, gcm, "short").code, CKR_ENCRYPTED_DATA_LEN_RANGE);
}

TEST_F(KeyTest, RefusesParametersThatGcmDoesNotHave) {
  const auto begins = [&](const std::string& label, const auto& change) {
    Gcm gcm;
    change(gcm);
    const CK_RV code = module_->C_EncryptInit(session_, gcm.mechanism(), key(label));
    if (code == CKR_OK) {
      // Ends it.
      std::string out(16, '\0');
      CK_ULONG size = out.size();
      EXPECT_EQ(module_->C_Encrypt(session_, nullptr, 0, data_of(out), &size), CKR_OK);
    }
    return code;
  };
  EXPECT_EQ(begins("files", [](Gcm&) {}), CKR_OK);
  EXPECT_EQ(begins("files", [](Gcm& gcm) { gcm.parameters.ulIvBits = 12345; }), CKR_OK)
      << "programs leave it unset";
  const std::function<void(Gcm&)> kChanges[] = {
      [](Gcm& gcm) { gcm.parameters.ulIvLen = 16; },
      [](Gcm& gcm) { gcm.parameters.ulIvLen = 0; },
      [](Gcm& gcm) { gcm.parameters.pIv = nullptr; },
      [](Gcm& gcm) { gcm.parameters.ulTagBits = 96; },
      [](Gcm& gcm) { gcm.parameters.ulTagBits = 0; },
      [](Gcm& gcm) { gcm.parameters.ulAADLen = 1, gcm.parameters.pAAD = nullptr; },
      [](Gcm& gcm) { gcm.parameters.ulAADLen = 65537; },
      [](Gcm& gcm) { gcm.mechanism()->ulParameterLen = 40; },  // as Java tries first
      [](Gcm& gcm) { gcm.mechanism()->ulParameterLen = 56; },
      [](Gcm& gcm) { gcm.mechanism()->pParameter = nullptr; },
  };
  for (std::size_t i = 0; i < std::size(kChanges); ++i)
    for (const std::string label : {"files", "iv"})
      EXPECT_EQ(begins(label, kChanges[i]), CKR_MECHANISM_PARAM_INVALID) << label << i;
  // A nonce of the program's under a key whose nonces both parties choose.
  EXPECT_EQ(begins("files", [](Gcm& gcm) { gcm.nonce[11] = 1; }), CKR_MECHANISM_PARAM_INVALID);
  CK_MECHANISM cmac{CKM_AES_CMAC, this, 8};
  EXPECT_EQ(module_->C_SignInit(session_, &cmac, key("cmac")), CKR_MECHANISM_PARAM_INVALID);
}

// As Java frees them after C_EncryptInit; and as one that begins twice with the same.
TEST_F(KeyTest, ParametersThatAreOthersSinceAreNotWrittenTo) {
  const CK_OBJECT_HANDLE files = key("files");
  Gcm gcm;
  std::string sealed(20, '#');
  CK_ULONG size = sealed.size();
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  gcm.nonce = "another's ??";
  daemon_.forget_requests();
  EXPECT_EQ(module_->C_Encrypt(session_, data_of("text"), 4, data_of(sealed), &size),
            CKR_MECHANISM_PARAM_INVALID);
  EXPECT_EQ(gcm.nonce, "another's ??");
  EXPECT_EQ(sealed, std::string(20, '#'));
  EXPECT_TRUE(daemon_.requests().empty()) << "a result costs material";
  EXPECT_EQ(module_->C_Encrypt(session_, data_of("text"), 4, data_of(sealed), &size),
            CKR_OPERATION_NOT_INITIALIZED);
}

TEST_F(KeyTest, KeyHasTheUsesOfItsClass) {
  const std::string kLabels[] = {"files", "cmac", "hmac", "kdf"};
  const struct {
    CK_MECHANISM_TYPE type;
    CK_RV codes[4];
  } kSigning[] = {
      {CKM_AES_CMAC,
       {CKR_KEY_FUNCTION_NOT_PERMITTED, CKR_OK, CKR_KEY_TYPE_INCONSISTENT,
        CKR_KEY_FUNCTION_NOT_PERMITTED}},
      {CKM_SHA256_HMAC,
       {CKR_KEY_TYPE_INCONSISTENT, CKR_KEY_TYPE_INCONSISTENT, CKR_OK, CKR_KEY_TYPE_INCONSISTENT}},
      {CKM_AES_GCM,
       {CKR_MECHANISM_INVALID, CKR_MECHANISM_INVALID, CKR_MECHANISM_INVALID,
        CKR_MECHANISM_INVALID}},
      {CKM_AES_ECB,
       {CKR_MECHANISM_INVALID, CKR_MECHANISM_INVALID, CKR_MECHANISM_INVALID,
        CKR_MECHANISM_INVALID}},
  };
  for (const auto& each : kSigning)
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(sign(module_, session_, key(kLabels[i]), each.type, "text").code, each.codes[i])
          << kLabels[i] << each.type;
      EXPECT_EQ(verify(module_, session_, key(kLabels[i]), each.type, "text",
                       std::string(each.type == CKM_AES_CMAC ? 16 : 32, 't')),
                each.codes[i] == CKR_OK ? CKR_SIGNATURE_INVALID : each.codes[i])
          << kLabels[i] << each.type;
    }
  for (const std::string label : {"cmac", "hmac", "kdf"}) {
    Gcm gcm;
    const CK_RV expected =
        label == "hmac" ? CKR_KEY_TYPE_INCONSISTENT : CKR_KEY_FUNCTION_NOT_PERMITTED;
    EXPECT_EQ(encrypt(module_, session_, key(label), gcm, "text").code, expected) << label;
    EXPECT_EQ(decrypt(module_, session_, key(label), gcm, std::string(20, 't')).code, expected);
  }
  CK_MECHANISM ecb{CKM_AES_ECB, nullptr, 0};
  EXPECT_EQ(module_->C_EncryptInit(session_, &ecb, key("files")), CKR_MECHANISM_INVALID);
}

TEST_F(KeyTest, TextHasAtMost64KiB) {
  Gcm gcm;
  const std::string most(65536, 'x');
  EXPECT_EQ(encrypt(module_, session_, key("files"), gcm, most).code, CKR_OK);
  const std::string sealed = openssl_seal(std::string(32, 'a'), gcm.nonce, "", most);
  EXPECT_EQ(decrypt(module_, session_, key("files"), gcm, sealed).text, most);
  Gcm other;
  daemon_.forget_requests();
  const CK_OBJECT_HANDLE files = key("files"), cmac_key = key("cmac");
  daemon_.forget_requests();
  EXPECT_EQ(encrypt(module_, session_, files, other, most + "x").code, CKR_DATA_LEN_RANGE);
  EXPECT_EQ(decrypt(module_, session_, files, other, sealed + "x").code,
            CKR_ENCRYPTED_DATA_LEN_RANGE);
  EXPECT_EQ(sign(module_, session_, cmac_key, CKM_AES_CMAC, most + "x").code, CKR_DATA_LEN_RANGE);
  // In parts: the part that is too much ends the operation.
  CK_MECHANISM cmac{CKM_AES_CMAC, nullptr, 0};
  ASSERT_EQ(module_->C_SignInit(session_, &cmac, cmac_key), CKR_OK);
  EXPECT_EQ(module_->C_SignUpdate(session_, data_of(most), most.size()), CKR_OK);
  EXPECT_EQ(module_->C_SignUpdate(session_, data_of(most), 1), CKR_DATA_LEN_RANGE);
  EXPECT_EQ(module_->C_SignUpdate(session_, data_of(most), 1), CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_TRUE(daemon_.requests().empty());
}

}  // namespace
}  // namespace tinyot::test
