"""PyKCS11: the nonce that both parties have chosen comes back in the parameters. MODULE TOKEN"""
import sys

import PyKCS11
from PyKCS11 import CKA_CLASS, CKA_LABEL, CKO_SECRET_KEY

library = PyKCS11.PyKCS11Lib()
library.load(sys.argv[1])
slots = [
    slot
    for slot in library.getSlotList(tokenPresent=True)
    if library.getTokenInfo(slot).label.strip() == sys.argv[2]
]
session = library.openSession(slots[0], PyKCS11.CKF_SERIAL_SESSION | PyKCS11.CKF_RW_SESSION)
session.login("1234")
key = session.findObjects([(CKA_CLASS, CKO_SECRET_KEY), (CKA_LABEL, "files")])[0]
wanted = {"CKM_AES_GCM", "CKM_AES_CMAC", "CKM_SHA256_HMAC"}
print("mechanisms:", wanted <= set(library.getMechanismList(slots[0])))
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
mac = session.findObjects([(CKA_CLASS, CKO_SECRET_KEY), (CKA_LABEL, "cmac")])[0]
cmac = PyKCS11.Mechanism(PyKCS11.CKM_AES_CMAC)
tag = session.sign(mac, b"message", cmac)
print("signed:", len(tag), session.verify(mac, b"message", tag, cmac))
print("values:", session.getAttributeValue(key, [PyKCS11.CKA_EXTRACTABLE, CKA_LABEL]))
session.logout()
session.closeSession()
