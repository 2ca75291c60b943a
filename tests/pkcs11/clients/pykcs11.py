"""PyKCS11: the nonce that both parties have chosen comes back in the parameters. MODULE TOKEN"""
import sys

import PyKCS11
from opened import key_labelled, open_session
from PyKCS11 import CKA_LABEL

library, slot, session = open_session(sys.argv[1], sys.argv[2])
key = key_labelled(session, "files")
wanted = {"CKM_AES_GCM", "CKM_AES_CMAC", "CKM_SHA256_HMAC"}
print("mechanisms:", wanted <= set(library.getMechanismList(slot)))
gcm = PyKCS11.AES_GCM_Mechanism([0] * 12, b"about", 128)
sealed = bytes(session.encrypt(key, b"attack at dawn", gcm))
print("sealed:", len(sealed), "bytes")
# The wrapper keeps the buffer of the nonce, so the same parameters open it.
print("opened:", bytes(session.decrypt(key, sealed, gcm)).decode())
try:
    session.decrypt(key, sealed[:-1] + bytes([sealed[-1] ^ 1]), gcm)
    print("a wrong tag is accepted")
except PyKCS11.PyKCS11Error as error:
    print("wrong tag:", error.value != 0)
mac = key_labelled(session, "cmac")
cmac = PyKCS11.Mechanism(PyKCS11.CKM_AES_CMAC)
tag = session.sign(mac, b"message", cmac)
print("signed:", len(tag), session.verify(mac, b"message", tag, cmac))
print("values:", session.getAttributeValue(key, [PyKCS11.CKA_EXTRACTABLE, CKA_LABEL]))
session.logout()
session.closeSession()
