// A TlsStream, and at its other end a script that knows the connection's secrets and seals whatever it likes.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>

#include "net/tls_stream.h"

namespace tinyot::test {

inline TrafficSecret traffic_secret(std::uint8_t seed) { return TrafficSecret(32, std::byte{seed}); }

struct RecordPeer {
  static constexpr std::uint64_t kRecordsPerKey = 100;

  RecordPeer() {
    std::array<int, 2> ends;
    ENSURE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    tcp = tcp_stream(ends[0]);
    stream = std::make_unique<TlsStream>(TlsSettings{{}, {}, kRecordsPerKey}, tcp_stream(ends[1]),
                                         TlsSecrets{traffic_secret(2), traffic_secret(1)}, std::vector<std::byte>());
  }

  void put(RecordType type, std::span<const std::byte> content) {
    SecretVector<std::byte> record;
    sealer.seal(type, content, {}, record);
    tcp->write(record);
  }

  // The next record of the stream's.
  std::pair<RecordType, std::vector<std::byte>> get() {
    std::array<std::byte, kRecordHeaderBytes> header;
    tcp->read(header);
    std::vector<std::byte> body(RecordOpener::body_bytes(header)), content(body.size() - kRecordOverheadBytes);
    tcp->read(body);
    const auto [type, size] = opener.open(header, body, content);
    content.resize(size);
    return {type, content};
  }

  // Nothing more comes.
  void end() { ::shutdown(tcp->descriptor(), SHUT_WR); }

  std::unique_ptr<TcpStream> tcp;
  std::unique_ptr<TlsStream> stream;
  RecordSealer sealer{traffic_secret(1)};
  RecordOpener opener{traffic_secret(2)};

 private:
  static std::unique_ptr<TcpStream> tcp_stream(int end) {
    auto io = std::make_unique<boost::asio::io_context>();
    boost::asio::ip::tcp::socket socket(*io, boost::asio::ip::tcp::v4(), end);
    return std::make_unique<TcpStream>(std::move(io), std::move(socket), std::chrono::seconds(10));
  }
};

}  // namespace tinyot::test
