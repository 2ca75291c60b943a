"""A session of PyKCS11 with a token, and a secret key in it."""
import PyKCS11
from PyKCS11 import CKA_CLASS, CKA_LABEL, CKO_SECRET_KEY


def open_session(module: str, token: str):
    """The library, the slot, and the session, whose user is logged in."""
    library = PyKCS11.PyKCS11Lib()
    library.load(module)
    slot, *_ = (
        slot
        for slot in library.getSlotList(tokenPresent=True)
        if library.getTokenInfo(slot).label.strip() == token
    )
    session = library.openSession(slot, PyKCS11.CKF_SERIAL_SESSION | PyKCS11.CKF_RW_SESSION)
    session.login("1234")
    return library, slot, session


def key_labelled(session, label: str):
    return session.findObjects([(CKA_CLASS, CKO_SECRET_KEY), (CKA_LABEL, label)])[0]
