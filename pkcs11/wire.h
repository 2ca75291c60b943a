// Messages in the encoding of Protocol Buffers, as far as those of tinyot/v1/keys_socket.proto need
// it. The library of Protocol Buffers is not used: the program into which the module is loaded may
// have another version of it, and a message may hold a plaintext, which is wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/secret_text.h"

namespace tinyot::pkcs11 {

class WireWriter {
 public:
  // Fields that have their default value are left out.
  void add(std::uint32_t field, std::string_view bytes) {
    if (!bytes.empty()) add_message(field, bytes);
  }
  void add_message(std::uint32_t field, std::string_view message);
  std::string_view message() const { return view_of(message_); }

 private:
  void add_number(std::uint64_t number);

  SecretText message_;
};

struct WireField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;   // of a number; otherwise 0
  std::string_view bytes{};  // of bytes, text or a message; otherwise empty
};

class WireReader {
 public:
  // The message outlives it.
  explicit WireReader(std::string_view message) : rest_(message) {}

  // The next field; false after the last. Fails: CKR_DEVICE_ERROR unless it is well-formed.
  bool next(WireField& field);

 private:
  std::uint64_t take_number();
  std::string_view take(std::uint64_t bytes);

  std::string_view rest_;
};

}  // namespace tinyot::pkcs11
