// A session of a program: what it has begun, and the data that it has given so far. Nothing is
// asked of the daemon before the last call of an operation, which has the buffer for the result:
// what asks for a size, or has too small a buffer, leaves the operation as it is. Every other error
// ends it.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/secret_text.h"
#include "pkcs11/cryptoki.h"
#include "pkcs11/daemon.h"
#include "pkcs11/mechanisms.h"

namespace tinyot::pkcs11 {

// Where a program wants a result.
class Output {
 public:
  // Fails: CKR_ARGUMENTS_BAD.
  Output(CK_BYTE_PTR bytes, CK_ULONG_PTR size);

  // Whether a result of this size can be given; tells the size. Fails: CKR_BUFFER_TOO_SMALL.
  bool takes(std::size_t bytes) const;
  void give(std::string_view bytes) const;
  // Of a part that has no result, since it comes as a whole at the end. The size that is told is
  // not 0 unless the part's is: programs take a null buffer for the question.
  bool is_size_of_part(std::size_t part) const;

 private:
  CK_BYTE_PTR bytes_;
  CK_ULONG_PTR size_;
};

std::string_view text_from(CK_BYTE_PTR bytes, CK_ULONG size);  // Fails: CKR_ARGUMENTS_BAD

// Not thread-safe: its calls are made under its lock.
class Session {
 public:
  Session(Daemon& daemon, CK_SLOT_ID of_slot, bool may_write)
      : slot(of_slot), is_writable(may_write), daemon_(daemon) {}

  std::mutex mutex;
  const CK_SLOT_ID slot;
  const bool is_writable;

  // Fails: CKR_OPERATION_ACTIVE, and as require_use() and gcm_from().
  void begin(Use use, const CK_MECHANISM& mechanism, const Key& key);

  // All that follow fail: CKR_OPERATION_NOT_INITIALIZED; CKR_DATA_LEN_RANGE or
  // CKR_ENCRYPTED_DATA_LEN_RANGE; those that have a result, as Daemon.
  void add(Use use, std::string_view part);  // of Sign and Verify
  void add(Use use, std::string_view part, const Output& output);
  // The result of all data: of `whole`, if no part has been given before. Fails, too:
  // CKR_MECHANISM_PARAM_INVALID if the place for the nonce is no longer as it was at the beginning.
  void encrypt(std::optional<std::string_view> whole, const Output& output);
  // Fails: CKR_ENCRYPTED_DATA_INVALID.
  void decrypt(std::optional<std::string_view> whole, const Output& output);
  void sign(std::optional<std::string_view> whole, const Output& output);
  // Fails: CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE.
  void verify(std::optional<std::string_view> whole, std::string_view tag);

  // Fails: CKR_OPERATION_ACTIVE.
  void begin_search(std::deque<CK_OBJECT_HANDLE> found);
  void require_no_search() const;
  // Both fail: CKR_OPERATION_NOT_INITIALIZED.
  std::size_t next_found(std::span<CK_OBJECT_HANDLE> to);
  void end_search();

 private:
  struct Operation {
    Key key;
    GcmParameters gcm;
    SecretText data;
    bool has_parts = false;
  };
  std::optional<Operation>& operation(Use use) {
    return operations_[static_cast<std::size_t>(use)];
  }
  template <class Work>
  void within(Use use, const Work& work);

  Daemon& daemon_;
  std::array<std::optional<Operation>, kUses> operations_;
  std::optional<std::deque<CK_OBJECT_HANDLE>> found_;
};

}  // namespace tinyot::pkcs11
