#include "pkcs11/session.h"

#include <algorithm>
#include <cstring>

namespace tinyot::pkcs11 {
namespace {

constexpr std::size_t kTextBytesMax = 64 << 10;

void require_length(Use use, std::size_t bytes) {
  const std::size_t max = kTextBytesMax + (use == Use::Decrypt ? kTagBytes : 0);
  require(bytes <= max, use == Use::Decrypt ? CKR_ENCRYPTED_DATA_LEN_RANGE : CKR_DATA_LEN_RANGE);
}

}  // namespace

Output::Output(CK_BYTE_PTR bytes, CK_ULONG_PTR size) : bytes_(bytes), size_(size) {
  require(size != nullptr, CKR_ARGUMENTS_BAD);
}

bool Output::takes(std::size_t bytes) const {
  const CK_ULONG room = *size_;
  *size_ = bytes;
  if (bytes_ == nullptr) return false;
  require(room >= bytes, CKR_BUFFER_TOO_SMALL);
  return true;
}

void Output::give(std::string_view bytes) const {
  *size_ = bytes.size();
  if (!bytes.empty()) std::memcpy(bytes_, bytes.data(), bytes.size());
}

bool Output::is_size_of_part(std::size_t part) const {
  *size_ = bytes_ == nullptr ? part : 0;
  return bytes_ == nullptr;
}

std::string_view text_from(CK_BYTE_PTR bytes, CK_ULONG size) {
  require(bytes != nullptr || size == 0, CKR_ARGUMENTS_BAD);
  return {reinterpret_cast<const char*>(bytes), size};
}

void Session::begin(Use use, const CK_MECHANISM& mechanism, const Key& key) {
  require(!operation(use), CKR_OPERATION_ACTIVE);
  require_use(key, mechanism.mechanism, use);
  GcmParameters gcm;
  if (mechanism.mechanism == CKM_AES_GCM)
    gcm = gcm_from(mechanism, key, use);
  else
    require_no_parameters(mechanism);
  operation(use) = Operation{key, std::move(gcm), {}, false};
}

// Ends the operation unless `work` says that it goes on, or that the buffer is too small.
template <class Work>
void Session::within(Use use, const Work& work) {
  require(operation(use).has_value(), CKR_OPERATION_NOT_INITIALIZED);
  try {
    if (!work(*operation(use))) operation(use).reset();
  } catch (const Failed& failed) {
    if (failed.code() != CKR_BUFFER_TOO_SMALL) operation(use).reset();
    throw;
  } catch (const std::exception&) {
    operation(use).reset();
    throw;
  }
}

void Session::add(Use use, std::string_view part) {
  within(use, [&](Operation& of) {
    require_length(use, part.size());
    require_length(use, of.data.size() + part.size());
    of.data.insert(of.data.end(), part.begin(), part.end());
    of.has_parts = true;
    return true;
  });
}

void Session::add(Use use, std::string_view part, const Output& output) {
  require(operation(use).has_value(), CKR_OPERATION_NOT_INITIALIZED);
  if (!output.is_size_of_part(part.size())) add(use, part);
}

void Session::encrypt(std::optional<std::string_view> whole, const Output& output) {
  within(Use::Encrypt, [&](const Operation& of) {
    require(!whole || !of.has_parts, CKR_OPERATION_NOT_INITIALIZED);
    const std::string_view text = whole.value_or(view_of(of.data));
    require_length(Use::Encrypt, text.size());
    if (!output.takes(text.size() + kTagBytes)) return true;
    const bool chooses = of.gcm.nonce_to_fill == nullptr;
    // What a program has freed since, or given to another operation, is not written to.
    require(
        chooses || std::memcmp(of.gcm.nonce_to_fill, of.gcm.nonce.data(), of.gcm.nonce.size()) == 0,
        CKR_MECHANISM_PARAM_INVALID);
    const Daemon::Sealed sealed =
        daemon_.encrypt(of.key, text, view_of(of.gcm.associated),
                        chooses ? std::optional(of.gcm.nonce) : std::nullopt);
    if (!chooses) std::memcpy(of.gcm.nonce_to_fill, sealed.nonce.data(), sealed.nonce.size());
    output.give(sealed.text);
    return false;
  });
}

void Session::decrypt(std::optional<std::string_view> whole, const Output& output) {
  within(Use::Decrypt, [&](const Operation& of) {
    require(!whole || !of.has_parts, CKR_OPERATION_NOT_INITIALIZED);
    const std::string_view sealed = whole.value_or(view_of(of.data));
    require_length(Use::Decrypt, sealed.size());
    require(sealed.size() >= kTagBytes, CKR_ENCRYPTED_DATA_LEN_RANGE);
    if (!output.takes(sealed.size() - kTagBytes)) return true;
    const auto text = daemon_.decrypt(of.key, sealed, view_of(of.gcm.associated), of.gcm.nonce);
    require(text.has_value(), CKR_ENCRYPTED_DATA_INVALID);
    output.give(view_of(*text));
    return false;
  });
}

void Session::sign(std::optional<std::string_view> whole, const Output& output) {
  within(Use::Sign, [&](const Operation& of) {
    require(!whole || !of.has_parts, CKR_OPERATION_NOT_INITIALIZED);
    const std::string_view text = whole.value_or(view_of(of.data));
    require_length(Use::Sign, text.size());
    const std::size_t bytes = tag_bytes_of(of.key.algorithm);
    if (!output.takes(bytes)) return true;
    const std::string tag = daemon_.sign(of.key, text);
    require(tag.size() == bytes, CKR_DEVICE_ERROR);
    output.give(tag);
    return false;
  });
}

void Session::verify(std::optional<std::string_view> whole, std::string_view tag) {
  within(Use::Verify, [&](const Operation& of) {
    require(!whole || !of.has_parts, CKR_OPERATION_NOT_INITIALIZED);
    const std::string_view text = whole.value_or(view_of(of.data));
    require_length(Use::Verify, text.size());
    require(tag.size() == tag_bytes_of(of.key.algorithm), CKR_SIGNATURE_LEN_RANGE);
    require(daemon_.verify(of.key, text, tag), CKR_SIGNATURE_INVALID);
    return false;
  });
}

void Session::begin_search(std::deque<CK_OBJECT_HANDLE> found) {
  require_no_search();
  found_ = std::move(found);
}

void Session::require_no_search() const { require(!found_, CKR_OPERATION_ACTIVE); }

std::size_t Session::next_found(std::span<CK_OBJECT_HANDLE> to) {
  require(found_.has_value(), CKR_OPERATION_NOT_INITIALIZED);
  const std::size_t given = std::min(to.size(), found_->size());
  std::copy_n(found_->begin(), given, to.begin());
  found_->erase(found_->begin(), found_->begin() + static_cast<std::ptrdiff_t>(given));
  return given;
}

void Session::end_search() {
  require(found_.has_value(), CKR_OPERATION_NOT_INITIALIZED);
  found_.reset();
}

}  // namespace tinyot::pkcs11
