#include "tests/support/command_test.h"

#include <map>

#include "crypto/rng.h"
#include "tests/support/layers.h"

namespace tinyot::test {

Ended tinyot(const Arguments& arguments, const std::string& input, std::chrono::seconds deadline) {
  return Process(TINYOT_BINARY, arguments, input, deadline).end();
}

bool is_error_report(const std::string& out, int status) {
  static const std::map<int, std::string> kClasses = {{1, "internal"}, {2, "usage"},
                                                      {3, "network"},  {4, "cheated"},
                                                      {5, "store"},    {6, "disagreement"}};
  const Json json = Json::parse(out, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("error") ||
      !kClasses.contains(status))
    return false;
  const Json& error = json["error"];
  return error.is_object() && error.value("class", "") == kClasses.at(status) &&
         !error.value("message", "").empty();
}

::testing::AssertionResult ended_with(const Ended& ended, int status, const std::string& part) {
  const bool silent =
      status == 0 || ended.out.empty() || ended.status >= 128 || is_error_report(ended.out, status);
  if (ended.status == status && ended.err.find(part) != std::string::npos && silent)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "status " << ended.status << ", wanted " << status
                                       << (part.empty() ? "" : " and \"" + part + "\"")
                                       << "\nstdout: " << ended.out << "\nstderr: " << ended.err;
}

Json json_of(const Ended& ended) {
  const Json json = Json::parse(ended.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << "not one JSON object on stdout: " << ended.out
                                << "\nstderr: " << ended.err;
  if (!json.is_object()) return Json::object();
  EXPECT_EQ(ended.out.find('\n'), ended.out.size() - 1) << ended.out;
  return json;
}

std::string random_hex(std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  Rng rng = Rng::from_system();
  std::string text;
  for (std::size_t i = 0; i < 2 * bytes; ++i) text += kDigits[rng.below(16)];
  return text;
}

Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Arguments CommandTest::as(char party, const std::string& command, const Arguments& more) const {
  const bool listens = party == listener_;
  return Arguments{command,
                   "--party",
                   std::string(1, party),
                   listens ? "--listen" : "--connect",
                   "127.0.0.1:" + (listens ? port_ : peer_port_),
                   "--store",
                   path(std::string(1, party)),
                   "--format",
                   "json"} +
         more;
}

BothRunning CommandTest::start(const std::string& command, const Arguments& more_of_a,
                               const Arguments& more_of_b) const {
  return {Process(TINYOT_BINARY, as('A', command, more_of_a)),
          Process(TINYOT_BINARY, as('B', command, more_of_b))};
}

BothEnded CommandTest::both(const std::string& command, const Arguments& more_of_a,
                            const Arguments& more_of_b) const {
  auto [a, b] = start(command, more_of_a, more_of_b);
  return {a.end(), b.end()};
}

void CommandTest::preprocess(const std::string& ands, const Arguments& more) const {
  preprocess_with(kFewColumns, ands, more);
}

void CommandTest::preprocess_fast(const std::string& ands, const Arguments& more) const {
  preprocess_with({"--profile", "fast"}, ands, more);
}

void CommandTest::preprocess_with(const Arguments& profile, const std::string& ands,
                                  const Arguments& more) const {
  const Ended ended =
      tinyot(Arguments{"local", "preprocess", "--store", dir_.string(), "--ands", ands, "--quiet"} +
             profile + more);
  ASSERT_TRUE(ended_with(ended, 0));
}

Json CommandTest::store_info(char party) const {
  const Ended ended = tinyot({"store", "info", path(std::string(1, party)), "--format", "json"});
  EXPECT_TRUE(ended_with(ended, 0));
  return json_of(ended);
}

}  // namespace tinyot::test
