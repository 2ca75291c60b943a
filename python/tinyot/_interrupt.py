"""Calls of the library that Ctrl-C ends."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Callable, TypeVar

from tinyot._native import Stop

T = TypeVar("T")


def interruptible(call: Callable[[Stop], T], stop: Stop | None = None) -> T:
    """Makes the call on another thread if this is the main one, which handles signals meanwhile.

    An exception of a signal handler, such as KeyboardInterrupt, requests a stop, waits for the end
    of the call, and is raised then.
    """
    token = stop or Stop()
    if threading.current_thread() is not threading.main_thread():
        return call(token)
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call(token))
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=work, name="tinyot", daemon=True)
    thread.start()
    try:
        return future.result()
    except BaseException:
        if not future.done():  # it is an exception of a signal handler, not of the call
            token.request()
        thread.join()
        raise


def both(work: Callable[[int, Stop], T]) -> tuple[T, T]:
    """Calls work(0, stop) and work(1, stop) at the same time. If one fails, the other is stopped,
    and the exception that explains the other one is raised."""

    def call(stop: Stop) -> tuple[T, T]:
        futures: tuple[Future[T], Future[T]] = (Future(), Future())

        def of(party: int) -> None:
            try:
                futures[party].set_result(work(party, stop))
            except BaseException as error:
                futures[party].set_exception(error)
                stop.request()

        thread = threading.Thread(target=of, args=(1,), name="tinyot B", daemon=True)
        thread.start()
        of(0)
        thread.join()
        failures = [e for e in (future.exception() for future in futures) if e is not None]
        if failures:
            raise min(failures, key=_consequence)
        return futures[0].result(), futures[1].result()

    return interruptible(call)


def _consequence(error: BaseException) -> int:
    """Orders exceptions: causes first, consequences of the peer's failure last."""
    name = type(error).__name__
    return {"PeerAborted": 1, "NetworkError": 2, "Cancelled": 3}.get(name, 0)
