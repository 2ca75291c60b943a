// Keys as objects: searches, attributes, and the making of keys.
#include "module_test.h"

namespace tinyot::test {
namespace {

std::string bytes_of(CK_ULONG number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
const std::string kTrue(1, '\1'), kFalse(1, '\0');

class ObjectTest : public ModuleTest {
 protected:
  // The value, or its code.
  std::string value_of(CK_OBJECT_HANDLE object, CK_ATTRIBUTE_TYPE type) {
    std::string value(100, '#');
    CK_ATTRIBUTE attribute{type, data_of(value), value.size()};
    const CK_RV code = module_->C_GetAttributeValue(session_, object, &attribute, 1);
    if (code != CKR_OK) return "code " + std::to_string(code);
    return value.substr(0, attribute.ulValueLen);
  }
  std::vector<CK_OBJECT_HANDLE> find_by(CK_ATTRIBUTE_TYPE type, const std::string& value) {
    return find(module_, session_, {{type, data_of(value), value.size()}});
  }
};

TEST_F(ObjectTest, SearchFindsWhatFits) {
  EXPECT_EQ(find(module_, session_, {}).size(), 5u) << "of this token alone";
  EXPECT_EQ(find_by(CKA_CLASS, bytes_of(CKO_SECRET_KEY)).size(), 5u);
  EXPECT_EQ(find_by(CKA_KEY_TYPE, bytes_of(CKK_AES)).size(), 4u);
  EXPECT_EQ(find_by(CKA_SIGN, kTrue).size(), 2u);
  EXPECT_EQ(find_by(CKA_LABEL, "files").size(), 1u);
  EXPECT_TRUE(find_by(CKA_LABEL, "file").empty());
  EXPECT_TRUE(find_by(CKA_LABEL, "theirs").empty());
  EXPECT_TRUE(find_by(CKA_EXTRACTABLE, kTrue).empty());
  EXPECT_TRUE(find_by(CKA_VALUE, std::string(32, 'a')).empty());
  const CK_OBJECT_HANDLE files = key("files");
  EXPECT_EQ(find_by(CKA_ID, value_of(files, CKA_ID)), std::vector{files});
  EXPECT_EQ(key("files"), files) << "it keeps its handle";
  daemon_.forget_requests();
  EXPECT_TRUE(find_by(CKA_CLASS, bytes_of(CKO_CERTIFICATE)).empty());
  EXPECT_TRUE(daemon_.requests().empty());
}

TEST_F(ObjectTest, NewestActiveVersionComesFirst) {
  const char* const kStates[] = {"active", "active", "suspended", "pending", "destroyed"};
  for (std::uint32_t i = 0; i < 5; ++i) {
    v1::Key& shown = daemon_.add("bob", "rotated", "aead", "aes256", std::string(32, 'r')).shown;
    shown.set_version(i + 1);
    shown.set_state(kStates[i]);
  }
  daemon_.add("bob", "rotated", "seal", "aes256", "");  // of a later version
  const auto found = find_by(CKA_LABEL, "rotated");
  ASSERT_EQ(found.size(), 3u);
  std::vector<std::string> ids;
  for (const CK_OBJECT_HANDLE object : found) ids.push_back(value_of(object, CKA_ID));
  EXPECT_EQ(ids[0].back(), '\x08');
  EXPECT_EQ(ids[1].back(), '\x07');
  EXPECT_EQ(ids[2].back(), '\x09') << "suspended";
  EXPECT_EQ(value_of(found[2], CKA_ENCRYPT), kFalse);
  EXPECT_EQ(value_of(found[2], CKA_DECRYPT), kTrue);
}

TEST_F(ObjectTest, AttributesSayWhatKeyIs) {
  const CK_OBJECT_HANDLE files = key("files"), hmac = key("hmac");
  EXPECT_EQ(value_of(files, CKA_CLASS), bytes_of(CKO_SECRET_KEY));
  EXPECT_EQ(value_of(files, CKA_KEY_TYPE), bytes_of(CKK_AES));
  EXPECT_EQ(value_of(files, CKA_VALUE_LEN), bytes_of(32));
  EXPECT_EQ(value_of(key("iv"), CKA_VALUE_LEN), bytes_of(16));
  EXPECT_EQ(value_of(hmac, CKA_KEY_TYPE), bytes_of(CKK_GENERIC_SECRET));
  EXPECT_EQ(value_of(files, CKA_LABEL), "files");
  EXPECT_EQ(value_of(files, CKA_ID), std::string(15, '\0') + '\1');
  for (const CK_ATTRIBUTE_TYPE type : {CKA_TOKEN, CKA_PRIVATE, CKA_SENSITIVE, CKA_ALWAYS_SENSITIVE,
                                       CKA_NEVER_EXTRACTABLE, CKA_LOCAL, CKA_ENCRYPT, CKA_DECRYPT})
    EXPECT_EQ(value_of(files, type), kTrue) << type;
  for (const CK_ATTRIBUTE_TYPE type :
       {CKA_EXTRACTABLE, CKA_MODIFIABLE, CKA_WRAP, CKA_UNWRAP, CKA_SIGN, CKA_VERIFY, CKA_DERIVE})
    EXPECT_EQ(value_of(files, type), kFalse) << type;
  EXPECT_EQ(value_of(hmac, CKA_VERIFY), kTrue);
  EXPECT_EQ(value_of(hmac, CKA_DECRYPT), kFalse);
  EXPECT_EQ(value_of(key("kdf"), CKA_DERIVE), kTrue);
  EXPECT_EQ(value_of(files, CKA_KEY_GEN_MECHANISM), bytes_of(CKM_AES_KEY_GEN));
  v1::Key& imported = daemon_.add("bob", "imported", "aead", "aes256", std::string(32, 'i')).shown;
  imported.set_origin("imported");
  imported.set_cka_id("an id");
  EXPECT_EQ(value_of(key("imported"), CKA_LOCAL), kFalse);
  EXPECT_EQ(value_of(key("imported"), CKA_ALWAYS_SENSITIVE), kFalse);
  EXPECT_EQ(value_of(key("imported"), CKA_NEVER_EXTRACTABLE), kFalse);
  EXPECT_EQ(value_of(key("imported"), CKA_ID), "an id");
}

TEST_F(ObjectTest, ValueIsSensitiveAndOthersAreFilledIn) {
  const CK_OBJECT_HANDLE files = key("files");
  std::string value(32, '#'), check(3, '#'), label(5, '#'), id(15, '#');
  CK_ATTRIBUTE attributes[] = {{CKA_VALUE, data_of(value), value.size()},
                               {CKA_CHECK_VALUE, data_of(check), check.size()},
                               {CKA_ID, data_of(id), id.size()},
                               {CKA_LABEL, data_of(label), label.size()}};
  EXPECT_NE(module_->C_GetAttributeValue(session_, files, attributes, 4), CKR_OK);
  EXPECT_EQ(label, "files");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(attributes[i].ulValueLen, CK_UNAVAILABLE_INFORMATION) << i;
  EXPECT_EQ(value + check + id, std::string(50, '#'));
  EXPECT_EQ(value_of(files, CKA_VALUE), "code " + std::to_string(CKR_ATTRIBUTE_SENSITIVE));
  EXPECT_EQ(value_of(files, CKA_CHECK_VALUE), "code " + std::to_string(CKR_ATTRIBUTE_TYPE_INVALID));
  EXPECT_EQ(value_of(files, CKA_MODULUS), "code " + std::to_string(CKR_ATTRIBUTE_TYPE_INVALID));
  attributes[2].ulValueLen = id.size();
  EXPECT_EQ(module_->C_GetAttributeValue(session_, files, attributes + 2, 1), CKR_BUFFER_TOO_SMALL);
  // The question for sizes.
  CK_ATTRIBUTE sizes[] = {{CKA_LABEL, nullptr, 0}, {CKA_ID, nullptr, 0}};
  EXPECT_EQ(module_->C_GetAttributeValue(session_, files, sizes, 2), CKR_OK);
  EXPECT_EQ(sizes[0].ulValueLen, 5u);
  EXPECT_EQ(sizes[1].ulValueLen, 16u);
}

TEST_F(ObjectTest, HandlesAreOfTheirToken) {
  const CK_OBJECT_HANDLE files = key("files");
  const CK_SESSION_HANDLE other = open_session(module_, 1);
  Gcm gcm;
  for (const CK_OBJECT_HANDLE none : {files, CK_OBJECT_HANDLE{0}, CK_OBJECT_HANDLE{999}}) {
    EXPECT_EQ(module_->C_GetAttributeValue(other, none, nullptr, 0), CKR_OBJECT_HANDLE_INVALID);
    EXPECT_EQ(module_->C_EncryptInit(other, gcm.mechanism(), none), CKR_KEY_HANDLE_INVALID);
  }
}

class NewKeyTest : public ObjectTest {
 protected:
  // Attributes as numbers and booleans, with those that every new key has unless they are given.
  using Template = std::map<CK_ATTRIBUTE_TYPE, std::string>;
  static Template aes(const Template& further) {
    Template all = further;
    all.insert({{CKA_TOKEN, kTrue}, {CKA_LABEL, "new"}, {CKA_VALUE_LEN, bytes_of(32)}});
    return all;
  }
  CK_RV generate(CK_MECHANISM_TYPE type, const Template& of) {
    std::vector<CK_ATTRIBUTE> attributes;
    for (const auto& [attribute, value] : of)
      attributes.push_back({attribute, data_of(value), value.size()});
    CK_MECHANISM mechanism{type, nullptr, 0};
    return module_->C_GenerateKey(session_, &mechanism, attributes.data(), attributes.size(),
                                  &made_);
  }
  v1::CreateKeyRequest asked() { return daemon_.requests().back().create(); }

  CK_OBJECT_HANDLE made_ = 0;
};

TEST_F(NewKeyTest, TemplateGivesClassAndAlgorithm) {
  ASSERT_EQ(generate(CKM_AES_KEY_GEN, aes({{CKA_ENCRYPT, kTrue},
                                           {CKA_DECRYPT, kTrue},
                                           {CKA_SIGN, kFalse},
                                           {CKA_SENSITIVE, kTrue},
                                           {CKA_EXTRACTABLE, kFalse},
                                           {CKA_PRIVATE, kTrue},
                                           {CKA_CLASS, bytes_of(CKO_SECRET_KEY)},
                                           {CKA_KEY_TYPE, bytes_of(CKK_AES)},
                                           {CKA_ID, "my id"}})),
            CKR_OK);
  EXPECT_EQ(asked().peer(), "bob");
  EXPECT_EQ(asked().label(), "new");
  EXPECT_EQ(asked().key_class(), "aead");
  EXPECT_EQ(asked().algorithm(), "aes256");
  EXPECT_EQ(asked().nonces(), "");
  EXPECT_EQ(asked().cka_id(), "my id");
  EXPECT_EQ(asked().request().size(), 16u);
  const std::string request = asked().request();
  Gcm gcm;
  EXPECT_EQ(encrypt(module_, session_, made_, gcm, "text").code, CKR_OK);
  EXPECT_EQ(value_of(made_, CKA_ID), "my id");

  ASSERT_EQ(generate(CKM_AES_KEY_GEN,
                     aes({{CKA_VALUE_LEN, bytes_of(16)}, {CKA_SIGN, kTrue}, {CKA_VERIFY, kTrue}})),
            CKR_OK);
  EXPECT_EQ(asked().key_class(), "mac");
  EXPECT_EQ(asked().algorithm(), "aes128");
  EXPECT_NE(asked().request(), request) << "each is a request of its own";
  ASSERT_EQ(generate(CKM_AES_KEY_GEN, aes({{CKA_DERIVE, kTrue}})), CKR_OK);
  EXPECT_EQ(asked().key_class(), "kdf");
  ASSERT_EQ(generate(CKM_AES_KEY_GEN, aes({})), CKR_OK);
  EXPECT_EQ(asked().key_class(), "aead");
  ASSERT_EQ(generate(CKM_GENERIC_SECRET_KEY_GEN, aes({})), CKR_OK);
  EXPECT_EQ(asked().key_class(), "mac");
  EXPECT_EQ(asked().algorithm(), "hmac_sha256");
}

TEST_F(NewKeyTest, SendsNoMoreThanRequestsHave) {
  daemon_.forget_requests();
  EXPECT_EQ(generate(CKM_AES_KEY_GEN, {{CKA_TOKEN, kTrue},
                                       {CKA_LABEL, std::string(256 << 10, 'l')},
                                       {CKA_VALUE_LEN, bytes_of(32)}}),
            CKR_DATA_LEN_RANGE);
  EXPECT_TRUE(daemon_.requests().empty());
}

TEST_F(NewKeyTest, RefusesWhatKeysAreNot) {
  daemon_.forget_requests();
  const struct {
    CK_RV code;
    Template of;
  } kCases[] = {
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_EXTRACTABLE, kTrue}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_SENSITIVE, kFalse}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_ENCRYPT, kTrue}, {CKA_SIGN, kTrue}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_VERIFY, kTrue}, {CKA_DERIVE, kTrue}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_WRAP, kTrue}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_TOKEN, kFalse}})},
      {CKR_TEMPLATE_INCONSISTENT, {{CKA_LABEL, "x"}, {CKA_VALUE_LEN, bytes_of(32)}}},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_CLASS, bytes_of(CKO_PRIVATE_KEY)}})},
      {CKR_TEMPLATE_INCONSISTENT, aes({{CKA_KEY_TYPE, bytes_of(CKK_GENERIC_SECRET)}})},
      {CKR_TEMPLATE_INCOMPLETE, {{CKA_TOKEN, kTrue}, {CKA_VALUE_LEN, bytes_of(32)}}},
      {CKR_TEMPLATE_INCOMPLETE, {{CKA_TOKEN, kTrue}, {CKA_LABEL, "x"}}},
      {CKR_ATTRIBUTE_VALUE_INVALID, aes({{CKA_VALUE_LEN, bytes_of(24)}})},
      {CKR_ATTRIBUTE_VALUE_INVALID, aes({{CKA_VALUE_LEN, "32"}})},
      {CKR_ATTRIBUTE_VALUE_INVALID, aes({{CKA_ENCRYPT, "true"}})},
      {CKR_ATTRIBUTE_VALUE_INVALID, aes({{CKA_TOKEN, ""}})},
      {CKR_ATTRIBUTE_TYPE_INVALID, aes({{CKA_VALUE, std::string(32, 'k')}})},
      {CKR_ATTRIBUTE_TYPE_INVALID, aes({{CKA_MODULUS, "1"}})},
  };
  for (const auto& each : kCases)
    EXPECT_EQ(generate(CKM_AES_KEY_GEN, each.of), each.code) << &each - kCases;
  EXPECT_EQ(generate(CKM_GENERIC_SECRET_KEY_GEN, aes({{CKA_ENCRYPT, kTrue}})),
            CKR_TEMPLATE_INCONSISTENT);
  EXPECT_EQ(generate(CKM_GENERIC_SECRET_KEY_GEN, aes({{CKA_VALUE_LEN, bytes_of(16)}})),
            CKR_ATTRIBUTE_VALUE_INVALID);
  EXPECT_EQ(generate(CKM_AES_GCM, aes({})), CKR_MECHANISM_INVALID);
  EXPECT_EQ(generate(CKM_DES_KEY_GEN, aes({})), CKR_MECHANISM_INVALID);
  ASSERT_EQ(module_->C_OpenSession(0, CKF_SERIAL_SESSION, nullptr, nullptr, &session_), CKR_OK);
  EXPECT_EQ(generate(CKM_AES_KEY_GEN, aes({})), CKR_SESSION_READ_ONLY);
  EXPECT_TRUE(daemon_.requests().empty());
}

}  // namespace
}  // namespace tinyot::test
