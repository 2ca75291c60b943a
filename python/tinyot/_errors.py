"""The exceptions of the library. No text of an exception carries a secret."""

from __future__ import annotations


class Error(Exception):
    """Any failure that no other class describes, and the base of them."""

    def __init__(self, message: str, phase: str = "", hint: str = "", check: str = "") -> None:
        super().__init__(message + ("; " + hint if hint else ""))
        self.phase = phase
        """Of a NetworkError, the phase of the protocol; empty before the parties are connected."""
        self.hint = hint
        """What the caller can do about it, if there is one thing to do."""
        self.check = check
        """Of PeerCheated, the name of the check that failed."""


class UsageError(Error):
    """An argument is invalid."""


class NetworkError(Error):
    """The connection failed, or could not be established."""


class PeerAborted(NetworkError):
    """The peer found that one of its own checks failed; the session is revoked."""


class PeerCheated(Error):
    """Received data violate the protocol; the session is revoked."""


class StoreError(Error):
    """A store or one of its files cannot be used."""


class OutOfMaterial(StoreError):
    """A store has too little material."""


class Disagreement(Error):
    """The requests of the two parties differ."""


class Cancelled(Error):
    """The caller asked to stop."""
