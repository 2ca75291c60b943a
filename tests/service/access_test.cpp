#include "service/access.h"

#include <google/protobuf/descriptor.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "kubernetes/kms_v2.pb.h"
#include "service/configuration.h"
#include "system/descriptor.h"
#include "tinyot/v1/keys.pb.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::service {
namespace {

AccessRules rules_from(const std::string& text) {
  return AccessRules(parse_configuration(
      "directory: 'd' peer { name: 'b' party: A listen: '127.0.0.1:1' profile: 'fast' policy: 'p' "
      "low { ands: 1 } high { ands: 2 } }\n" +
          text,
      "conf"));
}

bool allows(const AccessRules& rules, const Caller& caller, const std::string& method) {
  return !rules.refusal(caller, "/tinyot.v1.Party/" + method);
}

const std::vector<std::string> kAll = {"Submit", "Status", "Result", "Cancel",
                                       "Stock",  "Peers",  "Retire", "Resume"};

TEST(Access, IsUnlimitedByDefault) {
  const AccessRules rules = rules_from("");
  for (const std::string& method : kAll) EXPECT_TRUE(allows(rules, {}, method)) << method;
}

TEST(Access, EachRightAllowsItsCalls) {
  const std::vector<std::pair<std::string, std::string>> methods = {{"SUBMIT", "Submit"},
                                                                    {"RESULTS", "Result"},
                                                                    {"CANCEL", "Cancel"},
                                                                    {"RETIRE", "Retire"},
                                                                    {"RESUME", "Resume"}};
  for (const auto& [right, allowed] : methods) {
    const AccessRules rules = rules_from("access { user: '1000' may: " + right + " }");
    for (const std::string& method : kAll) {
      const bool is_state = method == "Status" || method == "Stock" || method == "Peers";
      EXPECT_EQ(allows(rules, {1000, {}, {}}, method), is_state || method == allowed)
          << right << " " << method;
    }
    EXPECT_FALSE(allows(rules, {1000, {}, {}}, "Later")) << "a call that this version lacks";
  }
}

const std::vector<std::string> kUses = {"Encrypt", "Decrypt", "Sign", "Verify"},
                               kLooks = {"List", "Show"},
                               kManages = {"Create",      "Import",      "Derive",     "Rotate",
                                           "Refresh",     "Certificate", "Suspend",    "Resume",
                                           "ResumeEpoch", "Deactivate",  "Destroy",    "Restore",
                                           "Rebind",      "Backups",     "ResumePeer", "Approvals",
                                           "Approve",     "Deny"};

bool allows_key_call(const AccessRules& rules, const Caller& caller, const std::string& method) {
  return !rules.refusal(caller, "/tinyot.v1.Keys/" + method);
}

TEST(Access, CallsAboutKeysAlwaysTakeARight) {
  const Caller caller{1000, {}, {}};
  const auto expect = [&](const std::string& text, bool uses, bool looks, bool manages) {
    const AccessRules rules = rules_from(text);
    for (const auto& [methods, is_allowed] :
         {std::pair(kUses, uses), std::pair(kLooks, looks), std::pair(kManages, manages)})
      for (const std::string& method : methods)
        EXPECT_EQ(allows_key_call(rules, caller, method), is_allowed) << text << " " << method;
    EXPECT_FALSE(allows_key_call(rules, caller, "Later")) << "a call that this version lacks";
  };
  expect("", false, false, false);
  expect("access { user: '1000' may: USE_KEYS }", true, true, false);
  expect("access { user: '1000' may: MANAGE_KEYS }", false, true, true);
  expect("access { user: '1000' may: USE_KEYS may: MANAGE_KEYS }", true, true, true);
  expect("access { user: '1000' may: SUBMIT may: RESULTS may: CANCEL may: RETIRE may: RESUME }",
         false, false, false);
  expect("access { user: '1001' may: USE_KEYS may: MANAGE_KEYS }", false, false, false);
}

// A method that is added takes an entry in the table of rights.
TEST(Access, EachCallHasAnEntry) {
  const AccessRules keys = rules_from("access { user: '1000' may: USE_KEYS may: MANAGE_KEYS }"),
                    party = rules_from(
                        "access { user: '1000' may: SUBMIT may: RESULTS may: CANCEL may: RETIRE "
                        "may: RESUME }"),
                    officers = rules_from("access { user: '1000' may: MANAGE_KEYS }");
  const auto methods = [](const google::protobuf::FileDescriptor& file) {
    const auto* const found = file.service(0);
    std::vector<std::string> names;
    for (int i = 0; i < found->method_count(); ++i) names.push_back(found->method(i)->name());
    return names;
  };
  for (const std::string& method : methods(*v1::KeyName::descriptor()->file())) {
    EXPECT_TRUE(allows_key_call(keys, {1000, {}, {}}, method)) << method;
    // Which right it takes is looked at above.
    EXPECT_EQ(std::ranges::count(kUses, method) + std::ranges::count(kLooks, method) +
                  std::ranges::count(kManages, method),
              1)
        << method;
  }
  for (const std::string& method : methods(*v1::Job::descriptor()->file()))
    EXPECT_TRUE(allows(party, {1000, {}, {}}, method)) << method;
  for (const std::string& method : methods(*v2::StatusRequest::descriptor()->file())) {
    EXPECT_FALSE(keys.refusal({1000, {}, {}}, "/v2.KeyManagementService/" + method)) << method;
    EXPECT_TRUE(party.refusal({1000, {}, {}}, "/v2.KeyManagementService/" + method)) << method;
    EXPECT_TRUE(officers.refusal({1000, {}, {}}, "/v2.KeyManagementService/" + method)) << method;
    EXPECT_TRUE(rules_from("").refusal({1000, {}, {}}, "/v2.KeyManagementService/" + method));
  }
}

TEST(Access, RefusalsOfCallsAboutKeysSayWhatToWrite) {
  EXPECT_EQ(
      rules_from("").refusal({0, {}, {}}, "/tinyot.v1.Keys/Encrypt"),
      "user 0 may make no call about keys: they take a right, and the daemon's "
      "configuration has no access { }, which then says of all clients what they may; ask its "
      "operator for access { user: 'root' may: USE_KEYS }");
  const auto nameless = rules_from("").refusal({4'000'000'000, {}, {}}, "/tinyot.v1.Keys/Encrypt");
  EXPECT_NE(nameless.value_or("").find("access { user: '4000000000' may"), std::string::npos);
  const AccessRules rules = rules_from("access { user: '1000' may: USE_KEYS }");
  EXPECT_EQ(rules.refusal({1000, {}, {}}, "/tinyot.v1.Keys/Approve"),
            "user 1000 may not approve requests: no access { } of the configuration that names it "
            "has may: MANAGE_KEYS");
  EXPECT_EQ(rules.refusal({{}, {}, "billing"}, "/tinyot.v1.Keys/Sign"),
            "the client 'billing' may make no call: no access { } of the daemon's configuration "
            "names it; ask its operator for access { client: 'billing' may: USE_KEYS }");
}

TEST(Access, EntriesNameUsersGroupsAndCertificates) {
  const AccessRules rules = rules_from(
      "access { user: '1000' user: 'root' group: '50' client: 'billing' may: SUBMIT }\n"
      "access { group: '51' may: RETIRE }\n");
  for (const Caller& caller : {Caller{1000, {}, {}}, Caller{0, {0}, {}}, Caller{7, {40, 50}, {}},
                               Caller{{}, {}, "billing"}}) {
    EXPECT_TRUE(allows(rules, caller, "Submit")) << text_of(caller);
    EXPECT_FALSE(allows(rules, caller, "Retire")) << text_of(caller);
  }
  EXPECT_TRUE(allows(rules, {1000, {51}, {}}, "Retire"));
  // An unknown user is not user 0, a certificate without a name no client.
  for (const Caller& caller :
       {Caller{}, Caller{1001, {1000}, {}}, Caller{{}, {}, "Billing"}, Caller{{}, {}, "1000"},
        Caller{{}, {}, std::string("billing\0x", 9)}})
    for (const std::string& method : kAll)
      EXPECT_FALSE(allows(rules, caller, method)) << text_of(caller) << " " << method;
}

TEST(Access, RefusalsSayWhatIsMissing) {
  const AccessRules rules = rules_from("access { user: '1000' }");
  EXPECT_EQ(rules.refusal({1000, {}, {}}, "/tinyot.v1.Party/Submit"),
            "user 1000 may not submit jobs: no access { } of the configuration that names it has "
            "may: SUBMIT");
  EXPECT_EQ(rules.refusal({{}, {}, "a\nb"}, "/tinyot.v1.Party/Stock"),
            "the client 'a?b' may make no call: no access { } of the daemon's configuration names "
            "it; ask its operator for access { client: 'a?b' }");
  EXPECT_EQ(rules.refusal({1001, {27}, {}}, "/tinyot.v1.Party/Result"),
            "user 1001 may make no call: no access { } of the daemon's configuration names it; ask "
            "its operator for access { user: '1001' may: RESULTS }");
  EXPECT_EQ(rules.refusal({}, "/tinyot.v1.Party/Submit"),
            "a client of an unknown user may make no call: no access { } of the daemon's "
            "configuration names it; it needs a certificate with a name, and the address of tls");
  EXPECT_FALSE(rules.refusal({}, "/grpc.health.v1.Health/Check"));
}

TEST(Access, LogNamesTheCallAndTheGroups) {
  Access access(rules_from("access { user: '1000' }"));
  ::testing::internal::CaptureStderr();
  (void)access.refusal({1001, {27, 1001}, {}}, "/tinyot.v1.Party/Result");
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("\"call\":\"/tinyot.v1.Party/Result\",\"groups\":\"27 1001\""),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("user 1001 may make no call"), std::string::npos) << log;
}

TEST(Access, NamesThatDoNotExistAreRefused) {
  const auto error_of = [](const std::string& text) {
    try {
      rules_from(text);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("access { user: 'no-such-user' }"),
            "access: user: there is no user 'no-such-user'");
  EXPECT_EQ(error_of("access { group: '' }"), "access: group: there is no group ''");
  for (const std::string number : {"65534", "4294967295"})
    for (const std::string of : {"user", "group"})
      EXPECT_EQ(error_of("access { " + of + ": '" + number + "' }"),
                "access: " + of + ": '" + number + "' also stands for every " + of +
                    " that the daemon cannot see");
  for (const std::string text : {"0x", "0 ", "-1", "4294967296"})
    EXPECT_NE(error_of("access { user: '" + text + "' }").find("there is no user"),
              std::string::npos)
        << text;
  EXPECT_NE(error_of("access { may: SUBMIT }").find("names no"), std::string::npos);
  EXPECT_NE(error_of("access { client: '' }").find("client is empty"), std::string::npos);
}

TEST(Access, GroupsMayBeNamed) {
  const AccessRules rules = rules_from("access { group: 'root' may: SUBMIT }");
  EXPECT_TRUE(allows(rules, {1000, {0}, {}}, "Submit"));
  EXPECT_FALSE(allows(rules, {0, {1}, {}}, "Submit"));
}

// A client that waits loses what its rights would have given once a change has taken them.
TEST(Access, RightsAreThoseOfThePresentRules) {
  const Caller caller{1000, {}, {}};
  Access access(rules_from(""));
  EXPECT_FALSE(access.may_use_or_manage_keys(caller));
  for (const std::string right : {"USE_KEYS", "MANAGE_KEYS", "SUBMIT"}) {
    access.replace(rules_from("access { user: '1000' may: " + right +
                              " } access { user: '1001' may: USE_KEYS may: MANAGE_KEYS }"));
    EXPECT_EQ(access.may_use_or_manage_keys(caller), right != "SUBMIT") << right;
    EXPECT_EQ(access.may_manage_keys(caller), right == "MANAGE_KEYS") << right;
  }
}

// Whoever is refused cannot fill the disk.
TEST(Access, LinesOfRefusalsAreLimited) {
  Access access(rules_from("access { user: '1000' }"));
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(access.refusal({1001, {}, {}}, "/tinyot.v1.Party/Result"));
    EXPECT_FALSE(access.refusal({1000, {}, {}}, "/tinyot.v1.Party/Stock"));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_LT(std::ranges::count(log, '\n'), 100);
  EXPECT_GT(std::ranges::count(log, '\n'), 0);
}

TEST(Access, CallerIsWhomTheKernelNames) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const system::Descriptor one(ends[0]), other(ends[1]);
  const Caller caller = caller_of(one.get());
  EXPECT_EQ(caller.user, ::getuid());
  EXPECT_TRUE(std::ranges::binary_search(caller.groups, ::getgid()));
  EXPECT_TRUE(std::ranges::is_sorted(caller.groups));
  // Not of a Unix socket.
  const system::Descriptor tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(caller_of(tcp.get()), Caller());
  EXPECT_EQ(caller_of(-1), Caller());
}

// As its process had them when it connected: its own, which is not among the others, and these.
TEST(Access, CallerIsInAllGroupsOfItsProcess) {
  enum : int { kHasAll, kLacksSome, kMayNotSetGroups };
  const pid_t child = ::fork();
  if (child == 0) {
    const gid_t groups[] = {51, 50, 51};
    if (::setgroups(std::size(groups), groups) != 0 || ::setgid(7) != 0) ::_exit(kMayNotSetGroups);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) ::_exit(kLacksSome);
    ::_exit(caller_of(ends[0]).groups == std::vector<gid_t>{7, 50, 51} ? kHasAll : kLacksSome);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kMayNotSetGroups) GTEST_SKIP() << "this process may not set groups";
  EXPECT_EQ(WEXITSTATUS(status), kHasAll);
}

// In a user namespace without numbers of others, all of them look like user 65534.
TEST(Access, CallerThatTheNamespaceDoesNotShowIsNobody) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const system::Descriptor one(ends[0]), other(ends[1]);
  enum : int { kIsNobody, kIsSomebody, kNoNamespace };
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(kNoNamespace);
    ::_exit(caller_of(one.get()) == Caller() ? kIsNobody : kIsSomebody);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), kIsNobody);
}

TEST(Access, NamesWhomARuleIsFor) {
  const AccessRules rules = rules_from(
      "access { user: '1000' may: SUBMIT } access { group: '50' client: 'billing' may: RESULTS }");
  EXPECT_EQ(rules.names({1000, {}, {}}), Named::Itself);
  EXPECT_EQ(rules.names({1000, {50}, {}}), Named::Itself);
  EXPECT_EQ(rules.names({1001, {50}, {}}), Named::ByGroup);
  EXPECT_EQ(rules.names({{}, {}, "billing"}), Named::Itself);
  EXPECT_EQ(rules.names({1001, {51}, {}}), Named::No);
  EXPECT_EQ(rules.names({}), Named::No);
  EXPECT_EQ(rules_from("").names({1000, {}, {}}), Named::No);
}

TEST(LocalCallers, HaveNumbersOfTheirOwn) {
  LocalCallers callers;
  EXPECT_EQ(callers.number_of({}, Named::No), 0u);
  for (std::uint32_t user = 1; user < LocalCallers::kMax; ++user)
    EXPECT_EQ(callers.number_of({user, {}, {}}, Named::Itself), user);
  EXPECT_EQ(callers.number_of({3, {}, {}}, Named::Itself), 3u);
  EXPECT_EQ(callers.caller(3).user, 3u);
  // Beyond the most: unknown, so that none has the rights of another.
  EXPECT_EQ(callers.number_of({1000, {}, {}}, Named::Itself), 0u);
  EXPECT_EQ(callers.number_of({3, {3}, {}}, Named::Itself), 0u);
  EXPECT_EQ(callers.caller(0), Caller());
}

// Neither by strangers, nor by the groups that one user can have, nor by the users that one user of
// a group has in its containers.
TEST(LocalCallers, NumbersAreLeftForOthers) {
  LocalCallers callers;
  constexpr std::uint32_t kStrangers = LocalCallers::kStrangersMax,
                          kOfUser = LocalCallers::kOfUserMax, kByGroup = LocalCallers::kByGroupMax;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::size_t of_stranger = callers.number_of({1000 + i, {}, {}}, Named::No);
    EXPECT_EQ(of_stranger, i < kStrangers ? i + 1 : 0);
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::size_t of_user = callers.number_of({7, {i}, {}}, Named::Itself);
    EXPECT_EQ(of_user, i < kOfUser ? kStrangers + i + 1 : 0);
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::size_t in_group = callers.number_of({100'000 + i, {50}, {}}, Named::ByGroup);
    EXPECT_EQ(in_group, i < kByGroup ? kStrangers + kOfUser + i + 1 : 0);
  }
  EXPECT_EQ(callers.number_of({8, {}, {}}, Named::Itself), kStrangers + kOfUser + kByGroup + 1);
  // Who is named later keeps its number, or gets one with its next connection.
  EXPECT_EQ(callers.number_of({1000, {}, {}}, Named::Itself), 1u);
  EXPECT_NE(callers.number_of({1099, {}, {}}, Named::Itself), 0u);
}

}  // namespace
}  // namespace tinyot::service
