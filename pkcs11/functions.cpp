// The functions of PKCS#11: arguments in, a return code out. C_GetFunctionList alone is exported.
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "pkcs11/module.h"
#include "tinyot/version.h"

namespace tinyot::pkcs11 {
namespace {

constexpr CK_VERSION kStandard{2, 40}, kVersion{TINYOT_VERSION_MAJOR, TINYOT_VERSION_MINOR};
constexpr CK_ULONG kPinBytesMax = 256;

template <class Work>
CK_RV returned(const Work& work) {
  try {
    return work();
  } catch (const Failed& failed) {
    return failed.code();
  } catch (const std::bad_alloc&) {
    return CKR_HOST_MEMORY;
  } catch (const std::exception&) {
    return CKR_GENERAL_ERROR;
  }
}

// Calls `work` with the module.
template <class Work>
CK_RV within_module(const Work& work) {
  return returned([&]() -> CK_RV {
    const ModuleCall module;
    work(module);
    return CKR_OK;
  });
}

// Calls `work` with a session, alone.
template <class Work>
CK_RV within_session(CK_SESSION_HANDLE handle, const Work& work) {
  return within_module([&](const ModuleCall& module) {
    const std::shared_ptr<Session> session = module->session(handle);
    const std::lock_guard lock(session->mutex);
    work(module, *session);
  });
}

template <class T>
T& given(T* argument) {
  require(argument != nullptr, CKR_ARGUMENTS_BAD);
  return *argument;
}

template <std::size_t Size>
void pad(CK_UTF8CHAR (&field)[Size], std::string_view text) {
  std::memset(field, ' ', Size);
  std::memcpy(field, text.data(), std::min(text.size(), Size));
}

// As many as there are, if they fit or their number is asked for. Fails: CKR_BUFFER_TOO_SMALL.
template <class T>
void give_list(const std::vector<T>& list, T* to, CK_ULONG_PTR count) {
  const CK_ULONG room = given(count);
  *count = list.size();
  if (to == nullptr) return;
  require(room >= list.size(), CKR_BUFFER_TOO_SMALL);
  std::ranges::copy(list, to);
}

CK_RV initialize(void* arguments) {
  return returned([&]() -> CK_RV {
    if (arguments != nullptr) {
      const auto& given = *static_cast<const CK_C_INITIALIZE_ARGS*>(arguments);
      const int functions = (given.CreateMutex != nullptr) + (given.DestroyMutex != nullptr) +
                            (given.LockMutex != nullptr) + (given.UnlockMutex != nullptr);
      require(given.pReserved == nullptr && (functions == 0 || functions == 4), CKR_ARGUMENTS_BAD);
      require(functions == 0 || (given.flags & CKF_OS_LOCKING_OK) != 0, CKR_CANT_LOCK);
    }
    initialize_module();
    return CKR_OK;
  });
}

CK_RV finalize(void* reserved) {
  return returned([&]() -> CK_RV {
    require(reserved == nullptr, CKR_ARGUMENTS_BAD);
    finalize_module();
    return CKR_OK;
  });
}

CK_RV get_info(CK_INFO* info) {
  return within_module([&](const ModuleCall&) {
    given(info) = {};
    info->cryptokiVersion = kStandard;
    info->libraryVersion = kVersion;
    pad(info->manufacturerID, "TinyOT");
    pad(info->libraryDescription, "Keys in two shares");
  });
}

// Slots and tokens.

// A program first asks how many there are; the list that it then gets is of the same time.
CK_RV get_slot_list(CK_BBOOL, CK_SLOT_ID* list, CK_ULONG* count) {
  return within_module([&](const ModuleCall& module) {
    if (list == nullptr || module->slots().empty()) module->look_for_peers();
    give_list(module->slots(), list, count);
  });
}

CK_RV get_slot_info(CK_SLOT_ID slot, CK_SLOT_INFO* info) {
  return within_module([&](const ModuleCall& module) {
    const std::string peer = module->peer_of(slot);
    given(info) = {};
    pad(info->slotDescription, "Keys shared with " + peer);
    pad(info->manufacturerID, "TinyOT");
    info->flags = CKF_TOKEN_PRESENT;
    info->hardwareVersion = info->firmwareVersion = kVersion;
  });
}

// The same wherever the peer has this name.
std::string serial_number_of(const std::string& peer) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : peer) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 0xf];
  return digits;
}

CK_RV get_token_info(CK_SLOT_ID slot, CK_TOKEN_INFO* info) {
  return within_module([&](const ModuleCall& module) {
    const std::string peer = module->peer_of(slot);
    given(info) = {};
    pad(info->label, peer);
    pad(info->manufacturerID, "TinyOT");
    pad(info->model, "two shares");
    pad(info->serialNumber, serial_number_of(peer));
    pad(info->utcTime, "");
    info->flags = CKF_RNG | CKF_TOKEN_INITIALIZED | CKF_USER_PIN_INITIALIZED;
    info->ulMaxSessionCount = info->ulMaxRwSessionCount = CK_EFFECTIVELY_INFINITE;
    info->ulSessionCount = module->sessions(slot, false);
    info->ulRwSessionCount = module->sessions(slot, true);
    info->ulMaxPinLen = kPinBytesMax;
    info->ulTotalPublicMemory = info->ulFreePublicMemory = CK_UNAVAILABLE_INFORMATION;
    info->ulTotalPrivateMemory = info->ulFreePrivateMemory = CK_UNAVAILABLE_INFORMATION;
    info->hardwareVersion = info->firmwareVersion = kVersion;
  });
}

CK_RV get_mechanism_list(CK_SLOT_ID slot, CK_MECHANISM_TYPE* list, CK_ULONG* count) {
  return within_module([&](const ModuleCall& module) {
    (void)module->peer_of(slot);
    std::vector<CK_MECHANISM_TYPE> types;
    for (const Mechanism& mechanism : mechanisms()) types.push_back(mechanism.type);
    give_list(types, list, count);
  });
}

CK_RV get_mechanism_info(CK_SLOT_ID slot, CK_MECHANISM_TYPE type, CK_MECHANISM_INFO* info) {
  return within_module([&](const ModuleCall& module) {
    (void)module->peer_of(slot);
    given(info) = mechanism_of(type).info;
  });
}

CK_RV wait_for_slot_event(CK_FLAGS flags, CK_SLOT_ID*, void*) {
  return within_module([&](const ModuleCall&) {
    throw Failed((flags & CKF_DONT_BLOCK) != 0 ? CKR_NO_EVENT : CKR_FUNCTION_NOT_SUPPORTED);
  });
}

// Sessions.

CK_RV open_session(CK_SLOT_ID slot, CK_FLAGS flags, void*, CK_NOTIFY, CK_SESSION_HANDLE* session) {
  return within_module([&](const ModuleCall& module) {
    require((flags & CKF_SERIAL_SESSION) != 0, CKR_SESSION_PARALLEL_NOT_SUPPORTED);
    given(session) = module->open(slot, (flags & CKF_RW_SESSION) != 0);
  });
}

CK_RV close_session(CK_SESSION_HANDLE session) {
  return within_module([&](const ModuleCall& module) { module->close(session); });
}

CK_RV close_all_sessions(CK_SLOT_ID slot) {
  return within_module([&](const ModuleCall& module) { module->close_all(slot); });
}

CK_RV get_session_info(CK_SESSION_HANDLE handle, CK_SESSION_INFO* info) {
  return within_module([&](const ModuleCall& module) {
    const std::shared_ptr<Session> session = module->session(handle);
    const bool is_user = module->is_logged_in(session->slot);
    given(info) = {};
    info->slotID = session->slot;
    info->flags = CKF_SERIAL_SESSION;
    if (session->is_writable) {
      info->flags |= CKF_RW_SESSION;
      info->state = is_user ? CKS_RW_USER_FUNCTIONS : CKS_RW_PUBLIC_SESSION;
    } else {
      info->state = is_user ? CKS_RO_USER_FUNCTIONS : CKS_RO_PUBLIC_SESSION;
    }
  });
}

CK_RV login(CK_SESSION_HANDLE handle, CK_USER_TYPE user, CK_BYTE*, CK_ULONG) {
  return within_module([&](const ModuleCall& module) {
    const std::shared_ptr<Session> session = module->session(handle);
    require(user == CKU_USER, CKR_USER_TYPE_INVALID);
    module->log_in(session->slot);
  });
}

CK_RV logout(CK_SESSION_HANDLE handle) {
  return within_module(
      [&](const ModuleCall& module) { module->log_out(module->session(handle)->slot); });
}

// Keys.

CK_RV find_objects_init(CK_SESSION_HANDLE handle, CK_ATTRIBUTE* attributes, CK_ULONG count) {
  return within_session(handle, [&](const ModuleCall& module, Session& session) {
    session.require_no_search();
    const KeyPattern pattern(template_from(attributes, count));
    session.begin_search(module->find(session.slot, pattern));
  });
}

CK_RV find_objects(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE* objects, CK_ULONG max,
                   CK_ULONG* count) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    require(objects != nullptr || max == 0, CKR_ARGUMENTS_BAD);
    given(count) = session.next_found({objects, max});
  });
}

CK_RV find_objects_final(CK_SESSION_HANDLE handle) {
  return within_session(handle, [](const ModuleCall&, Session& session) { session.end_search(); });
}

CK_RV get_attribute_value(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object,
                          CK_ATTRIBUTE* attributes, CK_ULONG count) {
  return returned([&] {
    const ModuleCall module;
    const CK_SLOT_ID slot = module->session(handle)->slot;
    return fill(module->key(slot, object, CKR_OBJECT_HANDLE_INVALID),
                template_from(attributes, count));
  });
}

CK_RV get_object_size(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ULONG* size) {
  return within_module([&](const ModuleCall& module) {
    (void)module->key(module->session(handle)->slot, object, CKR_OBJECT_HANDLE_INVALID);
    given(size) = CK_UNAVAILABLE_INFORMATION;
  });
}

// What a token's own keys do not allow.
CK_RV prohibited(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object) {
  return within_module([&](const ModuleCall& module) {
    (void)module->key(module->session(handle)->slot, object, CKR_OBJECT_HANDLE_INVALID);
    throw Failed(CKR_ACTION_PROHIBITED);
  });
}

CK_RV set_attribute_value(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ATTRIBUTE*,
                          CK_ULONG) {
  return prohibited(handle, object);
}

CK_RV copy_object(CK_SESSION_HANDLE handle, CK_OBJECT_HANDLE object, CK_ATTRIBUTE*, CK_ULONG,
                  CK_OBJECT_HANDLE*) {
  return prohibited(handle, object);
}

CK_RV generate_key(CK_SESSION_HANDLE handle, CK_MECHANISM* mechanism, CK_ATTRIBUTE* attributes,
                   CK_ULONG count, CK_OBJECT_HANDLE* key) {
  return within_session(handle, [&](const ModuleCall& module, Session& session) {
    const auto wanted = new_key_from(given(mechanism).mechanism, template_from(attributes, count));
    require_no_parameters(*mechanism);
    require(key != nullptr, CKR_ARGUMENTS_BAD);
    require(session.is_writable, CKR_SESSION_READ_ONLY);
    *key = module->create(session.slot, wanted);
  });
}

// Uses of keys.

template <Use use>
CK_RV begin(CK_SESSION_HANDLE handle, CK_MECHANISM* mechanism, CK_OBJECT_HANDLE key) {
  return within_session(handle, [&](const ModuleCall& module, Session& session) {
    session.begin(use, given(mechanism), module->key(session.slot, key, CKR_KEY_HANDLE_INVALID));
  });
}

template <Use use>
CK_RV add(CK_SESSION_HANDLE handle, CK_BYTE* part, CK_ULONG size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    session.add(use, text_from(part, size));
  });
}

template <Use use>
CK_RV add_with_output(CK_SESSION_HANDLE handle, CK_BYTE* part, CK_ULONG size, CK_BYTE* result,
                      CK_ULONG* result_size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    session.add(use, text_from(part, size), Output(result, result_size));
  });
}

using WithResult = void (Session::*)(std::optional<std::string_view>, const Output&);

template <WithResult result_of>
CK_RV whole(CK_SESSION_HANDLE handle, CK_BYTE* text, CK_ULONG size, CK_BYTE* result,
            CK_ULONG* result_size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    (session.*result_of)(text_from(text, size), Output(result, result_size));
  });
}

template <WithResult result_of>
CK_RV end(CK_SESSION_HANDLE handle, CK_BYTE* result, CK_ULONG* result_size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    (session.*result_of)({}, Output(result, result_size));
  });
}

CK_RV verify(CK_SESSION_HANDLE handle, CK_BYTE* text, CK_ULONG size, CK_BYTE* tag,
             CK_ULONG tag_size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    session.verify(text_from(text, size), text_from(tag, tag_size));
  });
}

CK_RV verify_final(CK_SESSION_HANDLE handle, CK_BYTE* tag, CK_ULONG tag_size) {
  return within_session(handle, [&](const ModuleCall&, Session& session) {
    session.verify({}, text_from(tag, tag_size));
  });
}

// Random numbers are those of this machine's kernel.

CK_RV generate_random(CK_SESSION_HANDLE handle, CK_BYTE* to, CK_ULONG size) {
  return within_module([&](const ModuleCall& module) {
    (void)module->session(handle);
    require(to != nullptr || size == 0, CKR_ARGUMENTS_BAD);
    for (CK_ULONG done = 0; done < size;) {
      const ssize_t count = ::getrandom(to + done, size - done, 0);
      require(count > 0 || errno == EINTR, CKR_RANDOM_NO_RNG);
      if (count > 0) done += static_cast<CK_ULONG>(count);
    }
  });
}

CK_RV seed_random(CK_SESSION_HANDLE handle, CK_BYTE*, CK_ULONG) {
  return within_module([&](const ModuleCall& module) {
    (void)module->session(handle);
    throw Failed(CKR_RANDOM_SEED_NOT_SUPPORTED);
  });
}

CK_RV not_parallel(CK_SESSION_HANDLE) { return CKR_FUNCTION_NOT_PARALLEL; }

template <class... Arguments>
CK_RV not_supported(Arguments...) {
  return CKR_FUNCTION_NOT_SUPPORTED;
}

CK_RV get_function_list(CK_FUNCTION_LIST** list);

// The members' order is that of the standard.
CK_FUNCTION_LIST function_list = {
    .version = kStandard,
    .C_Initialize = initialize,
    .C_Finalize = finalize,
    .C_GetInfo = get_info,
    .C_GetFunctionList = get_function_list,
    .C_GetSlotList = get_slot_list,
    .C_GetSlotInfo = get_slot_info,
    .C_GetTokenInfo = get_token_info,
    .C_GetMechanismList = get_mechanism_list,
    .C_GetMechanismInfo = get_mechanism_info,
    .C_InitToken = not_supported,
    .C_InitPIN = not_supported,
    .C_SetPIN = not_supported,
    .C_OpenSession = open_session,
    .C_CloseSession = close_session,
    .C_CloseAllSessions = close_all_sessions,
    .C_GetSessionInfo = get_session_info,
    .C_GetOperationState = not_supported,
    .C_SetOperationState = not_supported,
    .C_Login = login,
    .C_Logout = logout,
    .C_CreateObject = not_supported,
    .C_CopyObject = copy_object,
    .C_DestroyObject = prohibited,
    .C_GetObjectSize = get_object_size,
    .C_GetAttributeValue = get_attribute_value,
    .C_SetAttributeValue = set_attribute_value,
    .C_FindObjectsInit = find_objects_init,
    .C_FindObjects = find_objects,
    .C_FindObjectsFinal = find_objects_final,
    .C_EncryptInit = begin<Use::Encrypt>,
    .C_Encrypt = whole<&Session::encrypt>,
    .C_EncryptUpdate = add_with_output<Use::Encrypt>,
    .C_EncryptFinal = end<&Session::encrypt>,
    .C_DecryptInit = begin<Use::Decrypt>,
    .C_Decrypt = whole<&Session::decrypt>,
    .C_DecryptUpdate = add_with_output<Use::Decrypt>,
    .C_DecryptFinal = end<&Session::decrypt>,
    .C_DigestInit = not_supported,
    .C_Digest = not_supported,
    .C_DigestUpdate = not_supported,
    .C_DigestKey = not_supported,
    .C_DigestFinal = not_supported,
    .C_SignInit = begin<Use::Sign>,
    .C_Sign = whole<&Session::sign>,
    .C_SignUpdate = add<Use::Sign>,
    .C_SignFinal = end<&Session::sign>,
    .C_SignRecoverInit = not_supported,
    .C_SignRecover = not_supported,
    .C_VerifyInit = begin<Use::Verify>,
    .C_Verify = verify,
    .C_VerifyUpdate = add<Use::Verify>,
    .C_VerifyFinal = verify_final,
    .C_VerifyRecoverInit = not_supported,
    .C_VerifyRecover = not_supported,
    .C_DigestEncryptUpdate = not_supported,
    .C_DecryptDigestUpdate = not_supported,
    .C_SignEncryptUpdate = not_supported,
    .C_DecryptVerifyUpdate = not_supported,
    .C_GenerateKey = generate_key,
    .C_GenerateKeyPair = not_supported,
    .C_WrapKey = not_supported,
    .C_UnwrapKey = not_supported,
    .C_DeriveKey = not_supported,
    .C_SeedRandom = seed_random,
    .C_GenerateRandom = generate_random,
    .C_GetFunctionStatus = not_parallel,
    .C_CancelFunction = not_parallel,
    .C_WaitForSlotEvent = wait_for_slot_event,
};

CK_RV get_function_list(CK_FUNCTION_LIST** list) {
  if (list == nullptr) return CKR_ARGUMENTS_BAD;
  *list = &function_list;
  return CKR_OK;
}

}  // namespace
}  // namespace tinyot::pkcs11

extern "C" __attribute__((visibility("default"))) CK_RV C_GetFunctionList(CK_FUNCTION_LIST** list) {
  return tinyot::pkcs11::get_function_list(list);
}
