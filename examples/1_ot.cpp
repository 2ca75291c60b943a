// Oblivious transfer: the sender has two strings for each transfer, the receiver learns the one
// that it chooses, and the sender does not learn which.
//
//   ./1_ot sender & ./1_ot receiver
#include <tinyot/ot.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

constexpr std::size_t kCount = 1'000'000;

std::string address() {
  const char* port = std::getenv("TINYOT_PORT");
  return std::string("127.0.0.1:") + (port != nullptr ? port : "7766");
}

// The two messages of transfer i: i alone, or i with the upper half set.
tinyot::Block message(std::size_t i, bool choice) { return {i, choice ? ~std::uint64_t{0} : 0}; }

void send() {
  tinyot::OtSender sender({tinyot::Endpoint::listen(address())});
  std::vector<tinyot::Block> zeros(kCount), ones(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    zeros[i] = message(i, false);
    ones[i] = message(i, true);
  }
  sender.chosen(zeros, ones);
  std::printf("sent %zu pairs of strings\n", kCount);
}

bool receive() {
  tinyot::OtReceiver receiver({tinyot::Endpoint::connect(address())});
  std::vector<std::byte> choices(kCount / 8, std::byte{0b01101001});
  std::vector<tinyot::Block> messages(kCount);
  receiver.chosen(choices, messages);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool choice = (0b01101001 >> (i % 8)) & 1;
    const tinyot::Block expected = message(i, choice);
    wrong += messages[i].lo != expected.lo || messages[i].hi != expected.hi;
  }
  std::printf("received %zu strings, %zu of them wrong\n", kCount, wrong);
  return wrong == 0;
}

int main(int argc, char** argv) {
  const std::string role = argc == 2 ? argv[1] : "";
  if (role != "sender" && role != "receiver") {
    std::fprintf(stderr, "usage: %s sender|receiver\n", argv[0]);
    return 2;
  }
  try {
    if (role == "receiver") return receive() ? 0 : 1;
    send();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", role.c_str(), error.what());
    return 1;
  }
}
