// Which client of the interface may do what (config::Access), and which client a call is of.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config.pb.h"
#include "service/log_rate.h"

namespace tinyot::service {

struct Caller {
  std::optional<uid_t> user;  // of a client on the socket, unless it is unknown
  std::vector<gid_t> groups;  // that it is in, ascending
  std::string name;           // of a client with a certificate
  friend bool operator==(const Caller&, const Caller&) = default;
};
// Whatever groups its process is in.
inline bool is_same_client(const Caller& one, const Caller& other) {
  return one.user == other.user && one.name == other.name;
}
std::string text_of(const Caller& caller);

// Of a connection of a Unix socket. Without a user if the kernel does not tell it, or if it is one
// that the daemon's user namespace has no number for.
Caller caller_of(int connection);

// The user with this name or number. Fails: UsageError if there is none, or if the daemon cannot
// tell it from others.
uid_t user_named(const std::string& text);

// How rules name a caller. By a group alone, many users may be named of whom the configuration
// knows nothing: one user has as many numbers as its containers.
enum class Named { No, ByGroup, Itself };

class AccessRules {
 public:
  // Fails: UsageError for a user or a group that does not exist.
  explicit AccessRules(const config::Daemon& config);

  // Why the caller may not make a call of `method`, such as "/tinyot.v1.Party/Submit"; empty if it
  // may.
  std::optional<std::string> refusal(const Caller& caller, std::string_view method) const;
  bool gives(const Caller& caller, config::Right right) const;
  Named names(const Caller& caller) const;

 private:
  struct Rule {
    std::vector<uid_t> users;
    std::vector<gid_t> groups;
    std::vector<std::string> clients;
    std::vector<config::Right> rights;

    bool names(const Caller& caller) const;  // itself
    bool is_of(const Caller& caller) const;
  };
  std::vector<Rule> rules_;
};

// Thread-safe.
class Access {
 public:
  explicit Access(AccessRules rules) { replace(std::move(rules)); }

  // Of calls from now on.
  void replace(AccessRules rules);
  // As AccessRules; logs a refusal.
  std::optional<std::string> refusal(const Caller& caller, const std::string& method);
  bool may_manage_keys(const Caller& caller);
  bool may_use_or_manage_keys(const Caller& caller);
  Named names(const Caller& caller);
  // Of a client whose certificate no authority admits any more; logs it.
  std::string refuse_certificate(const Caller& caller, const std::string& method);

 private:
  void log(const std::string& reason, const Caller& caller, const std::string& method);
  // Asked without the lock: the name of a user, which a refusal has, may come from another machine.
  std::shared_ptr<const AccessRules> rules();

  std::mutex mutex_;
  std::shared_ptr<const AccessRules> rules_;
  LogRate lines_;
};

// gRPC does not tell from which connection a call has come, only through which port of the server.
// So each caller on the socket has a number of its own, and each number a port. A number is never
// another caller's: calls of closed connections may still be waiting.
// Thread-safe.
class LocalCallers {
 public:
  // Of the numbers that there are, strangers, who are not named, all who are named by a group, and
  // each user, whatever groups its processes are in, get so many: the others find some left.
  static constexpr std::size_t kMax = 64, kStrangersMax = 16, kByGroupMax = 32, kOfUserMax = 8;

  // 0 is the number of callers that are unknown, and of those beyond the most.
  std::size_t number_of(const Caller& caller, Named named);
  Caller caller(std::size_t number) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Caller> callers_{1};  // an unknown one
  std::size_t strangers_ = 0, by_group_ = 0;
};

}  // namespace tinyot::service
