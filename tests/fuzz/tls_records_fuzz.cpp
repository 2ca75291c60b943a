// What comes over a TLS connection after its handshake: a script of records, by somebody who knows the keys, and of bytes that nobody
// sealed. The stream hands out what was sealed as data, in its order and no more, and ends with a NetworkError.
#include <algorithm>
#include <deque>

#include "tests/fuzz/fuzz_circuit.h"
#include "tests/net/record_peer.h"

namespace {

using namespace tinyot;

constexpr std::size_t kTotalMax = 100'000;  // fits into a socket

class Script {
 public:
  explicit Script(std::span<const std::byte> text) : text_(text) {}
  bool is_over() const { return text_.empty(); }
  std::span<const std::byte> take(std::size_t count) {
    const auto taken = text_.first(std::min(count, text_.size()));
    text_ = text_.subspan(taken.size());
    return taken;
  }
  std::size_t number() {
    const auto digit = take(1);
    return digit.empty() ? 0 : std::to_integer<std::size_t>(digit[0]);
  }

 private:
  std::span<const std::byte> text_;
};

// A type of zero is padding, and the type stands before it.
std::span<const std::byte> data_in(RecordType type, std::span<const std::byte> content) {
  while (type == RecordType{0} && !content.empty()) {
    type = static_cast<RecordType>(content.back());
    content = content.first(content.size() - 1);
  }
  return type == RecordType::Data ? content : std::span<const std::byte>();
}

}  // namespace

// r, s: a record of the bytes up to a count, or of so many hundreds; its type goes before. k: a new key. Others go as they are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(std::as_bytes(std::span(data, std::min(size, fuzz::kTextMax))));
  test::RecordPeer peer;
  std::deque<std::byte> sealed;
  std::size_t total = 0;
  while (!script.is_over() && total < kTotalMax) {
    const auto operation = script.take(1);
    const char letter = static_cast<char>(operation[0]);
    if (letter == 'k') {
      peer.sealer.renew();
    } else if (letter == 'r' || letter == 's') {
      const auto type = static_cast<RecordType>(script.number());
      const std::size_t count = script.number();
      const auto few = letter == 'r' ? script.take(count) : std::span<const std::byte>();
      const std::vector<std::byte> many(letter == 's' ? std::min<std::size_t>(100 * count, kRecordContentMax) : 0, std::byte{'x'});
      const std::span<const std::byte> content = letter == 'r' ? few : std::span(many);
      peer.put(type, content);
      const auto data_of_it = data_in(type, content);
      sealed.insert(sealed.end(), data_of_it.begin(), data_of_it.end());
      total += content.size();
    } else {
      peer.tcp->write(operation);
      ++total;
    }
  }
  peer.end();
  std::size_t wanted = 0;
  try {
    for (;;) {
      std::vector<std::byte> piece(1 + wanted++ % 300 * 7);
      peer.stream->read(piece);
      ENSURE(piece.size() <= sealed.size() && std::equal(piece.begin(), piece.end(), sealed.begin()));
      sealed.erase(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(piece.size()));
    }
  } catch (const NetworkError&) {
  }
  return 0;
}
