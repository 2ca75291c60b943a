// Sealing: known answers, and rejection of any altered input.
#include "crypto/aead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

using Bytes = std::vector<std::byte>;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

template <class Fixed>
Fixed fixed_from_hex(std::string_view hex) {
  const Bytes bytes = from_hex(hex);
  Fixed fixed{};
  EXPECT_LE(bytes.size(), fixed.size());
  std::ranges::copy(bytes, fixed.begin());
  return fixed;
}

// HMAC pads a key shorter than 32 bytes with zeros.
SealKey key_from_hex(std::string_view hex) {
  SealKey key;
  key.bytes = fixed_from_hex<decltype(key.bytes)>(hex);
  return key;
}

std::string repeated(const char* text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

struct Sealed {
  SealKey key = key_from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  SealNonce nonce = fixed_from_hex<SealNonce>("cafebabefacedbaddecaf888");
  Bytes context = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  Bytes plain = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
      "b525b16aedf5aa0de657ba637b39");
  Bytes cipher = Bytes(plain.size());
  SealTag tag = seal(key, nonce, context, plain, cipher);

  // Whether open_sealed accepts; also checks that the output is the plaintext, or zeros.
  bool opens() const {
    Bytes opened(cipher.size(), std::byte{0xee});
    const bool is_open = open_sealed(key, nonce, context, cipher, tag, opened);
    EXPECT_EQ(opened, is_open ? plain : Bytes(cipher.size())) << "rejected data must leave zeros";
    return is_open;
  }
};

TEST(Aead, MatchesTestVectorsOfTheStandard) {
  // McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 14 and 16.
  Bytes zeros(16), cipher(16);
  EXPECT_EQ(seal(SealKey(), SealNonce{}, {}, zeros, cipher),
            fixed_from_hex<SealTag>("d0d1c8a799996bf0265b98b5d48ab919"));
  EXPECT_EQ(cipher, from_hex("cea7403d4d606b6e074ec5d3baf39d18"));
  const Sealed sealed;
  EXPECT_EQ(sealed.cipher,
            from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"));
  EXPECT_EQ(sealed.tag, fixed_from_hex<SealTag>("76fc6ece0f4e1768cddf8853bb2d551b"));
}

TEST(Aead, RoundTripsAnyLengthAlsoInPlace) {
  const Sealed other;
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 64u, 1000u, 262128u}) {
    Bytes plain(size);
    for (std::size_t i = 0; i < size; ++i) plain[i] = static_cast<std::byte>(i * 7 + (i >> 8));
    Bytes sealed(size), opened(size), memory = plain;
    const SealTag tag = seal(other.key, other.nonce, other.context, plain, sealed);
    EXPECT_EQ(seal(other.key, other.nonce, other.context, memory, memory), tag);
    EXPECT_EQ(memory, sealed);
    EXPECT_TRUE(size < 16 || sealed != plain);
    EXPECT_TRUE(open_sealed(other.key, other.nonce, other.context, sealed, tag, opened));
    EXPECT_EQ(opened, plain);
    EXPECT_TRUE(open_sealed(other.key, other.nonce, other.context, memory, tag, memory));
    EXPECT_EQ(memory, plain);
  }
}

// Flips each bit of one input in turn.
template <class Range>
void expect_every_flip_rejected(const Sealed& sealed, Range& input, const char* what) {
  for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
    input[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(sealed.opens()) << "bit " << bit << " of the " << what;
    input[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(sealed.opens());
}

TEST(Aead, RejectsEveryFlippedBitAndReturnsZeros) {
  Sealed sealed;
  expect_every_flip_rejected(sealed, sealed.cipher, "cipher text");
  expect_every_flip_rejected(sealed, sealed.tag, "tag");
  expect_every_flip_rejected(sealed, sealed.context, "context");
  expect_every_flip_rejected(sealed, sealed.nonce, "nonce");
  expect_every_flip_rejected(sealed, sealed.key.bytes, "key");
}

TEST(Aead, RejectsTruncationAndMovedBoundary) {
  const auto changed = [](const auto& change) {
    Sealed sealed;
    change(sealed);
    return sealed.opens();
  };
  EXPECT_FALSE(changed([](Sealed& s) { s.cipher.pop_back(); }));
  EXPECT_FALSE(changed([](Sealed& s) { s.cipher.push_back(std::byte{0}); }));
  EXPECT_FALSE(changed([](Sealed& s) { s.cipher.clear(); }));
  EXPECT_FALSE(changed([](Sealed& s) { s.context.pop_back(); }));
  EXPECT_FALSE(changed([](Sealed& s) { s.context.push_back(std::byte{0}); }));
  EXPECT_FALSE(changed([](Sealed& s) {
    s.context.push_back(s.cipher.front());
    s.cipher.erase(s.cipher.begin());
  }));
  EXPECT_FALSE(changed([](Sealed& s) { std::ranges::reverse(s.tag); }));
}

TEST(Aead, DerivesKeysAsInRfc5869) {
  const auto derived = [](std::string_view secret, std::string_view salt,
                          std::string_view purpose) {
    const Bytes info = from_hex(purpose);
    return derive_key(from_hex(secret), from_hex(salt),
                      {reinterpret_cast<const char*>(info.data()), info.size()})
        .bytes;
  };
  // Test cases 1 and 3; the first 32 bytes of the derived keys.
  EXPECT_EQ(derived(repeated("0b", 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9"),
            key_from_hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf").bytes);
  EXPECT_EQ(derived(repeated("0b", 22), "", ""),
            key_from_hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d").bytes);
}

TEST(Aead, AuthenticatesAsInRfc4231) {
  const auto tag_of = [](std::string_view key, std::string_view message) {
    return authenticate(key_from_hex(key), from_hex(message));
  };
  // Test cases 1 to 4, truncated to 128 bits.
  EXPECT_EQ(tag_of(repeated("0b", 20), "4869205468657265"),
            fixed_from_hex<SealTag>("b0344c61d8db38535ca8afceaf0bf12b"));
  EXPECT_EQ(tag_of("4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f"),
            fixed_from_hex<SealTag>("5bdcc146bf60754e6a042426089575c7"));
  EXPECT_EQ(tag_of(repeated("aa", 20), repeated("dd", 50)),
            fixed_from_hex<SealTag>("773ea91e36800e46854db8ebd09181a7"));
  EXPECT_EQ(tag_of("0102030405060708090a0b0c0d0e0f10111213141516171819", repeated("cd", 50)),
            fixed_from_hex<SealTag>("82558a389a443c0ea4cc819899f2083a"));
}

TEST(Aead, ComparesEveryBitOfTags) {
  SealTag a = fixed_from_hex<SealTag>("000102030405060708090a0b0c0d0e0f"), b = a;
  EXPECT_TRUE(equal_constant_time(a, b));
  for (std::size_t bit = 0; bit < 128; ++bit) {
    b = a;
    b[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(equal_constant_time(a, b)) << bit;
  }
}

}  // namespace
}  // namespace tinyot
