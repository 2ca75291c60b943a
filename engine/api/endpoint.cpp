#include "tinyot/endpoint.h"

#include "base/error.h"
#include "engine/api/state.h"
#include "engine/key_file.h"
#include "net/transport_stream.h"

namespace tinyot {
namespace {

engine::Endpoint tcp(bool listen, std::string_view address, const Timeouts& timeouts) {
  return {.listen = listen,
          .address = net::parse_address(std::string(address)),
          .timeouts = {.connect = timeouts.connect, .idle = timeouts.idle}};
}

}  // namespace

Endpoint Endpoint::listen(std::string_view address, Timeouts timeouts) {
  return Endpoint(std::make_shared<State>(State{tcp(true, address, timeouts)}));
}

Endpoint Endpoint::connect(std::string_view address, Timeouts timeouts) {
  return Endpoint(std::make_shared<State>(State{tcp(false, address, timeouts)}));
}

Endpoint Endpoint::over(std::function<std::unique_ptr<Transport>()> open, Timeouts timeouts) {
  State state;
  state.endpoint.timeouts = {.connect = timeouts.connect, .idle = timeouts.idle};
  state.endpoint.open_stream = [open = std::move(open), idle = timeouts.idle] {
    auto transport = open();
    if (!transport) throw NetworkError("no transport to the peer was opened");
    return net::make_transport_stream(std::move(transport), idle);
  };
  return Endpoint(std::make_shared<State>(std::move(state)));
}

Endpoint& Endpoint::authenticate(const std::filesystem::path& my_key,
                                 const std::string& peers_key) {
  engine::authenticate(mutable_state().endpoint, my_key.string(), peers_key);
  return *this;
}

Endpoint& Endpoint::allow_plaintext() {
  mutable_state().plaintext_allowed = true;
  return *this;
}

Endpoint& Endpoint::log_rejections(std::function<void(const std::string&)> log) {
  mutable_state().endpoint.rejected = [log = std::move(log)](const std::string& line, Remedy) {
    log(line);
  };
  return *this;
}

Endpoint::State& Endpoint::mutable_state() {
  state_ = std::make_shared<State>(*state_);
  return *state_;
}

engine::Endpoint engine_endpoint(const Endpoint& endpoint) {
  const Endpoint::State& state = endpoint.state();
  if (!state.plaintext_allowed) engine::require_authenticated(state.endpoint);
  return state.endpoint;
}

std::string make_key_file(const std::filesystem::path& file) {
  const net::Identity identity = net::Identity::generate();
  engine::write_identity(identity, file);
  return net::text_of(identity.fingerprint());
}

}  // namespace tinyot
