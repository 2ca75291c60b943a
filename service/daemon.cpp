#include "service/daemon.h"

#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"
#include "service/api.h"
#include "service/configuration.h"
#include "service/disk_room.h"
#include "service/error_log.h"
#include "service/event_log.h"
#include "service/reload.h"
#include "service/service_manager.h"
#include "service/start_check.h"
#include "system/clock.h"
#include "system/descriptor.h"
#include "system/errno_text.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{500};

// One daemon for a directory.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::filesystem::path path = directory / "lock";
    file_ = system::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file_.is_open())
      throw UsageError("directory: cannot open " + path.string() + ": " + system::errno_text());
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
      throw StoreError("another daemon uses " + directory.string() +
                       "; if it is stopping, it ends evaluations in progress first, which may take "
                       "30 s: start again then");
  }

 private:
  system::Descriptor file_;
};

// Fails: NetworkError that names the field if nobody can listen at the address.
void require_free(const std::string& field, const std::string& address) {
  try {
    const net::TcpListener listener(net::parse_address(address), {});
  } catch (const NetworkError& error) {
    throw NetworkError(field + ": " + error.what());
  }
}

// The interface would take a socket over from a process that serves it. Fails: NetworkError.
void require_unserved(const std::string& field, const std::string& path) {
  const system::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    throw NetworkError(field + ": another process serves " + path);
}

void give_up_late_jobs(const Peers& peers, Jobs& jobs) {
  for (const SharedJob& job : jobs.expire())
    for (const auto& peer : peers)
      if (peer->name() == job->request().peer) peer->give_up(job);
}

std::vector<Health::PeerState> states_of(const Peers& peers) {
  std::vector<Health::PeerState> states;
  for (const auto& peer : peers) {
    std::string lacking = "its state cannot be read";
    try {
      lacking = peer->lacking();
    } catch (const StoreError&) {
      // The loop has logged it.
    }
    states.push_back({peer->name(), std::move(lacking)});
  }
  return states;
}

std::vector<CertificateEnd> certificates_of(const Peers& peers, const Api& api) {
  std::vector<CertificateEnd> ends = api.certificates();
  for (const auto& peer : peers) std::ranges::move(peer->certificates(), std::back_inserter(ends));
  return ends;
}

// A line for each certificate as it expires.
class ExpiryLog {
 public:
  void write(const std::vector<CertificateEnd>& ends) {
    for (const CertificateEnd& end : ends)
      if (end.at <= std::chrono::system_clock::now() &&
          written_.emplace(end.use, end.peer, end.at).second)
        log_event(LogLevel::Error, "certificate has expired",
                  {{"use", end.use}, {"peer", end.peer}, {"expired_at", system::utc_text(end.at)}});
  }

 private:
  std::set<std::tuple<std::string, std::string, std::chrono::system_clock::time_point>> written_;
};

// Says that the disk has filled up and that it has room again, and then writes what it had none
// for.
class DiskWatch {
 public:
  void check(const std::filesystem::path& directory, Jobs& jobs) {
    const std::string full = full_disk(directory);
    const bool has_changed = full.empty() != full_.empty();
    full_ = full;
    if (has_changed && !full.empty())
      log_event(LogLevel::Error, "disk is full; jobs wait", {{"reason", full}});
    else if (has_changed)
      log_event(LogLevel::Info, "disk has room again", {});
    if (!full.empty() || (!has_changed && Clock::now() < next_)) return;
    next_ = Clock::now() + kInterval;
    jobs.write_again();
  }

 private:
  static constexpr auto kInterval = std::chrono::seconds(10);
  std::string full_;
  Clock::time_point next_{};
};

DaemonGauges gauges_of(const std::filesystem::path& directory, const Peers& peers, const Api& api) {
  DaemonGauges gauges;
  gauges.certificates = certificates_of(peers, api);
  for (const auto& peer : peers) gauges.peers.push_back(peer->gauges());
  gauges.disk_available = free_bytes_in(directory);
  return gauges;
}

// Returns after the interval, or when a stop is requested.
void pause(const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, cancel, kWatchInterval, [] { return false; });
}

// Whatever is wrong with the files, the daemon goes on as before.
void try_reload(const ServiceManager& manager, const std::filesystem::path& configuration,
                const config::Daemon& started, const Peers& peers, Api& api, LogOutput& log,
                ErrorLog& errors) {
  manager.tell("RELOADING=1\nMONOTONIC_USEC=" +
               std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(
                                  Clock::now().time_since_epoch())
                                  .count()));
  try {
    reload(configuration, started, peers, api, log);
  } catch (const std::exception& error) {
    errors.run([&] { log.reopen(); });
    log_event(LogLevel::Error, "reload refused; all settings stay as they were",
              {{"reason", error.what()}});
  }
  manager.tell("READY=1");
}

}  // namespace

void serve(const std::filesystem::path& configuration, const std::string& version,
           const std::stop_token& cancel, const std::function<bool()>& take_reload,
           std::chrono::milliseconds grace) {
  // Until its mode is set, no other user can use the socket.
  ::umask(0077);
  const ServiceManager manager;
  // Its lines about malformed messages of a peer or a client would not be events.
  google::protobuf::SetLogHandler(nullptr);
  StartCheck check = check_start(configuration);
  if (check.missing) throw UsageError(*check.missing);
  for (const std::string& warning : check.warnings)
    log_event(LogLevel::Warning, "configuration", {{"reason", warning}});
  const config::Daemon& config = check.config;
  const DirectoryLock directory(config.directory());
  if (config.has_ledger()) system::make_private_directory(config.ledger());
  LogOutput log;
  log.use(config.log());
  Jobs jobs({config.jobs_max(), config.job_bytes_max(),
             std::chrono::seconds(config.job_timeout_s()),
             std::chrono::seconds(config.result_timeout_s()),
             static_cast<std::size_t>(config.peer_size())});
  DaemonMetrics metrics(version);
  Shared shared{config, check.store_key, jobs, metrics, RefillSlots(config.refills_at_once())};
  Peers peers;
  for (const config::Peer& peer : config.peer()) {
    metrics.add_peer(peer.name());
    peers.push_back(std::make_unique<Peer>(peer, shared));
  }
  if (config.has_tls()) require_free("tls.listen", config.tls().listen());
  for (const auto& [field, path] : sockets_of(config)) require_unserved(field, path);
  Api api(config, std::move(check.tls), jobs, peers, metrics);
  Health health(Clock::now());
  std::optional<MetricsServer> metrics_server;  // ends before the peers, which it reads
  if (config.has_metrics()) {
    require_free("metrics", config.metrics());
    metrics_server.emplace(
        metrics, net::parse_address(config.metrics()),
        [&] { return gauges_of(config.directory(), peers, api); }, health);
  }
  log_event(LogLevel::Info, "daemon started",
            {{"version", version}, {"socket", config.socket()}, {"peers", peers.size()}});
  if (!shared.store_key)
    log_event(LogLevel::Info, "jobs and results are kept in memory alone",
              {{"reason", "the configuration has no store_key to seal them with"}});
  manager.tell("READY=1");
  // What fails now may not fail the next time, and concerns no other peer.
  ErrorLog errors("daemon goes on after an error");
  ExpiryLog expiries;
  DiskWatch disk;
  while (!cancel.stop_requested()) {
    if (take_reload()) try_reload(manager, configuration, config, peers, api, log, errors);
    errors.run([&] { disk.check(config.directory(), jobs); });
    errors.run([&] { give_up_late_jobs(peers, jobs); });
    for (const auto& peer : peers) {
      errors.run([&] { peer->keep_up(); });
      errors.run([&] { (void)peer->status(); });  // a deadlock would stop the watchdog
    }
    errors.run([&] { expiries.write(certificates_of(peers, api)); });
    errors.run([&] { api.end_late_calls(); });
    errors.run([&] {
      health.passed(states_of(peers), Clock::now());
      api.set_ready(health.ready().is_well);
    });
    manager.tell("WATCHDOG=1");
    pause(cancel);
  }
  health.stopping();
  api.set_ready(false);
  manager.tell("STOPPING=1");
  log_event(LogLevel::Info, "daemon stops", {});
  api.refuse_jobs();
  for (const auto& peer : peers) errors.run([&] { peer->stop_beginning(); });
  const auto until = Clock::now() + grace;
  while (std::ranges::any_of(peers, &Peer::is_busy, &std::unique_ptr<Peer>::operator*) &&
         Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& peer : peers) peer->give_up_requests();
}

}  // namespace tinyot::service
