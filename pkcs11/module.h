// What the module has between C_Initialize and C_Finalize: slots, sessions, and the objects that
// the program has seen. A slot is a peer of the daemon with custody; its token has the peer's name.
// Thread-safe; fails with the return codes of PKCS#11.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "pkcs11/attributes.h"
#include "pkcs11/daemon.h"
#include "pkcs11/session.h"

namespace tinyot::pkcs11 {

class Module {
 public:
  Module();
  void stop() { daemon_.close(); }  // ends what waits for the daemon

  // Slots keep their numbers. Without the daemon, or the right to use keys, there are those that
  // have been seen before: an error here would keep programs from the tokens of other modules.
  void look_for_peers();
  std::vector<CK_SLOT_ID> slots() const;
  std::string peer_of(CK_SLOT_ID slot) const;  // Fails: CKR_SLOT_ID_INVALID

  CK_SESSION_HANDLE open(CK_SLOT_ID slot, bool is_writable);
  void close(CK_SESSION_HANDLE session);
  void close_all(CK_SLOT_ID slot);
  std::shared_ptr<Session> session(CK_SESSION_HANDLE handle) const;
  std::size_t sessions(CK_SLOT_ID slot, bool writable_only) const;

  // Of all sessions with the slot. The socket decides what the program may do; any PIN is right.
  void log_in(CK_SLOT_ID slot);
  void log_out(CK_SLOT_ID slot);
  bool is_logged_in(CK_SLOT_ID slot) const;

  // With the newest active version of a label before the others. Asks the daemon.
  std::deque<CK_OBJECT_HANDLE> find(CK_SLOT_ID slot, const KeyPattern& pattern);
  CK_OBJECT_HANDLE create(CK_SLOT_ID slot, NewKey key);
  // As it was seen last. Fails: `otherwise`.
  Key key(CK_SLOT_ID slot, CK_OBJECT_HANDLE object, CK_RV otherwise) const;

 private:
  CK_OBJECT_HANDLE handle_of(const Key& key);  // under the lock

  Daemon daemon_;
  mutable std::mutex mutex_;
  std::vector<std::string> peers_;  // by slot
  std::set<CK_SLOT_ID> logged_in_;
  CK_SESSION_HANDLE last_session_ = 0;
  std::map<CK_SESSION_HANDLE, std::shared_ptr<Session>> sessions_;
  std::vector<Key> keys_;                                                    // by handle - 1
  std::map<std::pair<std::string, std::string>, CK_OBJECT_HANDLE> handles_;  // by peer and id
};

// C_Initialize and C_Finalize, which ends the calls that are inside and waits for them. Fail:
// CKR_CRYPTOKI_ALREADY_INITIALIZED, CKR_CRYPTOKI_NOT_INITIALIZED.
void initialize_module();
void finalize_module();

// The module during a call. Fails: CKR_CRYPTOKI_NOT_INITIALIZED, also in the child of a fork until
// it has initialized the module itself.
class ModuleCall {
 public:
  ModuleCall();
  ~ModuleCall();
  ModuleCall(const ModuleCall&) = delete;
  ModuleCall& operator=(const ModuleCall&) = delete;

  Module* operator->() const { return module_.get(); }

 private:
  std::shared_ptr<Module> module_;
};

}  // namespace tinyot::pkcs11
