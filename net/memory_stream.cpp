#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "net/byte_stream.h"

namespace tinyot {
namespace {

// One direction. The bytes are kept as the writes made them, so that a large write is copied once.
struct Pipe {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::vector<std::byte>> writes;
  std::size_t front_offset = 0;
  bool closed = false;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();  // of the reader

  void close() {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_all();
  }

  void wait_for_bytes(std::unique_lock<std::mutex>& lock) {
    const auto ready = [&] { return closed || !writes.empty(); };
    while (!ready()) {
      const auto until = deadline;
      if (until <= std::chrono::steady_clock::now()) return;
      if (until == std::chrono::steady_clock::time_point::max())
        changed.wait(lock);
      else
        changed.wait_until(lock, until);
    }
  }
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<Pipe> out, std::shared_ptr<Pipe> in) : out_(std::move(out)), in_(std::move(in)) {}
  ~MemoryStream() override {
    out_->close();
    in_->close();
  }

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (bytes.empty() && more.empty()) return;
    const std::lock_guard lock(out_->mutex);
    // What a peer that is gone has said before, as that it aborts, is still to be read: its silence shows there.
    if (out_->closed) return;
    out_->writes.emplace_back(bytes.begin(), bytes.end());
    out_->writes.back().insert(out_->writes.back().end(), more.begin(), more.end());
    out_->changed.notify_one();
  }

  void read(std::span<std::byte> bytes) override {
    std::unique_lock lock(in_->mutex);
    while (!bytes.empty()) {
      in_->wait_for_bytes(lock);
      if (in_->writes.empty()) throw NetworkError(in_->closed ? "the peer closed the connection" : "stopped");
      const auto& front = in_->writes.front();
      const std::size_t count = std::min(bytes.size(), front.size() - in_->front_offset);
      std::memcpy(bytes.data(), front.data() + in_->front_offset, count);
      bytes = bytes.subspan(count);
      in_->front_offset += count;
      if (in_->front_offset == front.size()) {
        in_->writes.pop_front();
        in_->front_offset = 0;
      }
    }
  }

  void flush() override {}

  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    const std::lock_guard lock(in_->mutex);
    in_->deadline = deadline;
    in_->changed.notify_all();
  }

 private:
  std::shared_ptr<Pipe> out_, in_;
};

}  // namespace

MemoryStreams make_memory_streams() {
  auto to_a = std::make_shared<Pipe>(), to_b = std::make_shared<Pipe>();
  return {std::make_unique<MemoryStream>(to_b, to_a), std::make_unique<MemoryStream>(to_a, to_b)};
}

}  // namespace tinyot
