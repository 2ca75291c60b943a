#include "net/admission.h"

#include "base/error.h"
#include "net/handshake.h"
#include "net/tcp_stream.h"

namespace tinyot::net {
namespace {

class Admitted final : public PendingStream {
 public:
  explicit Admitted(std::unique_ptr<TcpStream> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<ByteStream> advance() override { return std::move(stream_); }

 private:
  std::unique_ptr<TcpStream> stream_;
};

class AwaitsFirstMessage final : public PendingStream {
 public:
  explicit AwaitsFirstMessage(std::unique_ptr<TcpStream> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<ByteStream> advance() override {
    switch (classify_first_bytes(stream_->peek(kFirstBytes))) {
      case FirstBytes::Incomplete:
        return nullptr;
      case FirstBytes::Tls:
        throw NetworkError("the peer uses TLS, and this side does not", {}, Remedy::GiveKeys);
      case FirstBytes::Foreign:
        throw NetworkError("the peer does not speak the tinyot protocol");
      case FirstBytes::Ours:
        break;
    }
    return std::move(stream_);
  }

 private:
  std::unique_ptr<TcpStream> stream_;
};

class OpenAdmission final : public Admission {
 public:
  std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream, Side) const override {
    return std::make_unique<Admitted>(std::move(stream));
  }
};

class PlainAdmission final : public Admission {
 public:
  std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream,
                                       Side side) const override {
    if (side == Side::Connects) return std::make_unique<Admitted>(std::move(stream));
    return std::make_unique<AwaitsFirstMessage>(std::move(stream));
  }
};

}  // namespace

const Admission& open_admission() {
  static const OpenAdmission kAdmission;
  return kAdmission;
}

const Admission& plain_admission() {
  static const PlainAdmission kAdmission;
  return kAdmission;
}

}  // namespace tinyot::net
