// RO is SHA-256 of the documented header and the input; other domains give other digests.
#include "crypto/random_oracle.h"

#include <cryptopp/sha.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

SessionId session_of(std::uint8_t first) {
  SessionId session;
  for (std::size_t i = 0; i < 32; ++i) session.bytes[i] = static_cast<std::uint8_t>(first + 3 * i);
  return session;
}

std::string text_of(const Digest& digest) { return {digest.bytes.begin(), digest.bytes.end()}; }

std::string number(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string by_library(const SessionId& session, const std::string& phase, char direction,
                       std::uint64_t counter, const std::string& input) {
  const std::string message = "TinyOT RO v1" + number(phase.size()) + phase +
                              std::string(session.bytes.begin(), session.bytes.end()) + direction +
                              number(counter) + input;
  std::string digest(32, '\0');
  CryptoPP::SHA256().CalculateDigest(reinterpret_cast<CryptoPP::byte*>(digest.data()),
                                     reinterpret_cast<const CryptoPP::byte*>(message.data()),
                                     message.size());
  return digest;
}

using crypto::Phase;

std::string by_oracle(const SessionId& session, const Domain& domain, const std::string& input) {
  return text_of(RandomOracle(session, domain).absorb(std::as_bytes(std::span(input))).digest());
}

TEST(RandomOracle, EqualsSha256OfHeaderAndInput) {
  for (const std::size_t size : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 1000u}) {
    const std::string input(size, 'i');
    EXPECT_EQ(by_oracle(session_of(1), {Phase::unregistered("EQ commit"), 'A', 0x0102030405060708},
                        input),
              by_library(session_of(1), "EQ commit", 'A', 0x0102030405060708, input));
  }
}

TEST(RandomOracle, DependsOnEveryFieldOfTheDomain) {
  std::set<std::string> digests;
  const std::string input = "input";
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), 'A', 1}, input));
  digests.insert(by_oracle(session_of(2), {Phase::unregistered("phase"), 'A', 1}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phasf"), 'A', 1}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), 'B', 1}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), '*', 1}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), 'A', 2}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), 'A', 1ull << 63}, input));
  digests.insert(by_oracle(session_of(1), {Phase::unregistered("phase"), 'A', 1}, "inpus"));
  EXPECT_EQ(digests.size(), 8u);
}

// Without a length prefix, phase "ab" with a session that begins with "c" would hash like phase
// "abc".
TEST(RandomOracle, SeparatesPhasesThatArePrefixes) {
  SessionId with_c = session_of(9), shifted;
  with_c.bytes[0] = 'c';
  for (std::size_t i = 0; i < 31; ++i) shifted.bytes[i] = with_c.bytes[i + 1];
  shifted.bytes[31] = 'A';
  // The rest of the second query continues like the first one: its direction is the first byte of
  // the other's counter, and so on through the input.
  const std::string first =
      by_oracle(with_c, {Phase::unregistered("ab"), 'A', 0x4141414141414141}, "AAAA");
  const std::string second =
      by_oracle(shifted, {Phase::unregistered("abc"), 'A', 0x4141414141414141}, "AAA");
  EXPECT_NE(first, second);
  EXPECT_NE(by_oracle({}, {Phase::unregistered(""), 'A', 0}, ""),
            by_oracle({}, {Phase::unregistered(std::string_view("\0", 1)), 'A', 0}, ""));
}

TEST(RandomOracle, ConcatenatesPieces) {
  const SessionId session = session_of(4);
  const Domain domain{Phase::unregistered("pieces"), '*', 0};
  RandomOracle oracle(session, domain);
  for (const char* piece : {"a", "", "bcd", "ef"})
    oracle.absorb(std::as_bytes(std::span(std::string_view(piece))));
  EXPECT_EQ(text_of(oracle.digest()), by_oracle(session, domain, "abcdef"));
}

TEST(RandomOracle, BlockIsTheFirstHalfOfTheDigest) {
  const Digest digest = RandomOracle({}, {Phase::unregistered("x"), 'A', 1}).digest();
  const Block block = RandomOracle({}, {Phase::unregistered("x"), 'A', 1}).block();
  EXPECT_EQ(std::memcmp(&block, digest.bytes.data(), 16), 0);
}

TEST(RandomOracle, RejectsASecondUse) {
  RandomOracle oracle({}, {Phase::unregistered("once"), 'A', 0});
  oracle.digest();
  EXPECT_THROW(oracle.digest(), std::logic_error);
  EXPECT_THROW(oracle.absorb_object(std::uint8_t{1}), std::logic_error);
}

TEST(Digest, ComparesEveryBit) {
  const Digest digest = RandomOracle({}, {Phase::unregistered("y"), 'A', 1}).digest();
  EXPECT_TRUE(equal_constant_time(digest, digest));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Digest other = digest;
    other.bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(equal_constant_time(digest, other)) << bit;
  }
}

// A comparison of strings would stop at a zero byte.
TEST(Digest, ComparesBeyondZeroBytes) {
  Digest a, b;
  b.bytes[31] = 1;
  EXPECT_FALSE(equal_constant_time(a, b));
}

}  // namespace
}  // namespace tinyot
