// What tells keys apart: the digest of their attributes, which parties compare, and the fingerprint
// with the check value.
#include "custody/key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/hex.h"

namespace tinyot::test {
namespace {

using custody::CheckValue;
using custody::KeyAttributes;

std::string text_of(const crypto::Digest& digest) { return hex_of(crypto::bytes_of(digest)); }

KeyAttributes attributes() {
  KeyAttributes attributes;
  attributes.id.bytes.fill(std::byte{1});
  attributes.label = "label";
  attributes.cka_id = "id";
  return attributes;
}

TEST(KeyEpoch, IsReadAsItIsWritten) {
  custody::Epoch epoch{12, {}};
  epoch.tag.fill(std::byte{0xab});
  EXPECT_EQ(custody::epoch_from(custody::text_of(epoch)), epoch);
  const std::string tag(32, 'a');
  for (const std::string& other :
       {std::string(), tag, "-" + tag, std::string("1-"), "1-" + tag.substr(1), "1-" + tag + "a",
        "01-" + tag, "+1-" + tag, " 1-" + tag, "1 -" + tag, "1-" + std::string(32, 'A'),
        "99999999999999999999-" + tag})
    EXPECT_FALSE(custody::epoch_from(other)) << other;
}

using Change = std::function<void(KeyAttributes& attributes)>;

// Attributes that differ from attributes() in one field. A field that is new does not compile until
// it is here.
std::vector<std::pair<std::string, KeyAttributes>> changed_in_one_field() {
  const auto& [id, label, version, key_class, algorithm, nonces, origin, parent, cka_id] =
      attributes();
  static_cast<void>(
      std::tie(id, label, version, key_class, algorithm, nonces, origin, parent, cka_id));
  std::vector<std::pair<std::string, Change>> changes = {
      {"label", [](KeyAttributes& of) { of.label = "lebel"; }},
      {"longer label", [](KeyAttributes& of) { of.label += '0'; }},
      {"longest label", [](KeyAttributes& of) { of.label = std::string(64, 'l'); }},
      {"its end", [](KeyAttributes& of) { of.label = std::string(63, 'l') + 'm'; }},
      {"label and CKA_ID, moved", [](KeyAttributes& of) { of.label = "labelid", of.cka_id = ""; }},
      {"version", [](KeyAttributes& of) { of.version = 2; }},
      {"high version", [](KeyAttributes& of) { of.version = (1u << 31) + 1; }},
      {"class", [](KeyAttributes& of) { of.key_class = custody::KeyClass::Kdf; }},
      {"algorithm", [](KeyAttributes& of) { of.algorithm = custody::KeyAlgorithm::Aes128; }},
      {"nonces", [](KeyAttributes& of) { of.nonces = custody::NonceMode::Caller; }},
      {"origin", [](KeyAttributes& of) { of.origin = custody::KeyOrigin::Imported; }},
      {"parent of zeros", [](KeyAttributes& of) { of.parent.emplace(); }},
      {"CKA_ID", [](KeyAttributes& of) { of.cka_id = "ie"; }},
      {"no CKA_ID", [](KeyAttributes& of) { of.cka_id = ""; }},
      {"longest CKA_ID", [](KeyAttributes& of) { of.cka_id = std::string(64, 'i'); }},
      {"its end", [](KeyAttributes& of) { of.cka_id = std::string(63, 'i') + 'j'; }}};
  for (std::size_t k = 0; k < id.bytes.size(); ++k) {
    changes.emplace_back("id, byte " + std::to_string(k),
                         [k](KeyAttributes& of) { of.id.bytes[k] ^= std::byte{1}; });
    changes.emplace_back("parent, byte " + std::to_string(k),
                         [k](KeyAttributes& of) { of.parent.emplace().bytes[k] ^= std::byte{1}; });
  }
  std::vector<std::pair<std::string, KeyAttributes>> all;
  for (const auto& [name, change] : changes) change(all.emplace_back(name, attributes()).second);
  return all;
}

TEST(KeyDigest, EveryAttributeIsInIt) {
  std::set<std::string> digests{text_of(digest_of(attributes()))};
  std::set<std::string> fingerprints{text_of(fingerprint_of(attributes(), {}))};
  for (const auto& [name, of] : changed_in_one_field()) {
    EXPECT_TRUE(digests.insert(text_of(digest_of(of))).second) << name;
    EXPECT_TRUE(fingerprints.insert(text_of(fingerprint_of(of, {}))).second) << name;
  }
  for (const std::string& digest : digests)
    EXPECT_FALSE(fingerprints.contains(digest)) << "they have hashes of their own";
}

TEST(KeyFingerprint, EveryByteOfTheCheckValueIsInIt) {
  std::set<std::string> fingerprints{text_of(fingerprint_of(attributes(), {}))};
  for (std::size_t k = 0; k < sizeof(CheckValue); ++k) {
    CheckValue check{};
    check[k] = std::byte{1};
    EXPECT_TRUE(fingerprints.insert(text_of(fingerprint_of(attributes(), check))).second) << k;
  }
}

// Not what names a key by itself: a key could pass for another one.
TEST(KeyAttributes, LabelsAreNamesAndNoNamesOfKeys) {
  const auto is_valid = [](const std::string& label) {
    KeyAttributes of = attributes();
    of.version = 1;
    of.label = label;
    try {
      require_valid(of);
      return true;
    } catch (const UsageError&) {
      return false;
    }
  };
  const std::string digits(32, 'a');
  for (const std::string& label :
       {std::string("a"), std::string("app/data-1_2.x"), std::string(64, 'g'), digits.substr(1),
        digits + "a", digits.substr(1) + "g"})
    EXPECT_TRUE(is_valid(label)) << label;
  for (const std::string& label : {std::string(), std::string("a b"), std::string("a\n"),
                                   std::string(65, 'g'), digits, std::string(32, '0')})
    EXPECT_FALSE(is_valid(label)) << label;
}

}  // namespace
}  // namespace tinyot::test
