// A stream with another owner beside it: it is closed once both are destroyed. So a daemon tells
// its peer why a job has failed before the peer can see that the job's connection has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "net/byte_stream.h"

namespace tinyot::service {

class HeldStream final : public net::ByteStream {
 public:
  explicit HeldStream(std::shared_ptr<net::ByteStream> stream) : stream_(std::move(stream)) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    stream_->write(bytes, more);
  }
  void read(std::span<std::byte> bytes) override { stream_->read(bytes); }
  void flush() override { stream_->flush(); }
  std::span<const std::byte> binding() const override { return stream_->binding(); }
  bool has_ended() override { return stream_->has_ended(); }
  void limit_rate(std::uint64_t bytes_per_s) override { stream_->limit_rate(bytes_per_s); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    stream_->set_deadline(deadline);
  }

 private:
  std::shared_ptr<net::ByteStream> stream_;
};

}  // namespace tinyot::service
