#include "service/access.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/error.h"
#include "service/event_log.h"
#include "service/foreign_text.h"

namespace tinyot::service {
namespace {

// What a user namespace shows in place of users and groups that it has no numbers for.
constexpr std::uint32_t kOverflowId = 65534;
// What the kernel says of a connection that is not of a Unix socket.
constexpr std::uint32_t kNoId = ~std::uint32_t{0};
constexpr std::size_t kEntryBytes = 64 << 10;
constexpr std::string_view kPartyService = "/tinyot.v1.Party/", kKeyService = "/tinyot.v1.Keys/",
                           kKmsService = "/v2.KeyManagementService/";

struct Method {
  std::string_view name;               // within its service
  std::optional<config::Right> right;  // none: any will do
  std::string_view what;
  std::optional<config::Right> other_right = {};  // that is as good
};
constexpr std::array kPartyMethods = {
    Method{"Submit", config::SUBMIT, "submit jobs"},
    Method{"Result", config::RESULTS, "read results"},
    Method{"Cancel", config::CANCEL, "cancel jobs"},
    Method{"Retire", config::RETIRE, "retire sessions"},
    Method{"Resume", config::RESUME, "resume refills"},
    Method{"Status", {}, "see the state of jobs"},
    Method{"Stock", {}, "see the stock"},
    Method{"Peers", {}, "see the peers"},
};
// Each takes a right.
constexpr std::array kKeyMethods = {
    Method{"Encrypt", config::USE_KEYS, "encrypt with keys"},
    Method{"Decrypt", config::USE_KEYS, "decrypt with keys"},
    Method{"Sign", config::USE_KEYS, "sign with keys"},
    Method{"Verify", config::USE_KEYS, "verify with keys"},
    Method{"List", config::USE_KEYS, "list keys", config::MANAGE_KEYS},
    Method{"Show", config::USE_KEYS, "see keys", config::MANAGE_KEYS},
    Method{"Create", config::MANAGE_KEYS, "create keys"},
    Method{"Import", config::MANAGE_KEYS, "import keys"},
    Method{"Derive", config::MANAGE_KEYS, "derive keys"},
    Method{"Rotate", config::MANAGE_KEYS, "rotate keys"},
    Method{"Refresh", config::MANAGE_KEYS, "refresh keys"},
    Method{"Certificate", config::MANAGE_KEYS, "have keys certified"},
    Method{"Suspend", config::MANAGE_KEYS, "suspend keys"},
    Method{"Resume", config::MANAGE_KEYS, "resume keys"},
    Method{"ResumeEpoch", config::MANAGE_KEYS, "resume keys"},
    Method{"Deactivate", config::MANAGE_KEYS, "deactivate keys"},
    Method{"Destroy", config::MANAGE_KEYS, "destroy keys"},
    Method{"Restore", config::MANAGE_KEYS, "restore keys"},
    Method{"Rebind", config::MANAGE_KEYS, "bind keys to another TLS key"},
    Method{"Backups", config::MANAGE_KEYS, "see the backups of keys"},
    Method{"ResumePeer", config::MANAGE_KEYS, "resume the keys with a peer"},
    Method{"Approvals", config::MANAGE_KEYS, "see requests that wait for approval"},
    Method{"Approve", config::MANAGE_KEYS, "approve requests"},
    Method{"Deny", config::MANAGE_KEYS, "deny requests"},
};
constexpr std::array kKmsMethods = {
    Method{"Status", config::USE_KEYS, "see the state of keys"},
    Method{"Encrypt", config::USE_KEYS, "encrypt with keys"},
    Method{"Decrypt", config::USE_KEYS, "decrypt with keys"},
};

struct AskedMethod {
  const Method* method;  // null: this version has no such call
  bool is_of_keys;
};
// Empty for a call of another service, such as that of health checks.
std::optional<AskedMethod> asked_method(std::string_view path) {
  const auto found = [](std::span<const Method> methods, std::string_view name) {
    const auto method = std::ranges::find(methods, name, &Method::name);
    return method == methods.end() ? nullptr : &*method;
  };
  if (path.starts_with(kPartyService))
    return AskedMethod{found(kPartyMethods, path.substr(kPartyService.size())), false};
  if (path.starts_with(kKeyService))
    return AskedMethod{found(kKeyMethods, path.substr(kKeyService.size())), true};
  if (path.starts_with(kKmsService))
    return AskedMethod{found(kKmsMethods, path.substr(kKmsService.size())), true};
  return std::nullopt;
}

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::uint32_t known(const std::string& field, const std::string& text,
                    std::optional<std::uint32_t> id) {
  if (!id) throw UsageError(field + ": there is no " + field + " '" + text + "'");
  if (*id == kOverflowId || *id == kNoId)
    throw UsageError(field + ": '" + text + "' also stands for every " + field +
                     " that the daemon cannot see");
  return *id;
}

gid_t group_named(const std::string& text) {
  std::optional<std::uint32_t> id = number_in(text);
  std::vector<char> buffer(kEntryBytes);
  group entry{}, *found = nullptr;
  if (!id && ::getgrnam_r(text.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    id = found->gr_gid;
  return known("group", text, id);
}

template <class List, class Value>
bool has(const List& list, const Value& value) {
  return std::ranges::find(list, value) != list.end();
}

// The name of a user, as a configuration would have it; the number if there is none.
std::string name_of_user(uid_t user) {
  std::vector<char> buffer(kEntryBytes);
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return foreign_text(entry.pw_name);
  return std::to_string(user);
}

// What a client that no entry names can do.
std::string remedy_for(const Caller& caller, std::optional<config::Right> right) {
  std::string entry;
  if (!caller.name.empty())
    entry = "client: '" + foreign_text(caller.name) + "'";
  else if (caller.user)
    entry = "user: '" + name_of_user(*caller.user) + "'";
  else
    return "it needs a certificate with a name, and the address of tls";
  return "ask its operator for access { " + entry +
         (right ? " may: " + config::Right_Name(*right) : "") + " }";
}

std::string groups_text(const Caller& caller) {
  std::string text;
  for (const gid_t group : caller.groups) text += (text.empty() ? "" : " ") + std::to_string(group);
  return text;
}

}  // namespace

std::string text_of(const Caller& caller) {
  if (!caller.name.empty()) return "the client '" + foreign_text(caller.name) + "'";
  return caller.user ? "user " + std::to_string(*caller.user) : "a client of an unknown user";
}

Caller caller_of(int connection) {
  ucred found{};
  socklen_t size = sizeof found;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0 ||
      found.uid == kOverflowId || found.uid == kNoId)
    return {};
  Caller caller{found.uid, {}, {}};
  // Besides its own; as the client connected.
  caller.groups.resize(1024);
  size = static_cast<socklen_t>(caller.groups.size() * sizeof(gid_t));
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, caller.groups.data(), &size) != 0)
    size = 0;
  caller.groups.resize(size / sizeof(gid_t));
  caller.groups.push_back(found.gid);
  std::erase(caller.groups, kOverflowId);
  std::ranges::sort(caller.groups);
  caller.groups.erase(std::unique(caller.groups.begin(), caller.groups.end()), caller.groups.end());
  return caller;
}

uid_t user_named(const std::string& text) {
  std::optional<std::uint32_t> id = number_in(text);
  std::vector<char> buffer(kEntryBytes);
  passwd entry{}, *found = nullptr;
  if (!id && ::getpwnam_r(text.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    id = found->pw_uid;
  return known("user", text, id);
}

AccessRules::AccessRules(const config::Daemon& config) try {
  for (const config::Access& access : config.access()) {
    Rule& rule = rules_.emplace_back();
    for (const std::string& user : access.user()) rule.users.push_back(user_named(user));
    for (const std::string& group : access.group()) rule.groups.push_back(group_named(group));
    rule.clients.assign(access.client().begin(), access.client().end());
    for (const int right : access.may()) rule.rights.push_back(static_cast<config::Right>(right));
  }
} catch (const UsageError& error) {
  throw UsageError("access: " + std::string(error.what()));
}

bool AccessRules::Rule::names(const Caller& caller) const {
  return (caller.user && has(users, *caller.user)) ||
         (!caller.name.empty() && has(clients, caller.name));
}

bool AccessRules::Rule::is_of(const Caller& caller) const {
  return names(caller) ||
         std::ranges::any_of(caller.groups, [&](gid_t group) { return has(groups, group); });
}

std::optional<std::string> AccessRules::refusal(const Caller& caller,
                                                std::string_view method) const {
  const auto asked = asked_method(method);
  if (!asked || (rules_.empty() && !asked->is_of_keys)) return std::nullopt;
  const Method* const call = asked->method;
  const auto has_right = [&](const Rule& rule) {
    return !call->right || has(rule.rights, *call->right) ||
           (call->other_right && has(rule.rights, *call->other_right));
  };
  bool is_named = false;
  for (const Rule& rule : rules_) {
    if (!rule.is_of(caller)) continue;
    is_named = true;
    if (call != nullptr && has_right(rule)) return std::nullopt;
  }
  const std::string who = text_of(caller);
  const auto right = call == nullptr ? std::nullopt : call->right;
  if (rules_.empty())
    return who +
           " may make no call about keys: they take a right, and the daemon's configuration "
           "has no access { }, which then says of all clients what they may; " +
           remedy_for(caller, right);
  if (!is_named)
    return who + " may make no call: no access { } of the daemon's configuration names it; " +
           remedy_for(caller, right);
  if (call == nullptr) return "there is no such call";
  return who + " may not " + std::string(call->what) + ": no access { } of the configuration " +
         "that names it has may: " + config::Right_Name(*right);
}

bool AccessRules::gives(const Caller& caller, config::Right right) const {
  return std::ranges::any_of(
      rules_, [&](const Rule& rule) { return rule.is_of(caller) && has(rule.rights, right); });
}

Named AccessRules::names(const Caller& caller) const {
  if (std::ranges::any_of(rules_, [&](const Rule& rule) { return rule.names(caller); }))
    return Named::Itself;
  return std::ranges::any_of(rules_, [&](const Rule& rule) { return rule.is_of(caller); })
             ? Named::ByGroup
             : Named::No;
}

std::shared_ptr<const AccessRules> Access::rules() {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Named Access::names(const Caller& caller) { return rules()->names(caller); }

bool Access::may_manage_keys(const Caller& caller) {
  return rules()->gives(caller, config::MANAGE_KEYS);
}

bool Access::may_use_or_manage_keys(const Caller& caller) {
  const auto now = rules();
  return now->gives(caller, config::USE_KEYS) || now->gives(caller, config::MANAGE_KEYS);
}

void Access::replace(AccessRules rules) {
  auto next = std::make_shared<const AccessRules>(std::move(rules));
  const std::lock_guard lock(mutex_);
  rules_.swap(next);
}

std::optional<std::string> Access::refusal(const Caller& caller, const std::string& method) {
  auto reason = rules()->refusal(caller, method);
  if (!reason) return reason;
  const std::lock_guard lock(mutex_);
  log(*reason, caller, method);
  return reason;
}

std::string Access::refuse_certificate(const Caller& caller, const std::string& method) {
  std::string reason =
      text_of(caller) +
      " may make no call any more: its certificate has expired, or its authority is no longer one "
      "of tls.clients in the daemon's configuration; connect with another one";
  const std::lock_guard lock(mutex_);
  log(reason, caller, method);
  return reason;
}

void Access::log(const std::string& reason, const Caller& caller, const std::string& method) {
  if (const auto suppressed = lines_.admit(LogRate::Clock::now()))
    log_event(LogLevel::Warning, "call refused",
              {{"reason", reason},
               {"call", foreign_text(method)},
               {"groups", groups_text(caller)},
               {"suppressed", *suppressed}});
}

std::size_t LocalCallers::number_of(const Caller& caller, Named named) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(callers_, caller);
  if (found != callers_.end()) return static_cast<std::size_t>(found - callers_.begin());
  const auto of_user = static_cast<std::size_t>(std::ranges::count_if(
      callers_, [&](const Caller& each) { return is_same_client(each, caller); }));
  if (callers_.size() == kMax || of_user == kOfUserMax ||
      (named == Named::No && strangers_ == kStrangersMax) ||
      (named == Named::ByGroup && by_group_ == kByGroupMax))
    return 0;
  if (named == Named::No) ++strangers_;
  if (named == Named::ByGroup) ++by_group_;
  callers_.push_back(caller);
  return callers_.size() - 1;
}

Caller LocalCallers::caller(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return callers_.at(number);
}

}  // namespace tinyot::service
