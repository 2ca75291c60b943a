// A transport provided by the caller, here a Unix socket, for a comparison of two salaries.
//
//   ./4_transport A PATH 4100 & ./4_transport B PATH 3900
#include <sys/socket.h>
#include <sys/un.h>
#include <tinyot/tinyot.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

using tinyot::Party;

class UnixSocket : public tinyot::Transport {
 public:
  explicit UnixSocket(int descriptor) : descriptor_(descriptor) { check(descriptor, "connect"); }
  ~UnixSocket() override { ::close(descriptor_); }
  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty())
      bytes = bytes.subspan(
          check(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send"));
  }
  std::size_t read(std::span<std::byte> bytes) override {
    return check(::recv(descriptor_, bytes.data(), bytes.size(), 0), "receive");
  }
  void shut_down() noexcept override { ::shutdown(descriptor_, SHUT_RDWR); }

 private:
  static std::size_t check(ssize_t result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return static_cast<std::size_t>(result);
  }
  int descriptor_;
};

int connect_to(const sockaddr_un& address) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  while (::connect(descriptor, at, sizeof address) != 0) ::usleep(10'000);
  return descriptor;
}

// A listens at the path, B connects to it.
tinyot::Endpoint endpoint_at(Party party, const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (party == Party::B)
    return tinyot::Endpoint::over(
        [=] { return std::make_unique<UnixSocket>(connect_to(address)); });
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 2) != 0)
    throw std::system_error(errno, std::generic_category(), path);
  return tinyot::Endpoint::over(
      [=] { return std::make_unique<UnixSocket>(::accept(listener, nullptr, nullptr)); });
}

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s A|B PATH SALARY\n", argv[0]), 2;
  const Party party = *argv[1] == 'A' ? Party::A : Party::B;
  try {
    const auto comparison = tinyot::circuit::make_circuit("salaries", [](auto& program) {
      const auto a = program.input("a", 32, Party::A), b = program.input("b", 32, Party::B);
      program.output("a is higher", a > b);
    });
    const tinyot::RunRequest request{.party = party,
                                     .endpoint = endpoint_at(party, argv[2]),
                                     .live = tinyot::ParameterRequest{}};
    tinyot::Values mine;
    mine.set(party == Party::A ? "a" : "b", std::strtoull(argv[3], nullptr, 10));
    const auto outputs = tinyot::run(request, *comparison, mine).outputs;
    const bool is_higher = outputs.integer("a is higher") != 0;
    return std::printf("%c: A's is%s higher\n", letter(party), is_higher ? "" : " not"), 0;
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s: %s\n", argv[1], error.what()), 1;
  }
}
