#include "net/transport_stream.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "net/byte_queue.h"
#include "net/idle_timer.h"

namespace tinyot::net {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;  // read or written at a time
constexpr auto kLastWriteTime = std::chrono::seconds(1);

class TransportStream final : public ByteStream {
 public:
  TransportStream(std::unique_ptr<Transport> transport, std::chrono::milliseconds idle_timeout)
      : transport_(std::move(transport)), idle_timeout_(idle_timeout),
        reader_([this] { read_all(); }), writer_([this] { write_all(); }) {}
  ~TransportStream() override {
    {
      // Output that a socket would have accepted at once is still sent: it may tell the peer why
      // this party ends.
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kLastWriteTime, [&] { return is_flushed(); });
      is_ending_ = true;
    }
    changed_.notify_all();
    transport_->shut_down();
    reader_.join();
    writer_.join();
  }
  TransportStream(const TransportStream&) = delete;
  TransportStream& operator=(const TransportStream&) = delete;

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    std::unique_lock lock(mutex_);
    written_since_read_ += bytes.size() + more.size();
    for (std::span<const std::byte> rest : {bytes, more}) {
      while (!rest.empty() && !cannot_write_) {
        const std::size_t count = std::min(rest.size(), kOutboxBytesMax - outbox_.size());
        outbox_.insert(outbox_.end(), rest.begin(),
                       rest.begin() + static_cast<std::ptrdiff_t>(count));
        rest = rest.subspan(count);
        changed_.notify_all();
        is_write_waiting_ = true;
        wait(lock,
             [&] { return rest.empty() || outbox_.size() < kOutboxBytesMax || cannot_write_; });
        is_write_waiting_ = false;
      }
    }
  }

  void read(std::span<std::byte> bytes) override {
    std::unique_lock lock(mutex_);
    written_since_read_ = 0;
    while (!bytes.empty()) {
      wait(lock, [&] { return inbox_.size() > 0 || cannot_read_; });
      if (inbox_.size() == 0) throw NetworkError(end_);
      const std::size_t count = std::min(bytes.size(), inbox_.size());
      std::ranges::copy(inbox_.front().first(count), bytes.begin());
      bytes = bytes.subspan(count);
      inbox_.drop(count);
      changed_.notify_all();
    }
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return is_flushed(); });
  }

  void set_deadline(Clock::time_point deadline) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      deadline_ = deadline;
    }
    changed_.notify_all();
  }

 private:
  // Reads ahead of the caller only as far as needed to keep two writing parties from blocking each
  // other.
  bool may_read() const {
    return inbox_.size() < (is_write_waiting_ ? kAheadBytesMax + written_since_read_ : kChunkBytes);
  }
  bool is_flushed() const { return (outbox_.empty() && !is_writing_) || cannot_write_; }

  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition holds) {
    IdleTimer timer(idle_timeout_);
    std::uint64_t moved = moved_;
    while (!holds()) {
      if (Clock::now() >= deadline_) throw NetworkError("stopped");
      timer.add_progress(moved_ - std::exchange(moved, moved_));
      timer.check();
      changed_.wait_until(lock, std::min(timer.until(), deadline_));
    }
  }

  void read_all() noexcept {
    std::vector<std::byte> chunk(kChunkBytes);
    std::string end = "the peer closed the connection";
    try {
      for (;;) {
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return may_read() || is_ending_; });
          if (is_ending_) break;
        }
        const std::size_t count = transport_->read(chunk);
        if (count == 0) break;
        require(count <= chunk.size(), "a transport returned more bytes than requested");
        const std::lock_guard lock(mutex_);
        inbox_.append(std::span(chunk).first(count));
        moved_ += count;
        changed_.notify_all();
      }
    } catch (const std::exception& error) {
      end = std::string("the transport cannot read: ") + error.what();
    } catch (...) {
      end = "the transport cannot read";
    }
    const std::lock_guard lock(mutex_);
    cannot_read_ = true;
    end_ = end;
    changed_.notify_all();
  }

  // Once the transport cannot write any more, output is discarded: the peer's last message explains
  // more than the failure to write.
  void write_all() noexcept {
    std::vector<std::byte> chunk;
    try {
      for (;;) {
        {
          std::unique_lock lock(mutex_);
          is_writing_ = false;
          changed_.notify_all();
          changed_.wait(lock, [&] { return !outbox_.empty() || is_ending_; });
          if (is_ending_) return;
          chunk.swap(outbox_);
          is_writing_ = true;
        }
        changed_.notify_all();
        for (std::size_t at = 0; at < chunk.size(); at += kChunkBytes) {
          const std::size_t count = std::min(kChunkBytes, chunk.size() - at);
          transport_->write(std::span(chunk).subspan(at, count));
          const std::lock_guard lock(mutex_);
          moved_ += count;
          changed_.notify_all();
        }
        chunk.clear();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      cannot_write_ = true;
      is_writing_ = false;
      outbox_.clear();
      changed_.notify_all();
    }
  }

  std::unique_ptr<Transport> transport_;
  std::chrono::milliseconds idle_timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::vector<std::byte> outbox_;
  ByteQueue inbox_;
  std::size_t written_since_read_ = 0;  // bytes
  std::uint64_t moved_ = 0;             // bytes, in both directions
  bool is_write_waiting_ = false;       // for room in the outbox
  bool is_writing_ = false, cannot_write_ = false, cannot_read_ = false, is_ending_ = false;
  std::string end_;
  std::thread reader_, writer_;  // last: they use all other members
};

}  // namespace

std::unique_ptr<ByteStream> make_transport_stream(std::unique_ptr<Transport> transport,
                                                  std::chrono::milliseconds idle_timeout) {
  return std::make_unique<TransportStream>(std::move(transport), idle_timeout);
}

}  // namespace tinyot::net
