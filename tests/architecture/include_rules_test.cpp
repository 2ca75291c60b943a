// Who may include whom: the rooms of the house, and the one door through which each third-party
// library enters.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

using Names = std::set<std::string>;

const std::map<std::string, Names>& rooms() {
  static const std::map<std::string, Names> kRooms = {
      {"base", {"base"}},
      {"crypto", {"crypto", "base"}},
      {"net", {"net", "base"}},
      {"checks", {"checks", "crypto", "net", "base"}},
      {"offline", {"offline", "checks", "crypto", "net", "base"}},
      {"circuitgen", {"circuitgen", "base"}},
      {"online", {"online", "circuitgen", "checks", "crypto", "net", "base"}},
      {"storage", {"storage", "crypto", "base"}},
      {"engine",
       {"engine", "offline", "online", "storage", "circuitgen", "checks", "crypto", "net", "base"}},
      {"tools",
       {"tools", "engine", "offline", "online", "storage", "circuitgen", "checks", "crypto", "net",
        "base"}},
  };
  return kRooms;
}

// A library: how its headers begin or end, and who may include them. A place is a folder or one
// file.
struct Library {
  std::string prefix;
  std::string suffix;
  Names places;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = {
      {"cryptopp/", "", {"crypto"}},
      {"sodium.h", "", {"crypto"}},
      {"sodium/", "", {"crypto"}},
      {"hwy/", "", {"base", "crypto", "tools/report.cpp"}},
      {"boost/asio", "", {"net"}},
      {"boost/multiprecision", "", {"base/risk.cpp"}},
      {"boost/program_options", "", {"tools/command_line.cpp"}},
      {"openssl/", "", {"net/tls"}},
      {"lmdb.h", "", {"storage"}},
      {"google/protobuf", "", {"net", "storage"}},
      {"", ".pb.h", {"net", "storage"}},
      {"nlohmann/", "", {"tools"}},
      {"valgrind/", "", {"base/declassify.h"}},
      {"gtest/", "", {}},
      {"gmock/", "", {}},
      {"benchmark/", "", {}},
  };
  return kLibraries;
}

bool is_system_header(const std::string& path) {
  static const Names kFamilies = {"sys", "netinet", "arpa", "net", "linux"};
  const auto slash = path.find('/');
  return slash == std::string::npos || kFamilies.contains(path.substr(0, slash));
}

// Why an include is not allowed; nothing if it is.
std::optional<std::string> refusal(const SourceFile& file, const Include& include) {
  for (const Library& library : libraries()) {
    if (!include.path.starts_with(library.prefix) || !include.path.ends_with(library.suffix))
      continue;
    if (std::ranges::any_of(library.places, [&](const std::string& place) {
          return file.path == place || file.path.starts_with(place + "/");
        }))
      return std::nullopt;
    return "this library does not enter through " + file.folder;
  }
  if (include.angled) {
    if (is_system_header(include.path)) return std::nullopt;
    return "no rule says where this library enters";
  }
  const std::string room = include.path.substr(0, include.path.find('/'));
  const auto allowed = rooms().find(file.folder);
  if (allowed == rooms().end()) return "no rule says what " + file.folder + " may include";
  if (allowed->second.contains(room)) return std::nullopt;
  return file.folder + " may not include " + room;
}

std::optional<std::string> refusal(const std::string& path, const std::string& line) {
  const auto includes = includes_of({line});
  return includes.empty() ? "not an include"
                          : refusal({path, path.substr(0, path.find('/')), {}}, includes[0]);
}

TEST(IncludeRules, EveryFolderOfTheProductHasARule) {
  for (const std::string& folder : product_folders())
    EXPECT_TRUE(rooms().contains(folder)) << folder;
}

TEST(IncludeRules, TheSourcesKeepThem) {
  std::size_t seen = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    for (const Include& include : includes_of(file.lines)) {
      ++seen;
      const auto reason = refusal(file, include);
      EXPECT_FALSE(reason) << file.path << ":" << include.line << " includes " << include.path
                           << ": " << reason.value_or("");
    }
  }
  EXPECT_GT(seen, 100u) << "the test reads no sources";
}

TEST(IncludeRules, NoFolderIncludesItselfThroughAnother) {
  for (const auto& [room, allowed] : rooms()) {
    for (const std::string& other : allowed) {
      if (other == room) continue;
      EXPECT_FALSE(rooms().at(other).contains(room)) << room << " and " << other;
    }
  }
}

TEST(IncludeRules, RefuseWhatTheHouseForbids) {
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"online/wires.h\""));
  EXPECT_TRUE(refusal("online/a.cpp", "#include \"offline/buckets.h\""));
  EXPECT_TRUE(refusal("online/a.cpp", "#include \"storage/store.h\""));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"storage/store.h\""));
  EXPECT_TRUE(refusal("crypto/a.cpp", "#include \"net/channel.h\""));
  EXPECT_TRUE(refusal("net/a.cpp", "#include \"crypto/rng.h\""));
  EXPECT_TRUE(refusal("circuitgen/a.cpp", "#include \"crypto/rng.h\""));
  EXPECT_TRUE(refusal("base/a.h", "  #  include \"crypto/rng.h\"  // a reason"));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include \"tests/support/oracle.h\""));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include \"bench/aes.h\""));
  EXPECT_TRUE(refusal("base/a.cpp", "#include \"../crypto/rng.h\""));
}

TEST(IncludeRules, RefuseLibrariesAtTheWrongDoor) {
  EXPECT_TRUE(refusal("checks/a.cpp", "#include <cryptopp/sha.h>"));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include <sodium.h>"));
  EXPECT_TRUE(refusal("crypto/a.cpp", "#include <openssl/evp.h>"));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_TRUE(refusal("net/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_FALSE(refusal("net/tls/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_TRUE(refusal("tools/run.cpp", "#include <hwy/targets.h>"));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"hwy/highway.h\""));
  EXPECT_TRUE(refusal("tools/run.cpp", "#include <boost/asio/connect.hpp>"));
  EXPECT_TRUE(refusal("net/a.cpp", "#include <boost/program_options.hpp>"));
  EXPECT_TRUE(refusal("tools/run.cpp", "#include <boost/program_options.hpp>"));
  EXPECT_TRUE(refusal("tools/run.cpp", "#include <lmdb.h>"));
  EXPECT_TRUE(refusal("tools/run.cpp", "#include \"handshake.pb.h\""));
  EXPECT_TRUE(refusal("storage/a.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_TRUE(refusal("base/a.cpp", "#include <gtest/gtest.h>"));
  EXPECT_TRUE(refusal("base/a.cpp", "#include <boost/algorithm/string.hpp>"));
}

TEST(IncludeRules, AllowWhatTheHouseIsMadeOf) {
  EXPECT_FALSE(refusal("checks/a.cpp", "#include \"net/channel.h\""));
  EXPECT_FALSE(refusal("tools/run.cpp", "#include \"storage/store.h\""));
  EXPECT_FALSE(refusal("tools/report.cpp", "#include <hwy/targets.h>"));
  EXPECT_TRUE(refusal("tools/pair.cpp", "#include <boost/asio/io_context.hpp>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include \"tools/report.h\""));
  EXPECT_TRUE(refusal("storage/a.cpp", "#include \"engine/connection.h\""));
  EXPECT_FALSE(refusal("net/handshake.cpp", "#include \"handshake.pb.h\""));
  EXPECT_FALSE(refusal("base/a.cpp", "#include <vector>"));
  EXPECT_FALSE(refusal("tools/a.cpp", "#include <sys/wait.h>"));
}

}  // namespace
}  // namespace tinyot::test
