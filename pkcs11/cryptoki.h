// PKCS#11 2.40, and the errors of this module: return codes of calls.
#pragma once

#include <p11-kit/pkcs11.h>

#include <exception>

namespace tinyot::pkcs11 {

// What a call that has no result returns.
class Failed : public std::exception {
 public:
  explicit Failed(CK_RV code) : code_(code) {}
  CK_RV code() const { return code_; }
  const char* what() const noexcept override { return "PKCS#11"; }

 private:
  CK_RV code_;
};

inline void require(bool condition, CK_RV otherwise) {
  if (!condition) throw Failed(otherwise);
}

}  // namespace tinyot::pkcs11
