"""What the tests of the Python package share."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path

PRELUDE = "import signal, sys, time, tinyot\nfrom tinyot import *\n"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_listening(port):
    """Returns once a process listens on the port of 127.0.0.1."""
    address = f"0100007F:{port:04X}"
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if (local, state) == (address, "0A"):
                return
        time.sleep(0.01)
    raise AssertionError(f"no process listens on port {port}")


class Process:
    """A Python process with the parts of a program, whose lines of output are read one by one."""

    def __init__(self, *program, arguments=(), directory=None):
        text = PRELUDE + "".join(textwrap.dedent(part) for part in program)
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", text, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=directory,
        )

    def line(self):
        return self.process.stdout.readline().strip()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self, timeout=60):
        """The lines of output and the text of the error stream."""
        try:
            output, errors = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, errors = self.process.communicate()
            raise AssertionError(f"the process does not end: {output} {errors}") from None
        finally:
            self.process.stdout.close()
            self.process.stderr.close()
        return output.split("\n")[:-1], errors


class TestCase(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="tinyot-test-")
        self.addCleanup(self.temporary.cleanup)
        self.directory = Path(self.temporary.name)

    def refused(self, kind, text, call, *arguments, **named):
        """Calls and checks the class and the text of the exception."""
        with self.assertRaises(kind) as context:
            call(*arguments, **named)
        self.assertIn(text, str(context.exception))
        return context.exception


class Relay:
    """Forwards one connection to a port. Of what comes from the connecting party, complements one
    byte in 8192 from `position` on; with `closes`, closes both sides there instead."""

    def __init__(self, port, position, closes=False):
        self.target = port
        self.position = position
        self.closes = closes
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.forward, daemon=True).start()

    def forward(self):
        client, _ = self.listener.accept()
        self.listener.close()
        while True:
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
                break
            except ConnectionRefusedError:
                threading.Event().wait(0.02)
        back = threading.Thread(target=self.copy, args=(server, client, None), daemon=True)
        back.start()
        self.copy(client, server, self.position)
        back.join()
        client.close()
        server.close()

    def copy(self, source, sink, position):
        """What the source sends is read until it closes, even if the sink takes no more."""
        seen, is_open = 0, True
        while data := self.received(source):
            if position is not None and position < seen + len(data):
                if self.closes:
                    for end in (source, sink):
                        end.shutdown(socket.SHUT_RDWR)
                    return
                for i in range(len(data)):
                    if seen + i >= position and (seen + i - position) % 8192 == 0:
                        data[i] ^= 255
            seen += len(data)
            try:
                if is_open:
                    sink.sendall(data)
            except OSError:
                is_open = False
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it is closed

    @staticmethod
    def received(source):
        try:
            return bytearray(source.recv(1 << 16))
        except OSError:
            return bytearray()


def memory_bytes():
    """Resident memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
