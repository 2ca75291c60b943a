// AES, counter mode and the fixed-key hash against the standard's test vectors and Crypto++, on
// every instruction set of the processor.
#include "crypto/aes.h"

#include <cryptopp/aes.h>
#include <gtest/gtest.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

// The same targets as in crypto/aes.cpp.
#define HWY_BROKEN_EMU128 0
#define HWY_WANT_AVX3_DL 1
#include <hwy/targets.h>

#include <string>
#include <vector>

#include "crypto/tweak_hash.h"
#include "tests/support/blocks.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::random_blocks;

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 9, 31, 32, 33, 1000};

class Aes : public test::EveryTarget {};

Block block_from_hex(const std::string& hex) {
  std::array<std::uint8_t, 16> bytes;
  for (std::size_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  Block block;
  std::memcpy(&block, bytes.data(), 16);
  return block;
}

std::string hex_of(Block block) {
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", reinterpret_cast<const unsigned char*>(&block)[i]);
    text += digits;
  }
  return text;
}

Block encrypted_by_library(Block key, Block plain) {
  CryptoPP::AES::Encryption cipher(reinterpret_cast<const CryptoPP::byte*>(&key), 16);
  Block out;
  cipher.ProcessBlock(reinterpret_cast<const CryptoPP::byte*>(&plain),
                      reinterpret_cast<CryptoPP::byte*>(&out));
  return out;
}

// AES(key, plain) in counter mode, with the plaintext as the counter.
std::string encrypted(const std::string& key, const std::string& plain) {
  Block out;
  ctr_fill(expand_key(block_from_hex(key)), block_from_hex(plain), std::span(&out, 1));
  return hex_of(out);
}

TEST_F(Aes, MatchesTestVectorsOfTheStandard) {
  for_each_target([] {
    EXPECT_EQ(encrypted("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"),
              "69c4e0d86a7b0430d8cdb78070b4c55a");
    EXPECT_EQ(encrypted("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734"),
              "3925841d02dc09fbdc118597196a0b32");
  });
}

#ifdef __aarch64__
// Highway has names for NEON with other instructions, too, in later versions.
TEST_F(Aes, UsesTheInstructionsOfArm) {
  if ((::getauxval(AT_HWCAP) & HWCAP_AES) == 0) GTEST_SKIP() << "the processor has none";
  const std::string best = hwy::TargetName(hwy::SupportedAndGeneratedTargets().front());
  EXPECT_TRUE(best == "NEON" || best == "NEON_BF16") << best;
}
#endif

TEST_F(Aes, KeyScheduleMatchesTheStandard) {
  for_each_target([] {
    const AesKey key = expand_key(block_from_hex("2b7e151628aed2a6abf7158809cf4f3c"));
    EXPECT_EQ(hex_of(key.round_keys[0]), "2b7e151628aed2a6abf7158809cf4f3c");
    EXPECT_EQ(hex_of(key.round_keys[1]), "a0fafe1788542cb123a339392a6c7605");
    EXPECT_EQ(hex_of(key.round_keys[10]), "d014f9a8c9ee2589e13f0cc8b6630ca6");
  });
}

// Ordinary counters, and one whose low half wraps, without a carry into the high half.
const std::vector<Block> kCounters = {{0, 0}, {5, 7}, {0xFFFFFFFFFFFFFFFD, 3}};

TEST_F(Aes, CounterModeEqualsTheLibrary) {
  const Block key{0x1122334455667788, 0x99aabbccddeeff00};
  for (const Block counter : kCounters) {
    for (const std::size_t size : kSizes) {
      std::vector<Block> expected(size);
      for (std::size_t i = 0; i < size; ++i)
        expected[i] = encrypted_by_library(key, {counter.lo + i, counter.hi});
      for_each_target([&] {
        const auto before = random_blocks(size + 1, 4);
        auto filled = before, mixed = before;
        ctr_fill(expand_key(key), counter, std::span(filled).first(size));
        ctr_xor(expand_key(key), counter, std::span(mixed).first(size));
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(hex_of(filled[i]), hex_of(expected[i])) << size << ", " << i;
          ASSERT_EQ(hex_of(mixed[i]), hex_of(expected[i] ^ before[i])) << size << ", " << i;
        }
        ASSERT_EQ(hex_of(filled[size]), hex_of(before[size])) << "written beyond the end";
        ASSERT_EQ(hex_of(mixed[size]), hex_of(before[size])) << "written beyond the end";
      });
    }
  }
}

TEST_F(Aes, TweakedHashEqualsItsDefinition) {
  const Block key{42, 43};
  for (const Block tweak : kCounters) {
    for (const std::size_t size : kSizes) {
      const auto in = random_blocks(size + 1, 9);
      std::vector<Block> expected(size);
      for (std::size_t i = 0; i < size; ++i) {
        const Block once = encrypted_by_library(key, in[i]);
        expected[i] = encrypted_by_library(key, once ^ Block{tweak.lo + i, tweak.hi}) ^ once;
      }
      for_each_target([&] {
        std::vector<Block> apart(size + 1, Block{1, 2});
        auto in_place = in;
        tweaked_hash(expand_key(key), tweak, std::span(in).first(size),
                     std::span(apart).first(size));
        tweaked_hash(expand_key(key), tweak, std::span(in_place).first(size),
                     std::span(in_place).first(size));
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(hex_of(apart[i]), hex_of(expected[i])) << size << ", " << i;
          ASSERT_EQ(hex_of(in_place[i]), hex_of(expected[i])) << size << ", " << i;
        }
        ASSERT_EQ(hex_of(apart[size]), hex_of(Block{1, 2})) << "written beyond the end";
        ASSERT_EQ(hex_of(in_place[size]), hex_of(in[size])) << "written beyond the end";
      });
    }
  }
}

// H1 of the definition: P(s(x)) ^ s(x), s(hi || lo) = (hi ^ lo) || hi.
Block half_tree_hash(Block key, Block x) {
  const Block input{x.hi, x.hi ^ x.lo};
  return encrypted_by_library(key, input) ^ input;
}

TEST_F(Aes, LevelsOfHalfTreesEqualTheirDefinition) {
  const Block key{51, 52};
  for (const std::size_t count : {2u, 4u, 8u, 16u, 32u, 64u, 256u}) {
    const SecretPatch patches[] = {{{0, 1}, {{5, 6}, {7, 8}}},
                                   {{count - 1, count / 2}, {{9, 10}, {11, 12}}},
                                   {{1, 1}, {{1, 2}, {3, 4}}},
                                   {{count, 2 * count}, {{1, 2}, {3, 4}}}};
    for (const SecretPatch* patch : {static_cast<const SecretPatch*>(nullptr), &patches[0],
                                     &patches[1], &patches[2], &patches[3]}) {
      const auto before = random_blocks(2 * count + 1, count);
      auto expected = before;
      LevelSums sums{};
      for (std::size_t j = 0; j < count; ++j) {
        Block node = before[j];
        for (std::size_t p = 0; patch != nullptr && p < 2; ++p)
          node ^= times(patch->differences[p], patch->places[p] == j);
        expected[j] = half_tree_hash(key, node);
        expected[count + j] = expected[j] ^ node;
        sums.nodes ^= node;
        sums.left ^= expected[j];
      }
      for_each_target([&] {
        auto nodes = before;
        const LevelSums made =
            half_tree_level(expand_key(key), std::span(nodes).first(2 * count), patch);
        EXPECT_EQ(hex_of(made.nodes), hex_of(sums.nodes)) << count;
        EXPECT_EQ(hex_of(made.left), hex_of(sums.left)) << count;
        for (std::size_t j = 0; j <= 2 * count; ++j)
          ASSERT_EQ(hex_of(nodes[j]), hex_of(expected[j])) << count << ", " << j;
      });
    }
  }
}

TEST_F(Aes, PatchesTwoPlaces) {
  for (const std::size_t count : {1u, 2u, 4u, 8u, 64u}) {
    for (const SecretPatch& patch : {SecretPatch{{0, count - 1}, {{5, 6}, {7, 8}}},
                                     SecretPatch{{count, count / 2}, {{5, 6}, {7, 8}}}}) {
      auto expected = random_blocks(count + 1, count);
      const auto before = expected;
      for (std::size_t p = 0; p < 2; ++p)
        if (patch.places[p] < count) expected[patch.places[p]] ^= patch.differences[p];
      for_each_target([&] {
        auto nodes = before;
        apply_patch(patch, std::span(nodes).first(count));
        for (std::size_t j = 0; j <= count; ++j)
          EXPECT_EQ(hex_of(nodes[j]), hex_of(expected[j])) << count << ", " << j;
      });
    }
  }
}

TEST(TweakHash, SeparatesUsesIndicesAndDomains) {
  const SessionId session{};
  const Block input{77, 78};
  const auto hashed = [&](const Domain& domain, HashUse use, std::uint64_t index) {
    Block out;
    TweakHash(session, domain)(use, index, std::span(&input, 1), std::span(&out, 1));
    return hex_of(out);
  };
  const Domain domain{crypto::Phase::unregistered("test"), 'A', 0};
  const std::string first = hashed(domain, HashUse::LeakyAnd, 0);
  EXPECT_EQ(first, hashed(domain, HashUse::LeakyAnd, 0));
  EXPECT_NE(first, hashed(domain, HashUse::LeakyAnd, 1));
  EXPECT_NE(first, hashed(domain, HashUse::LeakyOtBit, 0));
  EXPECT_NE(first, hashed({crypto::Phase::unregistered("test"), 'B', 0}, HashUse::LeakyAnd, 0));
  EXPECT_NE(first, hashed({crypto::Phase::unregistered("test"), 'A', 1}, HashUse::LeakyAnd, 0));
  EXPECT_NE(first, hashed({crypto::Phase::unregistered("tess"), 'A', 0}, HashUse::LeakyAnd, 0));
}

TEST(TweakHash, IndexIsIndependentOfTheFirstOfTheCall) {
  const TweakHash hash({}, {crypto::Phase::unregistered("test"), '*', 0});
  const auto in = random_blocks(100, 1);
  std::vector<Block> whole(100), part(100);
  hash(HashUse::BaseOt, 50, in, whole);
  hash(HashUse::BaseOt, 50, std::span(in).first(37), std::span(part).first(37));
  hash(HashUse::BaseOt, 87, std::span(in).subspan(37), std::span(part).subspan(37));
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(hex_of(whole[i]), hex_of(part[i]));
}

TEST(TweakHash, CollapseIsLinearAndSeparatesDifferences) {
  const Block x{5, 6}, z{7, 8};
  EXPECT_EQ(hex_of(collapsed(x, z)), hex_of(doubled(x) ^ doubled(doubled(z))));
  const Block delta{0x0123, 0x4567};
  const std::string a = hex_of(collapsed(delta, {})), b = hex_of(collapsed({}, delta)),
                    c = hex_of(collapsed(delta, delta));
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(b, c);
  for (const std::string& difference : {a, b, c}) EXPECT_NE(difference, hex_of(Block{}));
}

}  // namespace
}  // namespace tinyot
