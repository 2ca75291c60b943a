#include "pkcs11/module.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace tinyot::pkcs11 {
namespace {

constexpr std::size_t kSessionsMax = 65536;

std::string socket_path() {
  const char* const path = ::secure_getenv("TINYOT_PKCS11_SOCKET");
  return path != nullptr && *path != '\0' ? path : "/run/tinyot/pkcs11.sock";
}

// Of keys that a program may see at all.
bool is_shown(const Key& key) {
  return key.state == "active" || key.state == "deactivated" || key.state == "suspended";
}

bool comes_first(const Key& one, const Key& other) {
  const auto order = [](const Key& key) {
    return std::tuple(std::string_view(key.label), key.state != "active", ~key.version);
  };
  return order(one) < order(other);
}

}  // namespace

Module::Module() : daemon_(socket_path()) {}

void Module::look_for_peers() {
  std::vector<std::string> peers;
  try {
    peers = daemon_.list().peers;
  } catch (const Failed&) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (std::string& peer : peers)
    if (std::ranges::find(peers_, peer) == peers_.end()) peers_.push_back(std::move(peer));
}

std::vector<CK_SLOT_ID> Module::slots() const {
  const std::lock_guard lock(mutex_);
  std::vector<CK_SLOT_ID> slots(peers_.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = i;
  return slots;
}

std::string Module::peer_of(CK_SLOT_ID slot) const {
  const std::lock_guard lock(mutex_);
  require(slot < peers_.size(), CKR_SLOT_ID_INVALID);
  return peers_[slot];
}

CK_SESSION_HANDLE Module::open(CK_SLOT_ID slot, bool is_writable) {
  (void)peer_of(slot);
  auto session = std::make_shared<Session>(daemon_, slot, is_writable);
  const std::lock_guard lock(mutex_);
  require(sessions_.size() < kSessionsMax, CKR_SESSION_COUNT);
  sessions_.emplace(++last_session_, std::move(session));
  return last_session_;
}

void Module::close(CK_SESSION_HANDLE session) {
  std::shared_ptr<Session> closed;  // ends after the lock, and after a call that is in it
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(session);
  require(at != sessions_.end(), CKR_SESSION_HANDLE_INVALID);
  closed = std::move(at->second);
  sessions_.erase(at);
  if (std::ranges::none_of(sessions_,
                           [&](const auto& each) { return each.second->slot == closed->slot; }))
    logged_in_.erase(closed->slot);
}

void Module::close_all(CK_SLOT_ID slot) {
  (void)peer_of(slot);
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [&](const auto& each) { return each.second->slot == slot; });
  logged_in_.erase(slot);
}

std::shared_ptr<Session> Module::session(CK_SESSION_HANDLE handle) const {
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(handle);
  require(at != sessions_.end(), CKR_SESSION_HANDLE_INVALID);
  return at->second;
}

std::size_t Module::sessions(CK_SLOT_ID slot, bool writable_only) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(sessions_, [&](const auto& each) {
    return each.second->slot == slot && (each.second->is_writable || !writable_only);
  }));
}

void Module::log_in(CK_SLOT_ID slot) {
  const std::lock_guard lock(mutex_);
  require(logged_in_.insert(slot).second, CKR_USER_ALREADY_LOGGED_IN);
}

void Module::log_out(CK_SLOT_ID slot) {
  const std::lock_guard lock(mutex_);
  require(logged_in_.erase(slot) == 1, CKR_USER_NOT_LOGGED_IN);
}

bool Module::is_logged_in(CK_SLOT_ID slot) const {
  const std::lock_guard lock(mutex_);
  return logged_in_.contains(slot);
}

std::deque<CK_OBJECT_HANDLE> Module::find(CK_SLOT_ID slot, const KeyPattern& pattern) {
  const std::string peer = peer_of(slot);
  if (!pattern.may_fit()) return {};
  std::vector<Key> keys = daemon_.list(peer).keys;
  std::erase_if(keys, [&](const Key& key) {
    return key.peer != peer || !is_shown(key) || !pattern.fits(key);
  });
  std::ranges::stable_sort(keys, comes_first);
  std::deque<CK_OBJECT_HANDLE> found;
  const std::lock_guard lock(mutex_);
  for (const Key& key : keys) found.push_back(handle_of(key));
  return found;
}

CK_OBJECT_HANDLE Module::create(CK_SLOT_ID slot, NewKey key) {
  key.peer = peer_of(slot);
  const Key made = daemon_.create(key);
  require(made.peer == key.peer, CKR_DEVICE_ERROR);
  const std::lock_guard lock(mutex_);
  return handle_of(made);
}

Key Module::key(CK_SLOT_ID slot, CK_OBJECT_HANDLE object, CK_RV otherwise) const {
  const std::lock_guard lock(mutex_);
  require(object >= 1 && object <= keys_.size(), otherwise);
  const Key& key = keys_[object - 1];
  require(key.peer == peers_[slot], otherwise);
  return key;
}

CK_OBJECT_HANDLE Module::handle_of(const Key& key) {
  const auto at = handles_.find({key.peer, key.id});
  if (at != handles_.end()) {
    keys_[at->second - 1] = key;
    return at->second;
  }
  keys_.push_back(key);
  return handles_.emplace(std::pair(key.peer, key.id), keys_.size()).first->second;
}

namespace {

struct Gate {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::condition_variable left;  // by a call
  std::shared_ptr<Module> module;
};

// Neither is destroyed: threads may be inside when the process ends. In the child of a fork a lock
// may be that of a thread that the child does not have, so it takes a new gate.
union NeverDestroyed {
  NeverDestroyed() : gate() {}
  ~NeverDestroyed() {}  // NOLINT(modernize-use-equals-default): deleted in a union
  Gate gate;
} first;
std::atomic<Gate*> current{&first.gate};

// A program may unload the module, or end, without C_Finalize. What a thread still uses stays.
struct Unloading {
  ~Unloading() {
    Gate& gate = *current.load();
    if (gate.process != ::getpid()) return;
    const std::lock_guard lock(gate.mutex);
    if (gate.module.use_count() == 1) gate.module.reset();
  }
} unloading;

Gate& own_gate() {
  Gate& gate = *current.load();
  require(gate.process == ::getpid(), CKR_CRYPTOKI_NOT_INITIALIZED);
  return gate;
}

}  // namespace

void initialize_module() {
  Gate* gate = current.load();
  if (gate->process != ::getpid()) {
    auto fresh = std::make_unique<Gate>();
    if (current.compare_exchange_strong(gate, fresh.get())) gate = fresh.release();
  }
  const std::lock_guard lock(gate->mutex);
  require(!gate->module, CKR_CRYPTOKI_ALREADY_INITIALIZED);
  gate->module = std::make_shared<Module>();
}

void finalize_module() {
  Gate& gate = own_gate();
  std::unique_lock lock(gate.mutex);
  require(gate.module != nullptr, CKR_CRYPTOKI_NOT_INITIALIZED);
  const std::shared_ptr<Module> ended = std::move(gate.module);
  ended->stop();
  gate.left.wait(lock, [&] { return ended.use_count() == 1; });
}

ModuleCall::ModuleCall() {
  Gate& gate = own_gate();
  const std::lock_guard lock(gate.mutex);
  require(gate.module != nullptr, CKR_CRYPTOKI_NOT_INITIALIZED);
  module_ = gate.module;
}

ModuleCall::~ModuleCall() {
  Gate& gate = *current.load();
  const std::lock_guard lock(gate.mutex);
  module_.reset();
  gate.left.notify_all();
}

}  // namespace tinyot::pkcs11
