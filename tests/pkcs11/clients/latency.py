"""Times of calls by one thread, in ms: MODULE TOKEN CALLS"""
import statistics
import sys
import time

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
files, mac = (
    session.findObjects([(CKA_CLASS, CKO_SECRET_KEY), (CKA_LABEL, label)])[0]
    for label in ("files", "cmac")
)
text = bytes(32)
calls = {
    "AES-256-GCM, 32 bytes": lambda: session.encrypt(
        files, text, PyKCS11.AES_GCM_Mechanism([0] * 12, b"", 128)
    ),
    "CMAC, 32 bytes": lambda: session.sign(mac, text, PyKCS11.Mechanism(PyKCS11.CKM_AES_CMAC)),
}
for name, call in calls.items():
    times = []
    for _ in range(int(sys.argv[3])):
        begun = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begun))
    p99 = statistics.quantiles(times, n=100)[98]
    print(f"{name:24} p50 {statistics.median(times):8.3f}  p99 {p99:8.3f}")
