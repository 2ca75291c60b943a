"""python-pkcs11: nonces are the program's. MODULE TOKEN"""
import sys

import pkcs11
from pkcs11 import Attribute, Mechanism, ObjectClass

library = pkcs11.lib(sys.argv[1])
token = library.get_token(token_label=sys.argv[2])

with token.open(rw=True, user_pin="1234") as session:
    key = session.get_key(object_class=ObjectClass.SECRET_KEY, label="iv")
    print("key:", key.label, key.key_length, bool(key[Attribute.EXTRACTABLE]))
    iv = session.generate_random(96)
    params = pkcs11.GCMParams(iv, b"about", 128)
    gcm = {"mechanism": Mechanism.AES_GCM, "mechanism_param": params}
    sealed = key.encrypt(b"attack at dawn", **gcm)
    print("sealed:", len(sealed), "bytes")
    text = key.decrypt(sealed, **gcm)
    print("opened:", text.decode())
    try:
        key.decrypt(sealed[:-1] + bytes([sealed[-1] ^ 1]), **gcm)
        print("a wrong tag is accepted")
    except pkcs11.exceptions.PKCS11Error as error:
        print("wrong tag:", type(error).__name__)
    try:
        print("value:", key[Attribute.VALUE])
    except pkcs11.exceptions.PKCS11Error as error:
        print("value:", type(error).__name__)
    mac = session.get_key(object_class=ObjectClass.SECRET_KEY, label="tags")
    tag = mac.sign(b"message", mechanism=Mechanism.SHA256_HMAC)
    print("signed:", len(tag), mac.verify(b"message", tag, mechanism=Mechanism.SHA256_HMAC))
    print("verified another:", mac.verify(b"massage", tag, mechanism=Mechanism.SHA256_HMAC))
    made = session.generate_key(
        pkcs11.KeyType.AES, 256, label="python", store=True,
        capabilities=pkcs11.MechanismFlag.ENCRYPT | pkcs11.MechanismFlag.DECRYPT)
    print("generated:", made.label, made.key_length)
    print("random:", len(session.generate_random(256)))
