// Which folder may include which, and the one folder that may include each third-party library.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

using Names = std::set<std::string>;

const std::map<std::string, Names>& allowed_folders() {
  static const std::map<std::string, Names> kAllowed = {
      {"include", {}},
      {"base", {"base"}},
      {"crypto", {"crypto", "base"}},
      {"system", {"system", "base"}},
      {"material", {"material", "system", "base"}},
      {"net", {"net", "system", "base"}},
      {"checks", {"checks", "crypto", "net", "base"}},
      {"offline", {"offline", "checks", "material", "crypto", "net", "base"}},
      {"circuitgen", {"circuitgen", "system", "base"}},
      {"online", {"online", "circuitgen", "checks", "material", "crypto", "net", "base"}},
      {"storage", {"storage", "material", "crypto", "system", "base"}},
      {"engine",
       {"engine", "offline", "online", "storage", "material", "circuitgen", "checks", "crypto",
        "net", "system", "base"}},
      {"custody",
       {"custody", "engine", "storage", "checks", "crypto", "circuitgen", "system", "base"}},
      {"service",
       {"service", "custody", "engine", "offline", "online", "storage", "material", "circuitgen",
        "checks", "crypto", "net", "system", "base"}},
      {"pkcs11", {"pkcs11", "base"}},
      {"tools",
       {"tools", "service", "custody", "engine", "offline", "online", "storage", "material",
        "circuitgen", "checks", "crypto", "net", "system", "base"}},
      {"python", {"python"}},
  };
  return kAllowed;
}

// A library: prefix or suffix of its headers, and the folders or files that may include them.
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
      {"hwy/", "", {"base", "crypto", "tools/cli/render/report.cpp"}},
      {"boost/asio", "", {"net"}},
      {"boost/multiprecision", "", {"base/risk.cpp"}},
      {"boost/program_options", "", {"tools/cli/command_line.cpp"}},
      {"openssl/",
       "",
       {"net/tls", "crypto/aead.cpp", "crypto/ml_kem.cpp", "crypto/openssl_memory.cpp"}},
      {"lmdb.h", "", {"storage/lmdb_env.cpp"}},
      {"google/protobuf", "", {"net", "storage", "custody", "service"}},
      {"grpc/",
       "",
       {"service/api.cpp", "service/client_channel.cpp", "service/server_credentials.cpp"}},
      {"grpcpp/", "", {"service"}},
      {"tinyot/v1/", "", {"service"}},
      {"", ".pb.h", {"net", "storage", "custody", "service"}},
      {"nlohmann/",
       "",
       {"tools/cli/render", "circuitgen/formats/verilog/netlist.h", "service/event_log.cpp",
        "service/key_audit.cpp"}},
      {"p11-kit/", "", {"pkcs11"}},
      {"civetweb.h", "", {"service/daemon_metrics.cpp"}},
      {"prometheus/", "", {"service/metrics.cpp", "service/daemon_metrics.cpp"}},
      {"pybind11/", "", {"python"}},
      {"valgrind/", "", {"base/declassify.h"}},
      {"gtest/", "", {}},
      {"gmock/", "", {}},
      {"benchmark/", "", {}},
  };
  return kLibraries;
}

// Of the public headers, those that are not vocabulary of all layers, and the layers that implement
// or use them.
const std::map<std::string, Names>& library_headers() {
  static const Names kClients = {"engine", "custody", "service", "tools"};
  static const std::map<std::string, Names> kHeaders = {
      {"tinyot/circuit.h", {"circuitgen", "engine", "tools"}},
      {"tinyot/circuit/fingerprint.h", {"engine", "service", "tools"}},
      {"tinyot/circuit/gate.h", {"circuitgen", "online", "engine", "custody", "service", "tools"}},
      {"tinyot/circuit/builder.h", {"circuitgen", "engine", "tools"}},
      {"tinyot/circuit/integer.h", {"circuitgen", "engine", "tools"}},
      {"tinyot/circuit/word.h", {"circuitgen", "engine", "tools"}},
      {"tinyot/circuit/operators.h", {"circuitgen", "engine", "tools"}},
      {"tinyot/endpoint.h", {"net", "engine", "service", "tools"}},
      {"tinyot/observer.h", kClients},
      {"tinyot/ot.h", kClients},
      {"tinyot/preprocess.h", kClients},
      {"tinyot/run.h", kClients},
      {"tinyot/store.h", kClients},
      {"tinyot/estimate.h", kClients},
      {"tinyot/evaluate.h", kClients},
      {"tinyot/tinyot.h", {"python"}},
      {"tinyot/values.h", {"base", "engine", "service", "tools"}},
      {"tinyot/version.h", {"engine", "custody", "service", "pkcs11", "tools"}},
  };
  return kHeaders;
}

bool is_system_header(const std::string& path) {
  static const Names kFamilies = {"sys", "netinet", "arpa", "net", "linux"};
  const auto slash = path.find('/');
  return slash == std::string::npos || kFamilies.contains(path.substr(0, slash));
}

// The reason why an include is not allowed; empty if it is allowed.
std::optional<std::string> refusal(const SourceFile& file, const Include& include) {
  for (const Library& library : libraries()) {
    if (!include.path.starts_with(library.prefix) || !include.path.ends_with(library.suffix))
      continue;
    if (std::ranges::any_of(library.places, [&](const std::string& place) {
          return file.path == place || file.path.starts_with(place + "/");
        }))
      return std::nullopt;
    return file.folder + " may not include this library";
  }
  if (include.angled) {
    if (is_system_header(include.path)) return std::nullopt;
    return "this library has no rule";
  }
  const std::string target = include.path.substr(0, include.path.find('/'));
  if (target == "tinyot") {
    // The public headers, in include/tinyot.
    const auto found = library_headers().find(include.path);
    if (found == library_headers().end() || file.folder == "include" ||
        found->second.contains(file.folder))
      return std::nullopt;
    return file.folder + " may not include " + include.path + ", which is above it";
  }
  const auto allowed = allowed_folders().find(file.folder);
  if (allowed == allowed_folders().end()) return file.folder + " has no rule";
  if (allowed->second.contains(target)) return std::nullopt;
  return file.folder + " may not include " + target;
}

std::optional<std::string> refusal(const std::string& path, const std::string& line) {
  const auto includes = includes_of({line});
  return includes.empty() ? "not an include"
                          : refusal({path, path.substr(0, path.find('/')), {}}, includes[0]);
}

TEST(IncludeRules, EveryProductFolderHasRule) {
  for (const std::string& folder : product_folders())
    EXPECT_TRUE(allowed_folders().contains(folder)) << folder;
}

TEST(IncludeRules, SourcesFollowRules) {
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

// The command knows the benches and the self-test by their entry points alone, which are in its
// table of subcommands.
TEST(IncludeRules, CommandIncludesNeitherBenchesNorSelfTest) {
  std::size_t seen = 0;
  for (const SourceFile& file : product_files()) {
    if (file.folder != "tools") continue;
    for (const Include& include : includes_of(file.lines)) {
      ++seen;
      for (const std::string other : {"tools/bench/", "tools/selftest/"})
        EXPECT_TRUE(!include.path.starts_with(other) || file.path.starts_with(other))
            << file.path << ":" << include.line << " includes " << include.path;
    }
  }
  EXPECT_GT(seen, 100u) << "the test reads no sources";
}

// The files that a file includes, and those that they include.
Names reached_from(const std::string& path, const std::map<std::string, Names>& includes) {
  Names reached;
  std::vector<std::string> open = {path};
  while (!open.empty()) {
    const auto found = includes.find(open.back());
    open.pop_back();
    if (found == includes.end()) continue;
    for (const std::string& next : found->second)
      if (reached.insert(next).second) open.push_back(next);
  }
  return reached;
}

// LMDB is hidden behind storage/database.h, and that behind Store.
TEST(IncludeRules, OtherFoldersDoNotReachDatabase) {
  std::map<std::string, Names> includes;
  for (const SourceFile& file : product_files())
    for (const Include& include : includes_of(file.lines))
      if (!include.angled) includes[file.path].insert(include.path);
  EXPECT_TRUE(reached_from("storage/units.cpp", includes).contains("storage/lmdb_env.h"))
      << "the test reads no sources";
  for (const auto& [path, unused] : includes) {
    if (path.starts_with("storage/")) continue;
    const Names reached = reached_from(path, includes);
    for (const char* hidden : {"storage/database.h", "storage/lmdb_env.h"})
      EXPECT_FALSE(reached.contains(hidden)) << path << " reaches " << hidden;
  }
}

TEST(IncludeRules, OnlyEnvironmentNamesLmdb) {
  std::size_t names = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    const std::vector<std::string> code = code_lines(file.lines);
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i].find("MDB_") == std::string::npos && code[i].find("mdb_") == std::string::npos)
        continue;
      ++names;
      EXPECT_TRUE(file.path.starts_with("storage/lmdb_env."))
          << file.path << ":" << i + 1 << ": " << code[i];
    }
  }
  EXPECT_GT(names, 0u) << "the test reads no sources";
}

// Of any length.
TEST(IncludeRules, HaveNoCycles) {
  std::map<std::string, Names> others = allowed_folders();
  for (auto& [folder, allowed] : others) allowed.erase(folder);
  for (const auto& [folder, unused] : others)
    EXPECT_FALSE(reached_from(folder, others).contains(folder)) << folder;
}

TEST(IncludeRules, CyclesAreFound) {
  EXPECT_TRUE(reached_from("a", {{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}).contains("a"));
  EXPECT_FALSE(reached_from("a", {{"a", {"b", "c"}}, {"b", {"c"}}}).contains("a"));
}

TEST(IncludeRules, RejectForbiddenFolders) {
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"online/wires.h\""));
  EXPECT_TRUE(refusal("online/a.cpp", "#include \"offline/nnob12/buckets.h\""));
  EXPECT_TRUE(refusal("online/a.cpp", "#include \"storage/store.h\""));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"storage/store.h\""));
  EXPECT_TRUE(refusal("crypto/a.cpp", "#include \"net/channel.h\""));
  EXPECT_TRUE(refusal("net/a.cpp", "#include \"crypto/rng.h\""));
  EXPECT_TRUE(refusal("base/a.cpp", "#include \"system/clock.h\""));
  EXPECT_TRUE(refusal("crypto/a.cpp", "#include \"system/file.h\""));
  EXPECT_TRUE(refusal("system/a.cpp", "#include \"material/material.h\""));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"system/file.h\""));
  EXPECT_TRUE(refusal("circuitgen/a.cpp", "#include \"material/pipe.h\""));
  EXPECT_TRUE(refusal("circuitgen/a.cpp", "#include \"crypto/rng.h\""));
  EXPECT_TRUE(refusal("base/a.h", "  #  include \"crypto/rng.h\"  // a reason"));
  EXPECT_TRUE(refusal("include/tinyot/a.h", "#include \"base/block.h\""));
  EXPECT_TRUE(refusal("base/a.h", "#include \"tinyot/run.h\""));
  EXPECT_TRUE(refusal("storage/a.h", "#include \"tinyot/store.h\""));
  EXPECT_FALSE(refusal("engine/run.cpp", "#include \"tinyot/run.h\""));
  EXPECT_TRUE(refusal("include/tinyot/a.h", "#include <boost/asio.hpp>"));
  EXPECT_TRUE(refusal("python/src/a.cpp", "#include \"engine/plan.h\""));
  EXPECT_TRUE(refusal("python/src/a.cpp", "#include \"base/error.h\""));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include \"python/src/bits.h\""));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include \"tests/support/oracle.h\""));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include \"bench/aes.h\""));
  EXPECT_TRUE(refusal("base/a.cpp", "#include \"../crypto/rng.h\""));
}

TEST(IncludeRules, RejectLibrariesInOtherFolders) {
  EXPECT_TRUE(refusal("checks/a.cpp", "#include <cryptopp/sha.h>"));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include <sodium.h>"));
  EXPECT_TRUE(refusal("crypto/a.cpp", "#include <openssl/evp.h>"));
  EXPECT_FALSE(refusal("crypto/aead.cpp", "#include <openssl/evp.h>"));
  EXPECT_TRUE(refusal("tools/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_TRUE(refusal("net/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_FALSE(refusal("net/tls/a.cpp", "#include <openssl/ssl.h>"));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include <hwy/targets.h>"));
  EXPECT_TRUE(refusal("offline/a.cpp", "#include \"hwy/highway.h\""));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include <boost/asio/connect.hpp>"));
  EXPECT_TRUE(refusal("net/a.cpp", "#include <boost/program_options.hpp>"));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include <boost/program_options.hpp>"));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include <lmdb.h>"));
  EXPECT_TRUE(refusal("storage/store.cpp", "#include <lmdb.h>"));
  EXPECT_FALSE(refusal("storage/lmdb_env.cpp", "#include <lmdb.h>"));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include \"handshake.pb.h\""));
  EXPECT_TRUE(refusal("tools/cli/run.cpp", "#include \"tinyot/v1/party.pb.h\""));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include \"tinyot/v1/party.grpc.pb.h\""));
  EXPECT_TRUE(refusal("tools/cli/client.cpp", "#include <grpcpp/grpcpp.h>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include <google/protobuf/message.h>"));
  EXPECT_TRUE(refusal("service/api.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_TRUE(refusal("storage/a.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_TRUE(refusal("base/a.cpp", "#include <gtest/gtest.h>"));
  EXPECT_TRUE(refusal("base/a.cpp", "#include <boost/algorithm/string.hpp>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include <pybind11/pybind11.h>"));
}

TEST(IncludeRules, AllowPermittedIncludes) {
  EXPECT_FALSE(refusal("checks/a.cpp", "#include \"net/channel.h\""));
  EXPECT_FALSE(refusal("tools/cli/run.cpp", "#include \"storage/store.h\""));
  EXPECT_FALSE(refusal("tools/cli/render/report.cpp", "#include <hwy/targets.h>"));
  EXPECT_TRUE(refusal("tools/bench/pair.cpp", "#include <boost/asio/io_context.hpp>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include <nlohmann/json.hpp>"));
  EXPECT_TRUE(refusal("engine/a.cpp", "#include \"tools/cli/render/report.h\""));
  EXPECT_TRUE(refusal("storage/a.cpp", "#include \"engine/connection.h\""));
  EXPECT_FALSE(refusal("net/handshake.cpp", "#include \"handshake.pb.h\""));
  EXPECT_FALSE(refusal("service/api.cpp", "#include \"tinyot/v1/party.grpc.pb.h\""));
  EXPECT_FALSE(refusal("service/client.cpp", "#include <grpcpp/grpcpp.h>"));
  EXPECT_FALSE(refusal("service/peer.h", "#include \"peer.pb.h\""));
  EXPECT_FALSE(refusal("base/a.cpp", "#include <vector>"));
  EXPECT_FALSE(refusal("base/a.h", "#include \"tinyot/error.h\""));
  EXPECT_FALSE(refusal("include/tinyot/a.h", "#include \"tinyot/error.h\""));
  EXPECT_FALSE(refusal("tools/a.cpp", "#include <sys/wait.h>"));
  EXPECT_FALSE(refusal("python/src/a.cpp", "#include \"tinyot/tinyot.h\""));
  EXPECT_FALSE(refusal("python/src/a.cpp", "#include <pybind11/stl.h>"));
}

}  // namespace
}  // namespace tinyot::test
