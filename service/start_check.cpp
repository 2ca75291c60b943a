#include "service/start_check.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/error.h"
#include "engine/key_file.h"
#include "engine/memory.h"
#include "net/tls/server_certificate.h"
#include "service/access.h"
#include "service/configuration.h"
#include "service/disk_room.h"
#include "service/key_policy.h"
#include "service/log_output.h"
#include "service/peer.h"
#include "system/errno_text.h"

namespace tinyot::service {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days kExpiresSoon{30};
// Directories below it are made at the start of a service.
constexpr std::string_view kRuntimeDirectories = "/run/";

// Whether this user may make files in the directory; errno has the reason.
bool can_write(const fs::path& directory) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) return false;
  if (!S_ISDIR(found.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  return ::access(directory.c_str(), R_OK | W_OK | X_OK) == 0;
}

// Whole days, or hours if there are few.
std::string time_left_text(std::chrono::system_clock::duration left) {
  const auto days = std::chrono::floor<std::chrono::days>(left);
  if (days.count() >= 2) return std::to_string(days.count()) + " days";
  const auto hours = std::chrono::floor<std::chrono::hours>(left);
  if (hours.count() >= 2) return std::to_string(hours.count()) + " hours";
  const auto minutes = std::chrono::floor<std::chrono::minutes>(left);
  if (minutes.count() >= 2) return std::to_string(minutes.count()) + " minutes";
  return std::to_string(std::chrono::floor<std::chrono::seconds>(left).count()) + " seconds";
}

UsageError unusable(const fs::path& directory) {
  return UsageError("cannot write the directory " + directory.string() + ": " +
                    system::errno_text());
}

fs::path parent_of(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole.parent_path() : whole.parent_path().parent_path();
}

// The daemon makes the directory, but not its parent, which could be a disk that is not mounted.
void check_directory(const fs::path& directory) {
  if (can_write(directory)) return;
  if (errno != ENOENT) throw unusable(directory);
  const fs::path parent = parent_of(directory);
  if (can_write(parent)) return;
  if (errno == ENOENT)
    throw UsageError("there is neither " + directory.string() + " nor the directory " +
                     parent.string() + ", in which the daemon would make it");
  throw unusable(parent);
}

class Check {
 public:
  explicit Check(const fs::path& file) : file_(file.string()) {
    result_.config = read_configuration(file);
  }

  StartCheck run() {
    const config::Daemon& config = result_.config;
    of("directory", [&] { check_directory(config.directory()); });
    if (config.has_ledger()) of("ledger", [&] { check_directory(config.ledger()); });
    for (const SocketField& socket : sockets_of(config))
      of(socket.field, [&] { check_socket(socket.field, socket.path); });
    if (config.has_store_key()) of("store_key", [&] { read_store_key(config.store_key()); });
    named([&] { (void)AccessRules(config); });
    named([&] { LogOutput::check(config.log()); });
    if (config.has_tls()) result_.tls = read_tls(config.tls());
    note_prepared_memory();
    note_disk();
    for (const config::Peer& peer : config.peer()) {
      if (peer.has_custody()) check_custody(peer.name(), peer.custody());  // names the fields
      named([&] { Peer::check(peer); });
      of("peer " + peer.name(),
         [&] { check_files(fs::path(config.directory()) / peer.name(), peer.name()); });
      if (!peer.has_key()) continue;
      const net::Identity identity = engine::read_identity(peer.key());
      note_end("peer " + peer.name() + ": key", peer.key(), identity.valid_until());
    }
    return std::move(result_);
  }

 private:
  // Errors of the work name this file, and the field.
  template <class Work>
  void named(const Work& work, const std::string& field = {}) const {
    try {
      work();
    } catch (const UsageError& error) {
      throw UsageError(file_ + ": " + field + error.what(), error.remedy());
    }
  }
  template <class Work>
  void of(const std::string& field, const Work& work) const {
    named(work, field + ": ");
  }

  void check_custody(const std::string& peer, const config::Custody& custody) {
    const std::string field = "peer " + peer + ": custody";
    of(field + ".policy", [&] {
      if (KeyPolicy(read_key_policy(custody.policy())).is_empty())
        result_.warnings.push_back(file_ + ": " + field + ".policy: " + custody.policy() +
                                   " allows nothing");
    });
    if (custody.has_audit_log())
      of(field + ".audit_log", [&] { check_audit_log(custody.audit_log()); });
    // It is another medium, and never made here: it may not be mounted.
    if (custody.has_backup_directory())
      of(field + ".backup_directory", [&] {
        if (!can_write(custody.backup_directory())) throw unusable(custody.backup_directory());
      });
  }

  static void check_audit_log(const fs::path& log) {
    struct stat found {};
    if (::stat(log.c_str(), &found) != 0) {
      if (!can_write(parent_of(log))) throw unusable(parent_of(log));
      return;
    }
    if (!S_ISREG(found.st_mode)) throw UsageError(log.string() + " is there, and is not a file");
    if (::access(log.c_str(), R_OK | W_OK) != 0)
      throw UsageError("cannot write " + log.string() + ": " + system::errno_text());
  }

  void check_socket(const std::string& field, const fs::path& socket) {
    if (socket.string().size() >= sizeof(sockaddr_un::sun_path))
      throw UsageError("the path has more than the " +
                       std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                       " bytes that a socket's may have");
    struct stat found {};
    if (::stat(socket.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode))
      throw UsageError(socket.string() + " is there, and is not a socket");
    const fs::path directory = parent_of(socket);
    if (can_write(directory)) return;
    const bool is_made_at_start =
        errno == ENOENT && directory.string().starts_with(kRuntimeDirectories);
    if (!is_made_at_start) throw unusable(directory);
    result_.missing = file_ + ": " + field + ": " + unusable(directory).what() +
                      "; a service manager makes it at the start (RuntimeDirectory= of systemd)";
  }

  void read_store_key(const std::string& file) {
    as_usage_errors([&] { result_.store_key = StoreKey::read(file); });
  }

  void check_files(const fs::path& directory, const std::string& peer) const {
    as_usage_errors([&] {
      Sessions::check(directory, result_.store_key);
      JobFiles::check(directory, peer, result_.store_key);
    });
  }

  // The operator has to mend what is wrong, so that it is not tried again.
  template <class Work>
  static void as_usage_errors(const Work& work) {
    try {
      work();
    } catch (const StoreError& error) {
      throw UsageError(error.what(), error.remedy());
    }
  }

  TlsFiles read_tls(const config::Tls& tls) {
    TlsFiles files;
    of("tls.certificate", [&] { files.certificate = read_text(tls.certificate()); });
    of("tls.key", [&] { files.key = engine::read_private_file(tls.key()); });
    of("tls.clients", [&] { files.clients = read_text(tls.clients()); });
    of("tls", [&] {
      files.certificate_end = net::check_server_certificate({tls.certificate(), files.certificate},
                                                            {tls.key(), view_of(files.key)});
      note_end("tls.certificate", tls.certificate(), files.certificate_end);
    });
    of("tls.clients", [&] {
      files.clients_end = net::check_authorities({tls.clients(), files.clients});
      note_end("tls.clients", tls.clients(), files.clients_end);
    });
    return files;
  }

  void note_prepared_memory() {
    std::uint64_t bytes = 0;
    for (const config::Peer& peer : result_.config.peer())
      for (const PreparedCircuit& circuit : prepared_circuits_of(peer))
        bytes += circuit.kept * circuit.bytes_each;
    const std::uint64_t available = engine::available_memory_bytes();
    if (bytes <= available) return;
    result_.warnings.push_back(file_ + ": prepared runs of all peers take " +
                               std::to_string(bytes >> 20) + " MiB, and " +
                               std::to_string(available >> 20) +
                               " MiB of memory are available: lower their counts or "
                               "prepared_bytes_max");
  }

  // A daemon whose stores are there starts all the same, and its jobs wait.
  void note_disk() {
    fs::path directory = fs::absolute(result_.config.directory());
    std::error_code error;
    if (!fs::exists(directory, error)) directory = parent_of(directory);
    if (const std::string full = full_disk(directory); !full.empty())
      result_.warnings.push_back(file_ + ": directory: " + full +
                                 ": no job is kept or begins until there is room");
  }

  void note_end(const std::string& field, const std::string& file,
                std::chrono::system_clock::time_point end) {
    const auto left = end - std::chrono::system_clock::now();
    if (left > kExpiresSoon) return;
    result_.warnings.push_back(file_ + ": " + field + ": the certificate in " + file +
                               " expires in " + time_left_text(left));
  }

  std::string file_;
  StartCheck result_;
};

}  // namespace

StartCheck check_start(const fs::path& configuration) { return Check(configuration).run(); }

}  // namespace tinyot::service
