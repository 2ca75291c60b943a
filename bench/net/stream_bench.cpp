// The speed of a stream over loopback: both ends write a message and then read the peer's, each on
// its own thread. CPU time is the sum for both.
//
// Lower bound of TLS over TCP: one end encrypts the bytes and the other decrypts them, each at the
// speed of seal_and_open.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "net/tls/openssl.h"
#include "tests/net/stream_pair.h"

namespace tinyot {
namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

void exchange(benchmark::State& state, test::Layer layer) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::size_t rounds = std::max<std::size_t>(1, (std::size_t{64} << 20) / size);
  test::StreamPair pair(layer);
  const auto run = [&](ByteStream& stream) {
    const std::vector<std::byte> mine(size, std::byte{0x5a});
    std::vector<std::byte> peers(size);
    for (std::size_t i = 0; i < rounds; ++i) {
      stream.write(mine);
      stream.read(peers);
    }
    stream.flush();
  };
  for (auto _ : state) {
    std::jthread other([&] { run(*pair.b); });
    run(*pair.a);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * rounds * 2 * size));
}

// AES-128-GCM on the bytes of one record, in place: encryption and decryption.
void seal_and_open(benchmark::State& state) {
  const std::array<unsigned char, 16> key{};
  const std::array<unsigned char, 12> nonce{};
  std::array<unsigned char, 16> tag{};
  std::vector<unsigned char> record(kRecordBytes);
  using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, OpensslDeleter<EVP_CIPHER_CTX_free>>;
  const ContextPtr owner(EVP_CIPHER_CTX_new());
  EVP_CIPHER_CTX* context = owner.get();
  int count = 0;
  for (auto _ : state) {
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, key.data(), nonce.data());
    EVP_EncryptUpdate(context, record.data(), &count, record.data(),
                      static_cast<int>(record.size()));
    EVP_EncryptFinal_ex(context, nullptr, &count);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data());
    EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data());
    EVP_DecryptUpdate(context, record.data(), &count, record.data(),
                      static_cast<int>(record.size()));
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag.size(), tag.data());
    if (EVP_DecryptFinal_ex(context, nullptr, &count) != 1)
      state.SkipWithError("decryption of the sealed record failed");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(record.size()));
}

void by_message_size(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1 << 14)
      ->Arg(1 << 20)
      ->Arg(1 << 25)
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

BENCHMARK(seal_and_open);
BENCHMARK_CAPTURE(exchange, tcp, test::Layer::Tcp)->Apply(by_message_size);
BENCHMARK_CAPTURE(exchange, tls, test::Layer::Tls)->Apply(by_message_size);

}  // namespace
}  // namespace tinyot
