// Slots, sessions and logins; and calls in the wrong order or with wrong arguments.
#include "module_test.h"

namespace tinyot::test {
namespace {

class SessionTest : public ModuleTest {};

TEST_F(SessionTest, SlotIsPeerAndTokenHasItsName) {
  CK_TOKEN_INFO bob{}, carol{};
  ASSERT_EQ(module_->C_GetTokenInfo(0, &bob), CKR_OK);
  ASSERT_EQ(module_->C_GetTokenInfo(1, &carol), CKR_OK);
  const auto text = [](const auto& field) {
    return std::string(reinterpret_cast<const char*>(field), sizeof field);
  };
  EXPECT_EQ(text(bob.label), "bob" + std::string(29, ' '));
  EXPECT_EQ(text(carol.label), "carol" + std::string(27, ' '));
  EXPECT_NE(text(bob.serialNumber), text(carol.serialNumber));
  EXPECT_EQ(bob.flags & CKF_LOGIN_REQUIRED, 0u);
  EXPECT_EQ(bob.ulSessionCount, 1u);
  EXPECT_EQ(carol.ulSessionCount, 0u);
  CK_SLOT_INFO slot{};
  EXPECT_EQ(module_->C_GetSlotInfo(1, &slot), CKR_OK);
  EXPECT_EQ(slot.flags, CKF_TOKEN_PRESENT);
  CK_INFO info{};
  ASSERT_EQ(module_->C_GetInfo(&info), CKR_OK);
  EXPECT_EQ(info.cryptokiVersion.major * 100 + info.cryptokiVersion.minor, 240);
  for (const CK_SLOT_ID none : {CK_SLOT_ID{2}, ~CK_SLOT_ID{0}}) {
    CK_SESSION_HANDLE session = 0;
    CK_ULONG count = 0;
    CK_MECHANISM_INFO mechanism{};
    EXPECT_EQ(module_->C_GetTokenInfo(none, &bob), CKR_SLOT_ID_INVALID);
    EXPECT_EQ(module_->C_GetSlotInfo(none, &slot), CKR_SLOT_ID_INVALID);
    EXPECT_EQ(module_->C_GetMechanismList(none, nullptr, &count), CKR_SLOT_ID_INVALID);
    EXPECT_EQ(module_->C_GetMechanismInfo(none, CKM_AES_GCM, &mechanism), CKR_SLOT_ID_INVALID);
    EXPECT_EQ(module_->C_OpenSession(none, CKF_SERIAL_SESSION, nullptr, nullptr, &session),
              CKR_SLOT_ID_INVALID);
    EXPECT_EQ(module_->C_CloseAllSessions(none), CKR_SLOT_ID_INVALID);
  }
}

TEST_F(SessionTest, ListsTellTheirSize) {
  CK_ULONG count = 0;
  CK_SLOT_ID slots[2] = {77, 77};
  daemon_.forget_requests();
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, nullptr, &count), CKR_OK);
  EXPECT_EQ(daemon_.requests().size(), 1u);
  daemon_.add("dave", "files", "aead", "aes256", std::string(32, 'g'));
  count = 1;
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, slots, &count), CKR_BUFFER_TOO_SMALL);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(slots[0], 77u);
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, slots, &count), CKR_OK);
  EXPECT_EQ(slots[1], 1u);
  EXPECT_EQ(daemon_.requests().size(), 1u) << "the list is that of the question";
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, nullptr, &count), CKR_OK);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(module_->C_GetMechanismList(0, nullptr, &count), CKR_OK);
  EXPECT_EQ(count, 5u);
  CK_MECHANISM_TYPE types[5] = {};
  count = 4;
  EXPECT_EQ(module_->C_GetMechanismList(0, types, &count), CKR_BUFFER_TOO_SMALL);
  EXPECT_EQ(module_->C_GetMechanismList(0, types, &count), CKR_OK);
  CK_MECHANISM_INFO info{};
  for (const CK_MECHANISM_TYPE type : types) {
    EXPECT_EQ(module_->C_GetMechanismInfo(0, type, &info), CKR_OK);
    EXPECT_NE(info.flags, 0u);
  }
  EXPECT_EQ(module_->C_GetMechanismInfo(0, CKM_AES_CBC, &info), CKR_MECHANISM_INVALID);
  EXPECT_EQ(module_->C_GetSlotList(CK_TRUE, slots, nullptr), CKR_ARGUMENTS_BAD);
}

// Programs try tokens of other modules, too.
TEST_F(SessionTest, WithoutDaemonThereAreNoFurtherSlots) {
  ASSERT_EQ(module_->C_Finalize(nullptr), CKR_OK);
  daemon_.stop();
  ASSERT_EQ(module_->C_Initialize(nullptr), CKR_OK);
  EXPECT_TRUE(slots_of(module_).empty());
  daemon_.start();
  EXPECT_EQ(slots_of(module_).size(), 2u);
  daemon_.stop();
  EXPECT_EQ(slots_of(module_).size(), 2u) << "those that were seen keep their numbers";
  session_ = open_session(module_);
  EXPECT_EQ(module_->C_FindObjectsInit(session_, nullptr, 0), CKR_DEVICE_ERROR);
  daemon_.start();
  EXPECT_EQ(module_->C_FindObjectsInit(session_, nullptr, 0), CKR_OK);
}

TEST_F(SessionTest, AnyPinLogsInOnce) {
  const CK_SESSION_HANDLE second = open_session(module_), other = open_session(module_, 1);
  daemon_.forget_requests();
  CK_SESSION_INFO info{};
  ASSERT_EQ(module_->C_GetSessionInfo(second, &info), CKR_OK);
  EXPECT_EQ(info.state, CKS_RW_PUBLIC_SESSION);
  EXPECT_EQ(module_->C_Logout(session_), CKR_USER_NOT_LOGGED_IN);
  EXPECT_EQ(module_->C_Login(session_, CKU_SO, nullptr, 0), CKR_USER_TYPE_INVALID);
  std::string pin = "1234";
  EXPECT_EQ(module_->C_Login(session_, CKU_USER, data_of(pin), pin.size()), CKR_OK);
  EXPECT_EQ(module_->C_Login(second, CKU_USER, nullptr, 0), CKR_USER_ALREADY_LOGGED_IN);
  ASSERT_EQ(module_->C_GetSessionInfo(second, &info), CKR_OK);
  EXPECT_EQ(info.state, CKS_RW_USER_FUNCTIONS) << "of all sessions with the token";
  ASSERT_EQ(module_->C_GetSessionInfo(other, &info), CKR_OK);
  EXPECT_EQ(info.state, CKS_RW_PUBLIC_SESSION) << "of no other token";
  EXPECT_EQ(module_->C_Logout(second), CKR_OK);
  EXPECT_EQ(module_->C_Login(second, CKU_USER, nullptr, 0), CKR_OK);
  // The end of the last session is the end of the login.
  EXPECT_EQ(module_->C_CloseSession(session_), CKR_OK);
  EXPECT_EQ(module_->C_CloseSession(second), CKR_OK);
  session_ = open_session(module_);
  ASSERT_EQ(module_->C_GetSessionInfo(session_, &info), CKR_OK);
  EXPECT_EQ(info.state, CKS_RW_PUBLIC_SESSION);
  EXPECT_TRUE(daemon_.requests().empty()) << "programs log in for each call";
}

TEST_F(SessionTest, ClosedSessionsAreUnknown) {
  const CK_SESSION_HANDLE second = open_session(module_), other = open_session(module_, 1);
  EXPECT_EQ(module_->C_CloseSession(second), CKR_OK);
  EXPECT_EQ(module_->C_CloseSession(second), CKR_SESSION_HANDLE_INVALID);
  EXPECT_EQ(module_->C_CloseAllSessions(0), CKR_OK);
  CK_SESSION_INFO info{};
  for (const CK_SESSION_HANDLE none : {session_, second, CK_SESSION_HANDLE{0}, ~second}) {
    Gcm gcm;
    std::string text = "text";
    CK_ULONG size = 0;
    CK_MECHANISM cmac{CKM_AES_CMAC, nullptr, 0}, generation{CKM_AES_KEY_GEN, nullptr, 0};
    CK_OBJECT_HANDLE object = 1;
    EXPECT_EQ(module_->C_GetSessionInfo(none, &info), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_Login(none, CKU_USER, nullptr, 0), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_Logout(none), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_FindObjectsInit(none, nullptr, 0), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_FindObjects(none, &object, 1, &size), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_FindObjectsFinal(none), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_GetAttributeValue(none, 1, nullptr, 0), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_EncryptInit(none, gcm.mechanism(), 1), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_Encrypt(none, data_of(text), 4, nullptr, &size),
              CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_DecryptUpdate(none, data_of(text), 4, nullptr, &size),
              CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_SignInit(none, &cmac, 1), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_SignUpdate(none, data_of(text), 4), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_VerifyFinal(none, data_of(text), 4), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_GenerateKey(none, &generation, nullptr, 0, &object),
              CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_GenerateRandom(none, data_of(text), 4), CKR_SESSION_HANDLE_INVALID);
    EXPECT_EQ(module_->C_DestroyObject(none, 1), CKR_SESSION_HANDLE_INVALID);
  }
  EXPECT_EQ(module_->C_GetSessionInfo(other, &info), CKR_OK);
}

TEST_F(SessionTest, OperationsFollowTheirOrder) {
  Gcm gcm;
  const CK_OBJECT_HANDLE files = key("files");
  CK_MECHANISM cmac{CKM_AES_CMAC, nullptr, 0};
  std::string text = "text", out(64, '\0');
  CK_ULONG size = out.size();
  EXPECT_EQ(module_->C_Encrypt(session_, data_of(text), 4, data_of(out), &size),
            CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_EncryptUpdate(session_, data_of(text), 4, data_of(out), &size),
            CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_EncryptFinal(session_, data_of(out), &size), CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_SignFinal(session_, data_of(out), &size), CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_VerifyUpdate(session_, data_of(text), 4), CKR_OPERATION_NOT_INITIALIZED);
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  EXPECT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OPERATION_ACTIVE);
  // One of another kind may be active beside it.
  EXPECT_EQ(module_->C_SignInit(session_, &cmac, key("cmac")), CKR_OK);
  EXPECT_EQ(module_->C_DecryptInit(session_, gcm.mechanism(), files), CKR_OK);
  // The whole text after a part is a program's error, and ends the operation.
  size = out.size();
  ASSERT_EQ(module_->C_EncryptUpdate(session_, data_of(text), 4, data_of(out), &size), CKR_OK);
  size = out.size();
  EXPECT_EQ(module_->C_Encrypt(session_, data_of(text), 4, data_of(out), &size),
            CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_EncryptFinal(session_, data_of(out), &size), CKR_OPERATION_NOT_INITIALIZED);
  size = out.size();
  EXPECT_EQ(module_->C_Sign(session_, data_of(text), 4, data_of(out), &size), CKR_OK);
  // Searches.
  CK_OBJECT_HANDLE object = 0;
  EXPECT_EQ(module_->C_FindObjects(session_, &object, 1, &size), CKR_OPERATION_NOT_INITIALIZED);
  EXPECT_EQ(module_->C_FindObjectsFinal(session_), CKR_OPERATION_NOT_INITIALIZED);
  ASSERT_EQ(module_->C_FindObjectsInit(session_, nullptr, 0), CKR_OK);
  EXPECT_EQ(module_->C_FindObjectsInit(session_, nullptr, 0), CKR_OPERATION_ACTIVE);
  EXPECT_EQ(module_->C_FindObjectsFinal(session_), CKR_OK);
}

TEST_F(SessionTest, NullArgumentsAreRefused) {
  Gcm gcm;
  const CK_OBJECT_HANDLE files = key("files");
  std::string text = "text", out(64, '\0');
  CK_ULONG size = out.size();
  EXPECT_EQ(module_->C_EncryptInit(session_, nullptr, files), CKR_ARGUMENTS_BAD);
  ASSERT_EQ(module_->C_EncryptInit(session_, gcm.mechanism(), files), CKR_OK);
  EXPECT_EQ(module_->C_Encrypt(session_, nullptr, 4, data_of(out), &size), CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_Encrypt(session_, data_of(text), 4, data_of(out), nullptr),
            CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_Encrypt(session_, data_of(text), 4, data_of(out), &size), CKR_OK);
  EXPECT_EQ(module_->C_FindObjectsInit(session_, nullptr, 1), CKR_ARGUMENTS_BAD);
  CK_ATTRIBUTE attribute{CKA_LABEL, nullptr, 3};
  EXPECT_EQ(module_->C_FindObjectsInit(session_, &attribute, 1), CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_GetInfo(nullptr), CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_GetTokenInfo(0, nullptr), CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_GetSessionInfo(session_, nullptr), CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_OpenSession(0, CKF_SERIAL_SESSION, nullptr, nullptr, nullptr),
            CKR_ARGUMENTS_BAD);
  EXPECT_EQ(module_->C_OpenSession(0, CKF_RW_SESSION, nullptr, nullptr, &session_),
            CKR_SESSION_PARALLEL_NOT_SUPPORTED);
  EXPECT_EQ(module_->C_GenerateRandom(session_, nullptr, 1), CKR_ARGUMENTS_BAD);
}

TEST_F(SessionTest, WhatThereIsNotHasItsCode) {
  CK_MECHANISM sha{CKM_SHA256, nullptr, 0};
  CK_OBJECT_HANDLE object = 0;
  std::string text = "text";
  EXPECT_EQ(module_->C_DigestInit(session_, &sha), CKR_FUNCTION_NOT_SUPPORTED);
  EXPECT_EQ(module_->C_CreateObject(session_, nullptr, 0, &object), CKR_FUNCTION_NOT_SUPPORTED);
  EXPECT_EQ(module_->C_InitToken(0, nullptr, 0, nullptr), CKR_FUNCTION_NOT_SUPPORTED);
  EXPECT_EQ(module_->C_SeedRandom(session_, data_of(text), 4), CKR_RANDOM_SEED_NOT_SUPPORTED);
  EXPECT_EQ(module_->C_GetFunctionStatus(session_), CKR_FUNCTION_NOT_PARALLEL);
  EXPECT_EQ(module_->C_WaitForSlotEvent(CKF_DONT_BLOCK, nullptr, nullptr), CKR_NO_EVENT);
  const CK_OBJECT_HANDLE files = key("files");
  EXPECT_EQ(module_->C_DestroyObject(session_, files), CKR_ACTION_PROHIBITED);
  EXPECT_EQ(module_->C_SetAttributeValue(session_, files, nullptr, 0), CKR_ACTION_PROHIBITED);
  EXPECT_EQ(module_->C_CopyObject(session_, files, nullptr, 0, &object), CKR_ACTION_PROHIBITED);
  EXPECT_EQ(module_->C_DestroyObject(session_, 99), CKR_OBJECT_HANDLE_INVALID);
}

TEST_F(SessionTest, RandomBytesAreThisMachines) {
  daemon_.stop();
  std::string one(1000, '\0'), other(1000, '\0');
  EXPECT_EQ(module_->C_GenerateRandom(session_, data_of(one), one.size()), CKR_OK);
  EXPECT_EQ(module_->C_GenerateRandom(session_, data_of(other), other.size()), CKR_OK);
  EXPECT_NE(one, other);
  EXPECT_NE(one.substr(900), std::string(100, '\0'));
}

}  // namespace
}  // namespace tinyot::test
