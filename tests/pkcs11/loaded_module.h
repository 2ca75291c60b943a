// The module as programs load it, and calls of it that are expected to succeed.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <p11-kit/pkcs11.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tinyot::test {

class LoadedModule {
 public:
  LoadedModule() : library_(::dlopen(TINYOT_PKCS11_MODULE, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
    const auto get = reinterpret_cast<CK_C_GetFunctionList>(::dlsym(library_, "C_GetFunctionList"));
    if (get == nullptr || get(&functions_) != CKR_OK) throw std::runtime_error("no functions");
  }
  ~LoadedModule() { ::dlclose(library_); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  const CK_FUNCTION_LIST* operator->() const { return functions_; }

 private:
  void* const library_;
  CK_FUNCTION_LIST* functions_ = nullptr;
};

inline CK_BYTE_PTR data_of(const std::string& text) {
  return reinterpret_cast<CK_BYTE_PTR>(const_cast<char*>(text.data()));
}

// Parameters of CKM_AES_GCM, with what they point to.
struct Gcm {
  explicit Gcm(std::string iv = std::string(12, '\0'), std::string associated = {})
      : nonce(std::move(iv)), aad(std::move(associated)) {
    parameters.pIv = data_of(nonce);
    parameters.ulIvLen = nonce.size();
    parameters.pAAD = data_of(aad);
    parameters.ulAADLen = aad.size();
    parameters.ulTagBits = 128;
  }
  Gcm(const Gcm&) = delete;
  CK_MECHANISM* mechanism() { return &mechanism_; }

  std::string nonce, aad;
  CK_GCM_PARAMS parameters{};

 private:
  CK_MECHANISM mechanism_{CKM_AES_GCM, &parameters, sizeof parameters};
};

struct Result {
  CK_RV code;
  std::string text;
};

// A whole operation in a session.
inline Result encrypt(const LoadedModule& module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key,
                      Gcm& gcm, const std::string& text) {
  if (const CK_RV code = module->C_EncryptInit(session, gcm.mechanism(), key)) return {code, {}};
  std::string sealed(text.size() + 16, '\0');
  CK_ULONG size = sealed.size();
  const CK_RV code = module->C_Encrypt(session, data_of(text), text.size(), data_of(sealed), &size);
  return {code, code == CKR_OK ? sealed.substr(0, size) : std::string()};
}

inline Result decrypt(const LoadedModule& module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key,
                      Gcm& gcm, const std::string& sealed) {
  if (const CK_RV code = module->C_DecryptInit(session, gcm.mechanism(), key)) return {code, {}};
  std::string text(sealed.size(), '\0');
  CK_ULONG size = text.size();
  const CK_RV code =
      module->C_Decrypt(session, data_of(sealed), sealed.size(), data_of(text), &size);
  return {code, code == CKR_OK ? text.substr(0, size) : std::string()};
}

inline Result sign(const LoadedModule& module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key,
                   CK_MECHANISM_TYPE type, const std::string& text) {
  CK_MECHANISM mechanism{type, nullptr, 0};
  if (const CK_RV code = module->C_SignInit(session, &mechanism, key)) return {code, {}};
  std::string tag(32, '\0');
  CK_ULONG size = tag.size();
  const CK_RV code = module->C_Sign(session, data_of(text), text.size(), data_of(tag), &size);
  return {code, code == CKR_OK ? tag.substr(0, size) : std::string()};
}

inline CK_RV verify(const LoadedModule& module, CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key,
                    CK_MECHANISM_TYPE type, const std::string& text, const std::string& tag) {
  CK_MECHANISM mechanism{type, nullptr, 0};
  if (const CK_RV code = module->C_VerifyInit(session, &mechanism, key)) return code;
  return module->C_Verify(session, data_of(text), text.size(), data_of(tag), tag.size());
}

inline std::vector<CK_SLOT_ID> slots_of(const LoadedModule& module) {
  CK_ULONG count = 0;
  EXPECT_EQ(module->C_GetSlotList(CK_TRUE, nullptr, &count), CKR_OK);
  std::vector<CK_SLOT_ID> slots(count);
  EXPECT_EQ(module->C_GetSlotList(CK_TRUE, slots.data(), &count), CKR_OK);
  slots.resize(count);
  return slots;
}

inline CK_SESSION_HANDLE open_session(const LoadedModule& module, CK_SLOT_ID slot = 0) {
  CK_SESSION_HANDLE session = 0;
  EXPECT_EQ(
      module->C_OpenSession(slot, CKF_SERIAL_SESSION | CKF_RW_SESSION, nullptr, nullptr, &session),
      CKR_OK);
  return session;
}

// All objects that fit.
inline std::vector<CK_OBJECT_HANDLE> find(const LoadedModule& module, CK_SESSION_HANDLE session,
                                          std::vector<CK_ATTRIBUTE> attributes) {
  EXPECT_EQ(module->C_FindObjectsInit(session, attributes.data(), attributes.size()), CKR_OK);
  std::vector<CK_OBJECT_HANDLE> found;
  std::array<CK_OBJECT_HANDLE, 2> some{};
  for (CK_ULONG count = 1; count > 0;) {
    EXPECT_EQ(module->C_FindObjects(session, some.data(), some.size(), &count), CKR_OK);
    found.insert(found.end(), some.begin(), some.begin() + count);
  }
  EXPECT_EQ(module->C_FindObjectsFinal(session), CKR_OK);
  return found;
}

inline CK_OBJECT_HANDLE key_labelled(const LoadedModule& module, CK_SESSION_HANDLE session,
                                     const std::string& label) {
  const auto found = find(module, session, {{CKA_LABEL, data_of(label), label.size()}});
  return found.empty() ? 0 : found.front();
}

}  // namespace tinyot::test
