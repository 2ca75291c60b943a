#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "net/byte_stream.h"

namespace tinyot::net {
namespace {

// Both directions; each end reads from one of them. Each write is stored as one vector, so that a
// large write is copied once.
struct Link {
  struct Pipe {
    std::deque<std::vector<std::byte>> writes;
    std::size_t front_offset = 0;
    bool is_awaited = false;  // the reader waits for bytes
    // for the reader
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  };

  std::mutex mutex;
  std::condition_variable changed;
  Pipe pipes[2];
  bool closed = false;

  // Both ends wait, so neither will write.
  bool is_stuck() const {
    return std::ranges::all_of(
        pipes, [](const Pipe& pipe) { return pipe.is_awaited && pipe.writes.empty(); });
  }

  // Returns with bytes to read, or fails.
  void wait_for_bytes(std::unique_lock<std::mutex>& lock, Pipe& pipe) {
    if (pipe.deadline <= std::chrono::steady_clock::now()) throw NetworkError("stopped");
    pipe.is_awaited = true;
    if (is_stuck()) changed.notify_all();
    while (pipe.writes.empty()) {
      if (closed) throw NetworkError("the peer closed the connection");
      if (is_stuck()) throw NetworkError("both parties wait for each other");
      const auto until = pipe.deadline;
      if (until <= std::chrono::steady_clock::now()) throw NetworkError("stopped");
      if (until == std::chrono::steady_clock::time_point::max())
        changed.wait(lock);
      else
        changed.wait_until(lock, until);
    }
    pipe.is_awaited = false;
  }
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<Link> link, std::size_t reads_from)
      : link_(std::move(link)), in_(link_->pipes[reads_from]), out_(link_->pipes[1 - reads_from]) {}
  ~MemoryStream() override {
    const std::lock_guard lock(link_->mutex);
    link_->closed = true;
    link_->changed.notify_all();
  }

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (bytes.empty() && more.empty()) return;
    const std::lock_guard lock(link_->mutex);
    // Writes to a closed stream succeed, so that what the peer sent before, such as an abort, is
    // still read; the next read reports the end.
    if (link_->closed) return;
    out_.writes.emplace_back(bytes.begin(), bytes.end());
    out_.writes.back().insert(out_.writes.back().end(), more.begin(), more.end());
    link_->changed.notify_all();
  }

  void read(std::span<std::byte> bytes) override {
    std::unique_lock lock(link_->mutex);
    while (!bytes.empty()) {
      link_->wait_for_bytes(lock, in_);
      const auto& front = in_.writes.front();
      const std::size_t count = std::min(bytes.size(), front.size() - in_.front_offset);
      std::memcpy(bytes.data(), front.data() + in_.front_offset, count);
      bytes = bytes.subspan(count);
      in_.front_offset += count;
      if (in_.front_offset == front.size()) {
        in_.writes.pop_front();
        in_.front_offset = 0;
      }
    }
  }

  void flush() override {}

  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    const std::lock_guard lock(link_->mutex);
    in_.deadline = deadline;
    link_->changed.notify_all();
  }

 private:
  std::shared_ptr<Link> link_;
  Link::Pipe &in_, &out_;
};

}  // namespace

MemoryStreams make_memory_streams() {
  const auto link = std::make_shared<Link>();
  return {std::make_unique<MemoryStream>(link, 0), std::make_unique<MemoryStream>(link, 1)};
}

}  // namespace tinyot::net
