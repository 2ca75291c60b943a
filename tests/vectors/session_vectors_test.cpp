// The recorded sessions are those of the repository, byte by byte, and make sense.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "base/hex.h"
#include "crypto/group.h"
#include "crypto/random_oracle.h"
#include "crypto/rng.h"
#include "net/handshake.h"
#include "tests/support/files.h"
#include "tests/vectors/vector_files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string kept_digests(const std::string& name) {
  return read_file(digests_path(TINYOT_SESSIONS_DIR, name));
}

std::string from_hex(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  EXPECT_TRUE(parse_hex(hex, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}
// A ^ b.B
std::string sum(const Json& a, const Json& b, bool bit = true) {
  std::string left = from_hex(a), right = from_hex(b);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (bit) left[i] = static_cast<char>(left[i] ^ right.at(i));
  return left;
}

class SessionVectors : public testing::TestWithParam<std::string> {
 protected:
  // Made once for all tests of it.
  static const SessionVector& made(const std::string& name) {
    static std::map<std::string, SessionVector> all;
    auto found = all.find(name);
    if (found == all.end()) found = all.emplace(name, make_session_vector(name)).first;
    return found->second;
  }
  const SessionVector& vector() const { return made(GetParam()); }
};

TEST_P(SessionVectors, AreThoseOfTheRepository) {
  const std::string told = difference(GetParam(), kept_digests(GetParam()), digest_lines(vector()));
  EXPECT_TRUE(told.empty()) << told;
}

// Who changes a byte of a message, or leaves one out, is told so.
TEST_P(SessionVectors, DifferInEveryMessageThatIsChanged) {
  const std::vector<std::string> lines = digest_lines(vector());
  const std::string kept = digests_file(GetParam(), lines);
  ASSERT_EQ(difference(GetParam(), kept, lines), "");
  for (const RecordedMessage& message : vector().messages) {
    std::vector<std::string> changed = lines;
    const auto line = std::ranges::find(changed, digest_line(message));
    ASSERT_NE(line, changed.end());
    RecordedMessage other = message;
    ASSERT_FALSE(other.payload.empty());
    other.payload.back() ^= std::byte{1};
    *line = digest_line(other);
    const std::string told = difference(GetParam(), kept, changed);
    EXPECT_NE(told.find("the wire version has to be raised"), std::string::npos) << told;
    EXPECT_NE(told.find(*line), std::string::npos) << told;
    changed.erase(line);
    EXPECT_NE(difference(GetParam(), kept, changed), "");
  }
}

TEST_P(SessionVectors, BelongToOneWireVersion) {
  std::vector<std::string> later = digest_lines(vector());
  later.front() = "wire " + std::to_string(kWireVersion + 1);
  const std::string told =
      difference(GetParam(), digests_file(GetParam(), digest_lines(vector())), later);
  EXPECT_NE(told.find("make the files of tests/vectors/sessions again"), std::string::npos) << told;
  EXPECT_NE(told.find("'" + later.front() + "'"), std::string::npos) << told;
}

// From the lines alone, as another implementation reads them.
TEST_P(SessionVectors, LinesHaveEachMessageOnceAndInOrder) {
  std::istringstream text(json_lines(vector()));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  ASSERT_GT(lines.size(), 20u);
  EXPECT_EQ(lines.front()["wire_version"], kWireVersion);
  EXPECT_EQ(lines.front()["seeds"]["A"], "000102030405060708090a0b0c0d0e0f");
  std::map<std::string, std::uint32_t> next;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const Json& line = lines[i];
    EXPECT_EQ(line["n"], i - 1);
    EXPECT_EQ(line["hex"].get<std::string>().size(), 2 * line["bytes"].get<std::size_t>());
    const std::string way = line["from"].get<std::string>() + line["connection"].dump();
    EXPECT_EQ(line["sequence"], next[way]++) << way;
  }
  EXPECT_EQ(next.size(), 4u);
  EXPECT_EQ(lines.back()["A"]["connection"], lines.back()["B"]["connection"]);
}

// MAC = key ^ bit.Delta, for what the results show of each kind.
TEST_P(SessionVectors, ShowMaterialThatIsAuthenticated) {
  const Json &a = vector().results["A"], &b = vector().results["B"];
  std::size_t checked = 0;
  for (const auto& item : a["material"].items()) {
    const std::string& kind = item.key();
    const Json &of_a = item.value(), &of_b = b["material"][kind];
    ASSERT_EQ(of_a["count"], of_b["count"]) << kind;
    const auto columns = [](const Json& half, const char* role) {
      std::vector<Json> found;
      for (const Json& column : half["first"])
        if (column["role"] == role) found.push_back(column);
      return found;
    };
    const auto bit = [](const Json& column, std::size_t i) {
      return column["bits"].get<std::string>().at(i) == '1';
    };
    const auto check = [&](const Json& holder, const Json& other, const Json& delta) {
      const auto macs = columns(holder, "mine"), keys = columns(other, "peers");
      ASSERT_EQ(macs.size(), keys.size()) << kind;
      for (std::size_t c = 0; c < macs.size(); ++c)
        for (std::size_t i = 0; i < macs[c]["blocks"].size(); ++i, ++checked)
          EXPECT_EQ(from_hex(macs[c]["blocks"][i]),
                    sum(keys[c]["blocks"][i], delta, bit(macs[c], i)))
              << kind;
    };
    check(of_a, of_b, b["global_key"]);
    check(of_b, of_a, a["global_key"]);
    const auto mine = columns(of_a, "shares"), peers = columns(of_b, "shares");
    ASSERT_EQ(mine.size(), peers.size());
    const std::string deltas = sum(a["global_key"], b["global_key"]);
    for (std::size_t c = 0; c < mine.size(); ++c)
      for (std::size_t i = 0; i < mine[c]["blocks"].size(); ++i, ++checked) {
        const bool is_one = bit(mine[c], i) != bit(peers[c], i);
        EXPECT_EQ(sum(mine[c]["blocks"][i], peers[c]["blocks"][i]),
                  is_one ? deltas : std::string(deltas.size(), '\0'))
            << kind;
      }
  }
  EXPECT_GT(checked, 10u);
}

INSTANTIATE_TEST_SUITE_P(OfEach, SessionVectors, testing::ValuesIn(session_vector_names()),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase(text, '-');
                           return text;
                         });

// Another seed of either party is another session, in its first message and in the last ones.
TEST(SessionVectorSeeds, DecideEachMessageOfTheirParty) {
  const auto usual = digest_lines(make_session_vector("fast"));
  for (const Party party : {Party::A, Party::B}) {
    SessionSeeds seeds = published_seeds();
    seeds.parties[static_cast<std::size_t>(party)].value.lo ^= 1;
    const auto other = digest_lines(make_session_vector("fast", seeds));
    ASSERT_EQ(other.size(), usual.size());
    std::size_t equal = 0;
    for (std::size_t i = 0; i < usual.size(); ++i)
      if (usual[i].starts_with(letter(party)) && usual[i] == other[i] &&
          usual[i].find("unit.begin") == usual[i].npos)
        ++equal;
    EXPECT_EQ(equal, 0u) << letter(party);
    EXPECT_NE(difference("fast", kept_digests("fast"), other), "");
  }
}

// The beginning of A's draws, as doc/testing.md has them: without its code, from seed and results.
TEST(SessionVectorSeeds, AreExpandedAsDocumented) {
  const SessionVector vector = make_session_vector("fast");
  const Json& results = vector.results["A"];
  Rng rng(published_seeds().parties[0]);
  const auto nonce = rng.object<std::array<std::uint8_t, 32>>();
  const std::vector<std::byte>& hello = vector.messages.front().payload;
  const auto drawn = std::as_bytes(std::span(nonce));
  EXPECT_NE(std::search(hello.begin(), hello.end(), drawn.begin(), drawn.end()), hello.end());
  Block key = rng.block();
  key.lo &= ~std::uint64_t{1};
  EXPECT_EQ(from_hex(results["global_key"]),
            std::string(reinterpret_cast<const char*>(&key), sizeof key));
  const Block of_parts = rng.block();

  SessionId connection;
  ASSERT_TRUE(parse_hex(results["connection"].get<std::string>(),
                        std::as_writable_bytes(std::span(connection.bytes))));
  const std::string_view kind = "live material";
  Rng part(Seed{RandomOracle(connection, {"randomness of a part", 'A', 0})
                    .absorb(std::as_bytes(std::span(kind)))
                    .absorb_object(of_parts)
                    .block()});
  part.block();
  const auto offers = std::ranges::find_if(vector.messages, [](const RecordedMessage& message) {
    return message.from == Party::A && message.tag.name == "base_ot.r";
  });
  ASSERT_NE(offers, vector.messages.end());
  std::vector<Point> points(offers->payload.size() / sizeof(Point));
  ASSERT_EQ(points.size(), 256u);
  std::memcpy(points.data(), offers->payload.data(), offers->payload.size());
  for (std::size_t i = 0; i < points.size(); i += 2) {
    (void)random_scalar(part);
    const Point other = random_point(part);
    EXPECT_NE(points[i].bytes == other.bytes, points[i + 1].bytes == other.bytes) << i;
  }
}

// Of the files that are kept: one for each session and no others.
TEST(SessionVectorFiles, AreOfTheSessionsThatThereAre) {
  std::set<std::string> files, wanted;
  for (const auto& entry : fs::directory_iterator(TINYOT_SESSIONS_DIR))
    files.insert(entry.path().filename());
  for (const std::string& name : session_vector_names())
    wanted.insert(digests_path("", name).filename());
  EXPECT_EQ(files, wanted);
}

// A new message is recorded, or has its reason here and in doc/testing.md.
TEST(SessionVectorFiles, HaveAllMessagesButThese) {
  static const std::set<std::string_view> kElsewhere = {
      "session.fit",   "session.latency", "session.rate",     "session.sample", "base_ot.kem_r",
      "base_ot.kem_s", "ot.choices",      "ot.corrected",     "ot.masked",      "run.begin",
      "run.online",    "run.window",      "run.told",         "abort",          "garbled.shared",
      "bench.trip",    "daemon.message",  "daemon.parameters"};
  std::set<std::string_view> recorded;
  for (const std::string& name : session_vector_names())
    for (const RecordedMessage& message : make_session_vector(name).messages)
      recorded.insert(message.tag.name);
  for (const MessageTagEntry& entry : kMessageTags) {
    const std::string_view name = entry.tag.name;
    EXPECT_NE(recorded.contains(name),
              kElsewhere.contains(name) || name.starts_with("store.") || name.starts_with("bench."))
        << name;
  }
}

TEST(SessionVectorFiles, OfAWireVersionAreNotReplaced) {
  const TestDirectory directory;
  write_digests(directory.path());
  const fs::path file = digests_path(directory.path(), "fast");
  const std::string whole = read_file(file);
  EXPECT_EQ(whole, kept_digests("fast"));
  std::string changed = whole;
  changed[changed.size() - 2] = changed[changed.size() - 2] == '0' ? '1' : '0';
  write_file(file, changed);
  EXPECT_THROW(write_digests(directory.path()), std::runtime_error);
  EXPECT_EQ(read_file(file), changed);
  const std::string wire = "wire " + std::to_string(kWireVersion);
  changed.replace(changed.find(wire), wire.size(), "wire 1");
  write_file(file, changed);
  write_digests(directory.path());
  EXPECT_EQ(read_file(file), whole);
}

}  // namespace
}  // namespace tinyot::test
