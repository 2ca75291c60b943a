#include "tests/storage/faults/interposed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

Fault armed = Fault::None;
std::uint64_t armed_at = 0, counted = 0;
std::function<void()> before_truncating, after_syncing;
Observer* observer = nullptr;
std::mutex observer_mutex;  // two parties may run in one process
thread_local bool is_observing = false;

template <class Body>
void notify_observer(const Body& body) {
  if (observer == nullptr || is_observing) return;
  const int error = errno;
  const std::lock_guard lock(observer_mutex);
  is_observing = true;
  body(*observer);
  is_observing = false;
  errno = error;
}

// Counts the call and returns its fault.
Fault next_call() {
  if (armed == Fault::None) return Fault::None;
  ++counted;
  const bool is_meant = armed == Fault::DiskFails ? counted >= armed_at : counted == armed_at;
  return is_meant ? armed : Fault::None;
}

int fail_with(int error) {
  errno = error;
  return -1;
}

void kill_this_process() { ::kill(::getpid(), SIGKILL); }

// `call(n)` writes n bytes.
template <class Call>
ssize_t written_unobserved(std::size_t size, const Call& call) {
  switch (next_call()) {
    case Fault::NoSpace:
      return fail_with(ENOSPC);
    case Fault::IoError:
    case Fault::DiskFails:
      return fail_with(EIO);
    case Fault::ShortWrite:
      return call(size - size / 2);
    case Fault::Kill:
      kill_this_process();
      break;
    case Fault::TornWrite:
      (void)call(size - size / 2);
      kill_this_process();
      break;
    case Fault::None:
      break;
  }
  return call(size);
}

// `at` is negative if the call has no offset.
template <class Call>
ssize_t written(int file, off_t at, std::size_t size, const Call& call) {
  notify_observer([](Observer& target) { target.before_call(); });
  const ssize_t done = written_unobserved(size, call);
  if (done <= 0) return done;
  notify_observer([&](Observer& target) {
    const bool is_appended = (::fcntl(file, F_GETFL) & O_APPEND) != 0;
    if (is_appended) {
      struct stat found;
      at = ::fstat(file, &found) == 0 ? found.st_size - done : 0;
    } else if (at < 0) {
      at = ::lseek(file, 0, SEEK_CUR) - done;
    }
    if (at >= 0)
      target.written(file, static_cast<std::uint64_t>(at), static_cast<std::size_t>(done));
  });
  return done;
}

template <class Call>
int done_unobserved(const Call& call) {
  switch (next_call()) {
    case Fault::NoSpace:
      return fail_with(ENOSPC);
    case Fault::IoError:
    case Fault::DiskFails:
      return fail_with(EIO);
    case Fault::Kill:
    case Fault::TornWrite:
      kill_this_process();
      break;
    case Fault::ShortWrite:
    case Fault::None:
      break;
  }
  return call();
}

// Runs the call, and notifies the observer if it succeeds.
template <class Call, class Notify>
int done(const Call& call, const Notify& notify) {
  notify_observer([](Observer& target) { target.before_call(); });
  const int status = done_unobserved(call);
  if (status == 0) notify_observer(notify);
  return status;
}

int synced(int file) {
  // Not executed: later processes see what was written even without a sync.
  const int status = done([] { return 0; }, [&](Observer& target) { target.synced(file); });
  if (status == 0 && after_syncing) after_syncing();
  return status;
}

// Gathered writes are shortened to their first part.
template <class Call>
ssize_t gathered(int file, off_t at, const iovec* parts, int count, const Call& call) {
  const std::size_t first = count > 0 ? parts[0].iov_len : 0;
  iovec cut = count > 0 ? parts[0] : iovec{};
  return written(file, at, first, [&](std::size_t size) {
    if (size == first) return call(parts, count);
    cut.iov_len = size;
    return call(&cut, 1);
  });
}

}  // namespace

void arm(Fault fault, std::uint64_t at) {
  armed = fault;
  armed_at = at;
  counted = 0;
}

void disarm() { armed = Fault::None; }

std::uint64_t calls() { return counted; }

void observe(Observer* now) { observer = now; }

std::string path_of(int file) {
  char path[4096];
  const ssize_t size =
      ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

void after_syncs(std::function<void()> after) { after_syncing = std::move(after); }

void allocate_nothing(std::function<void()> before) { before_truncating = std::move(before); }

}  // namespace tinyot::faults

using namespace tinyot::faults;

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t size) {
  return written(file, -1, size,
                 [&](std::size_t part) { return ::syscall(SYS_write, file, bytes, part); });
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  return written(file, at, size,
                 [&](std::size_t part) { return ::syscall(SYS_pwrite64, file, bytes, part, at); });
}
ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t at) {
  return pwrite(file, bytes, size, at);
}

ssize_t writev(int file, const iovec* parts, int count) {
  return gathered(file, -1, parts, count, [&](const iovec* some, int number) {
    return ::syscall(SYS_writev, file, some, number);
  });
}

ssize_t pwritev(int file, const iovec* parts, int count, off_t at) {
  return gathered(file, at, parts, count, [&](const iovec* some, int number) {
    return ::syscall(SYS_pwritev, file, some, number, at, 0L);
  });
}
ssize_t pwritev64(int file, const iovec* parts, int count, off64_t at) {
  return pwritev(file, parts, count, at);
}

int fdatasync(int file) { return synced(file); }
int fsync(int file) { return synced(file); }
int msync(void* begin, std::size_t size, int flags) {
  return done([&] { return static_cast<int>(::syscall(SYS_msync, begin, size, flags)); },
              [](Observer&) {});
}

int ftruncate(int file, off_t size) __THROW {
  if (before_truncating) before_truncating();
  return done([&] { return static_cast<int>(::syscall(SYS_ftruncate, file, size)); },
              [&](Observer& target) { target.resized(file); });
}
int ftruncate64(int file, off64_t size) __THROW { return ftruncate(file, size); }

// The file grows without allocation of blocks.
int fallocate(int file, int, off_t at, off_t size) {
  if (before_truncating) return fail_with(EOPNOTSUPP);
  return done(
      [&] {
        const long end = ::syscall(SYS_lseek, file, 0L, SEEK_END);
        return end < at + size ? static_cast<int>(::syscall(SYS_ftruncate, file, at + size)) : 0;
      },
      [&](Observer& target) { target.resized(file); });
}
int fallocate64(int file, int mode, off64_t at, off64_t size) {
  return fallocate(file, mode, at, size);
}
}
