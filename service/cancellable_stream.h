// A stream that a stop request cancels: every wait on it then fails. It counts the bytes that it
// transfers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>

#include "net/byte_stream.h"

namespace tinyot::service {

struct ByteCount {
  std::atomic<std::uint64_t> sent = 0, received = 0;
  std::uint64_t both() const { return sent + received; }
};

class CancellableStream final : public net::ByteStream {
 public:
  // `transferred`, which outlives the stream, counts the bytes of each direction.
  CancellableStream(std::unique_ptr<net::ByteStream> stream, const std::stop_token& cancel,
                    ByteCount& transferred)
      : stream_(std::move(stream)), transferred_(transferred), callback_(cancel, Cancel{*this}) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    stream_->write(bytes, more);
    transferred_.sent += bytes.size() + more.size();
  }
  void read(std::span<std::byte> bytes) override {
    stream_->read(bytes);
    transferred_.received += bytes.size();
  }
  void flush() override { stream_->flush(); }
  std::span<const std::byte> binding() const override { return stream_->binding(); }
  bool has_ended() override { return stream_->has_ended(); }
  void limit_rate(std::uint64_t bytes_per_s) override { stream_->limit_rate(bytes_per_s); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    const std::lock_guard lock(mutex_);
    stream_->set_deadline(is_cancelled_ ? std::chrono::steady_clock::now() : deadline);
  }

 private:
  struct Cancel {
    CancellableStream& stream;
    void operator()() const noexcept {
      const std::lock_guard lock(stream.mutex_);
      stream.is_cancelled_ = true;
      stream.stream_->set_deadline(std::chrono::steady_clock::now());
    }
  };

  std::unique_ptr<net::ByteStream> stream_;
  ByteCount& transferred_;
  std::mutex mutex_;
  bool is_cancelled_ = false;  // no later deadline counts
  std::stop_callback<Cancel> callback_;
};

}  // namespace tinyot::service
