// A stream that a stop request breaks: what waits on it then fails. It counts the bytes that it
// moves.
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

using ByteCount = std::atomic<std::uint64_t>;

class BreakableStream final : public net::ByteStream {
 public:
  // `moved`, which outlives the stream, counts bytes in both directions.
  BreakableStream(std::unique_ptr<net::ByteStream> stream, const std::stop_token& broken,
                  ByteCount& moved)
      : stream_(std::move(stream)), moved_(moved), callback_(broken, Break{*this}) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    stream_->write(bytes, more);
    moved_ += bytes.size() + more.size();
  }
  void read(std::span<std::byte> bytes) override {
    stream_->read(bytes);
    moved_ += bytes.size();
  }
  void flush() override { stream_->flush(); }
  std::span<const std::byte> binding() const override { return stream_->binding(); }
  void limit_rate(std::uint64_t bytes_per_s) override { stream_->limit_rate(bytes_per_s); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    const std::lock_guard lock(mutex_);
    stream_->set_deadline(is_broken_ ? std::chrono::steady_clock::now() : deadline);
  }

 private:
  struct Break {
    BreakableStream& stream;
    void operator()() const noexcept {
      const std::lock_guard lock(stream.mutex_);
      stream.is_broken_ = true;
      stream.stream_->set_deadline(std::chrono::steady_clock::now());
    }
  };

  std::unique_ptr<net::ByteStream> stream_;
  ByteCount& moved_;
  std::mutex mutex_;
  bool is_broken_ = false;  // no later deadline counts
  std::stop_callback<Break> callback_;
};

}  // namespace tinyot::service
