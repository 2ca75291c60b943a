"""Times of calls by one thread, in ms: MODULE TOKEN CALLS"""
import statistics
import sys
import time

import PyKCS11
from opened import key_labelled, open_session

_, _, session = open_session(sys.argv[1], sys.argv[2])
files, mac = (key_labelled(session, label) for label in ("files", "cmac"))
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
