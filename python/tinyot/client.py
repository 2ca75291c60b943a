"""A client of a party's daemon, `tinyot serve`.

    from tinyot.client import Daemon

    with Daemon("unix:/run/tinyot/tinyot.sock") as daemon:
        result = daemon.run("payroll-7", "millionaires", {"a": 5})
        print(result.outputs["a_has_more"])

The programs of both parties submit a job to their own daemons under the same id; each gives the
inputs of its own party. Needs grpcio and protobuf: `pip install tinyot[client]`, or python3-grpcio
and python3-protobuf of Debian.
"""

from __future__ import annotations

import enum
import importlib
import pathlib
import tempfile
import time
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Callable, Iterator, Mapping, Union

try:
    # Imported without their types, which some systems have and others do not.
    grpc: Any = importlib.import_module("grpc")
    descriptor_pb2: Any = importlib.import_module("google.protobuf.descriptor_pb2")
    descriptor_pool: Any = importlib.import_module("google.protobuf.descriptor_pool")
    message_factory: Any = importlib.import_module("google.protobuf.message_factory")
except ImportError as error:
    raise ImportError(
        "tinyot.client needs grpcio and protobuf: pip install tinyot[client]"
    ) from error

from tinyot._circuit import FORMATS, Circuit, named, read, typed
from tinyot._errors import (
    Disagreement,
    Error,
    NetworkError,
    PeerCheated,
    StoreError,
    UsageError,
)
from tinyot._values import Bundle, packed, unpack

__all__ = [
    "Daemon",
    "Job",
    "JobResult",
    "Peer",
    "PreparedRuns",
    "SessionStock",
    "State",
]

DEFAULT_ADDRESS = "unix:/run/tinyot/tinyot.sock"
_PART_BYTES = 1 << 20


def _messages() -> dict[str, Any]:
    """The classes of tinyot/v1/party.proto, by name, from its compiled description."""
    described = descriptor_pb2.FileDescriptorSet.FromString(
        (pathlib.Path(__file__).parent / "party.desc").read_bytes()
    )
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)
    if hasattr(message_factory, "GetMessageClass"):
        class_of: Callable[[Any], Any] = message_factory.GetMessageClass
    else:  # before protobuf 4.22
        class_of = message_factory.MessageFactory(pool).GetPrototype
    file = pool.FindFileByName("tinyot/v1/party.proto")
    return {name: class_of(of) for name, of in file.message_types_by_name.items()}


_M = _messages()
_ERRORS: dict[int, type[Error]] = {
    2: UsageError,
    3: NetworkError,
    4: PeerCheated,
    5: StoreError,
    6: Disagreement,
}

CircuitOf = Union[str, Circuit, "PathLike[str]"]
"""A built-in circuit by its name, a circuit, or a file."""


class State(enum.Enum):
    """Of a job."""

    WAITING_FOR_PEER = 1
    QUEUED = 2
    RUNNING = 3
    DONE = 4
    FAILED = 5
    CANCELLED = 6

    @property
    def is_ended(self) -> bool:
        return self in (State.DONE, State.FAILED, State.CANCELLED)


@dataclass(frozen=True)
class Job:
    """A job as the daemon has it."""

    id: str
    peer: str
    circuit: str
    lanes: int
    ands: int
    """Of all lanes."""
    state: State
    error: Error | None
    """Of a failed job."""
    session: str
    submitted_at_s: float
    """Since 1970."""
    evaluation_s: float
    total_s: float
    online: str
    """Of a job that is done: the phase it was evaluated in."""
    was_prepared: bool


@dataclass(frozen=True)
class JobResult:
    """A job that is done, with the outputs that this party learns."""

    job: Job
    outputs: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class SessionStock:
    """What is left of a session with a peer."""

    peer: str
    session: str
    is_current: bool
    ands_left: int
    inputs_left: int
    low_ands: int
    high_ands: int
    budget_spent: float
    bytes: int
    is_refilling: bool


@dataclass(frozen=True)
class PreparedRuns:
    """Runs of a circuit that wait for a job."""

    circuit: str
    lanes: int
    in_stock: int
    kept: int
    configured: int
    reason: str


@dataclass(frozen=True)
class Peer:
    """A peer of the daemon's configuration."""

    name: str
    party: str
    is_connected: bool
    last_error: str
    jobs_waiting: int
    jobs_running: int
    sessions_revoked: int
    refills_stopped: str
    jobs_held: str
    sessions_risk: float
    prepared: tuple[PreparedRuns, ...]


def _error_of(message: Any) -> Error:
    return _ERRORS.get(message.error_class, Error)(message.message)


def _job_of(message: Any) -> Job:
    return Job(
        message.id,
        message.peer,
        message.circuit,
        message.lanes,
        message.ands,
        State(message.state),
        _error_of(message.error) if message.HasField("error") else None,
        message.session,
        message.submitted_at_s,
        message.evaluation_s,
        message.total_s,
        message.online,
        message.was_prepared,
    )


def _fields_of(message: Any, of: type[Any]) -> dict[str, Any]:
    return {name: getattr(message, name) for name in of.__dataclass_fields__}


def _peer_of(message: Any) -> Peer:
    fields: dict[str, Any] = _fields_of(message, Peer)
    fields["prepared"] = tuple(
        PreparedRuns(**_fields_of(of, PreparedRuns)) for of in message.prepared
    )
    return Peer(**fields)


def _loaded(circuit: CircuitOf) -> tuple[Circuit, str, bytes | None]:
    """With its name for the daemon, and the content of a file."""
    if isinstance(circuit, str):
        return named(circuit), circuit, None
    if isinstance(circuit, Circuit):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "circuit.txt"
            circuit.save(file)
            return circuit, circuit.name, file.read_bytes()
    file = pathlib.Path(circuit)
    return read(file), file.stem, file.read_bytes()


def _parts(content: bytes) -> Iterator[bytes]:
    for begin in range(0, len(content), _PART_BYTES):
        yield content[begin : begin + _PART_BYTES]


class Daemon:
    """A connection to a party's daemon. Thread-safe. Raises the exceptions of the library: those of
    the daemon, or NetworkError if it cannot be reached."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        ca: str | PathLike[str] | None = None,
        certificate: str | PathLike[str] | None = None,
        key: str | PathLike[str] | None = None,
        timeout_s: float = 60,
    ) -> None:
        """`address`: unix:PATH; or HOST:PORT with TLS, which takes the certificate that signed the
        daemon's, and this client's certificate and key, as PEM files. `timeout_s`: of a call that
        does not wait for a job."""
        files = [ca, certificate, key]
        if address.startswith("unix:"):
            if any(files):
                raise UsageError("a Unix socket has no TLS: no ca, certificate or key")
            self._channel = grpc.insecure_channel(address)
        else:
            if None in files:
                raise UsageError(f"{address} is reached with TLS: give ca, certificate and key")
            try:
                root, chain, private = (pathlib.Path(file).read_bytes() for file in files if file)
            except OSError as error:
                raise UsageError(f"cannot read a file of TLS: {error}") from error
            self._channel = grpc.secure_channel(
                address,
                grpc.ssl_channel_credentials(
                    root_certificates=root, private_key=private, certificate_chain=chain
                ),
            )
        self._timeout_s = timeout_s

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *of: object) -> None:
        self.close()

    def submit(
        self,
        job: str,
        circuit: CircuitOf,
        inputs: Mapping[str, Any] | None = None,
        *,
        peer: str = "",
        lanes: int | None = None,
        online: str = "",
    ) -> Job:
        """Begins a job; returns when the daemon has accepted it. `inputs`: those of this party, as
        of Party.run. `peer` may be left out if there is only one. `online`: the phase, the same at
        both parties; by default as the daemons' configuration says."""
        loaded, name, content = _loaded(circuit)
        values = packed(loaded.inputs, inputs or {}, lanes)
        new = _M["NewJob"](
            id=job,
            peer=peer,
            circuit=name,
            is_file=content is not None,
            lanes=lanes or 1,
            online=online,
        )

        def requests() -> Iterator[Any]:
            yield _M["SubmitRequest"](job=new)
            for part in _parts(content or b""):
                yield _M["SubmitRequest"](circuit_part=part)
            for name, (bits, _) in values.items():
                for part in _parts(bits):
                    yield _M["SubmitRequest"](inputs=[_M["Input"](name=name, bits=part)])

        call = self._channel.stream_unary(
            "/tinyot.v1.Party/Submit",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=_M["Job"].FromString,
        )
        return _job_of(self._answer(lambda: call(requests(), timeout=self._timeout_s)))

    def run(
        self,
        job: str,
        circuit: CircuitOf,
        inputs: Mapping[str, Any] | None = None,
        *,
        peer: str = "",
        lanes: int | None = None,
        online: str = "",
        wait_s: float | None = None,
        forget: bool = False,
    ) -> JobResult:
        """Submits a job and waits for its result; submits nothing if this client may not read it."""
        self._require_results()
        self.submit(job, circuit, inputs, peer=peer, lanes=lanes, online=online)
        return self.result(job, circuit, peer=peer, lanes=lanes, wait_s=wait_s, forget=forget)

    def result(
        self,
        job: str,
        circuit: CircuitOf | None = None,
        *,
        peer: str = "",
        lanes: int | None = None,
        wait_s: float | None = None,
        forget: bool = False,
    ) -> JobResult:
        """Waits until the job has ended; raises the error of a failed one, and NetworkError if it
        goes on after `wait_s`. With the job's circuit and lanes, outputs are as those of Party.run;
        without, each is an int or bytes, or with several lanes an array. `forget`: the daemon drops
        the job and its outputs."""
        call = self._channel.unary_stream(
            "/tinyot.v1.Party/Result",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=_M["ResultPart"].FromString,
        )
        request = _M["ResultRequest"](id=job, peer=peer, forget=forget)
        ended, outputs = self._answer(lambda: _received(call(request, timeout=wait_s)))
        if ended.error is not None:
            raise ended.error
        if ended.state is State.CANCELLED:
            raise Error(f"the job {job} was cancelled")
        if circuit is not None:
            if isinstance(circuit, str) and named(circuit).name != ended.circuit:
                raise UsageError(
                    f"job {job} is of circuit {ended.circuit}, not of {named(circuit).name}"
                )
            bundles = _loaded_outputs(circuit)
            _require_outputs(job, bundles, outputs)
        else:
            bundles = tuple(
                typed(Bundle(name, bits, "both", FORMATS.get(kind, "msb-uint")), written)
                for name, (bits, kind, written, _) in outputs.items()
            )
            lanes = None if ended.lanes == 1 else ended.lanes
        return JobResult(
            ended,
            unpack(bundles, {name: (of[3], ended.lanes) for name, of in outputs.items()}, lanes),
        )

    def status(self, job: str, *, peer: str = "") -> Job:
        """The peer, as of result() and cancel(), is needed if jobs with several have the id."""
        return _job_of(self._call("Status", "Job", _M["StatusRequest"](id=job, peer=peer)))

    def cancel(self, job: str, *, peer: str = "") -> Job:
        """Has no effect on a job that has ended."""
        return _job_of(self._call("Cancel", "Job", _M["CancelRequest"](id=job, peer=peer)))

    def stock(self, peer: str = "") -> list[SessionStock]:
        reply = self._call("Stock", "StockReply", _M["StockRequest"](peer=peer))
        return [SessionStock(**_fields_of(of, SessionStock)) for of in reply.sessions]

    def peers(self) -> list[Peer]:
        reply = self._call("Peers", "PeersReply", _M["PeersRequest"]())
        return [_peer_of(of) for of in reply.peers]

    def retire(self, peer: str = "") -> str:
        """Ends the current session with a peer: all its material is lost. Returns its id."""
        reply = self._call("Retire", "RetireReply", _M["RetireRequest"](peer=peer))
        return str(reply.session)

    def resume(self, peer: str = "") -> None:
        """Refills that a limit has stopped go on."""
        self._call("Resume", "ResumeReply", _M["ResumeRequest"](peer=peer))

    def wait_until_connected(self, peer: str = "", timeout_s: float = 60) -> None:
        """Until the daemon and a peer's have a link. Raises NetworkError after the time."""
        end = time.monotonic() + timeout_s
        while not any(of.is_connected for of in self.peers() if of.name == peer or not peer):
            if time.monotonic() > end:
                raise NetworkError(f"the daemon has no link to its peer after {timeout_s:g} s")
            time.sleep(0.1)

    def _require_results(self) -> None:
        # Rights are looked at before the job, which no daemon has: an id is not empty.
        call = self._channel.unary_stream(
            "/tinyot.v1.Party/Result",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=_M["ResultPart"].FromString,
        )
        try:
            list(call(_M["ResultRequest"](), timeout=self._timeout_s))
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise _error_from(error) from None

    def _call(self, method: str, reply: str, request: Any) -> Any:
        call = self._channel.unary_unary(
            f"/tinyot.v1.Party/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=_M[reply].FromString,
        )
        return self._answer(lambda: call(request, timeout=self._timeout_s))

    def _answer(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except grpc.RpcError as error:
            raise _error_from(error) from None


def _loaded_outputs(circuit: CircuitOf) -> tuple[Bundle, ...]:
    if isinstance(circuit, str):
        circuit = named(circuit)
    elif not isinstance(circuit, Circuit):
        circuit = read(circuit)
    return circuit.outputs


def _require_outputs(
    job: str, bundles: tuple[Bundle, ...], outputs: Mapping[str, tuple[int, str, str, bytes]]
) -> None:
    """That a circuit which was given for a result has the outputs of the job, in their types."""
    known = {bundle.name: bundle for bundle in bundles}
    for name, (bits, kind, written, _) in outputs.items():
        bundle = known.get(name)
        if bundle is None or bundle.bits != bits:
            has = "no such output" if bundle is None else f"{bundle.bits} bits"
            raise UsageError(
                f"output {name} of job {job} has {bits} bits, not those of the circuit, which has {has}"
            )
        of_job = typed(Bundle(name, bits, "both", FORMATS.get(kind, "msb-uint")), written)
        if _meaning(of_job) != _meaning(bundle):
            raise UsageError(
                f"output {name} of job {job} is of another type than that of the circuit: "
                f"{written or 'none'}"
            )


def _meaning(bundle: Bundle) -> tuple[str, int, int]:
    kind = "uint" if bundle.kind == "bool" else bundle.kind
    if bundle.bits > 1 << 15:  # too wide for a type
        return "", 0, 0
    return kind, bundle.element_bits, bundle.fraction


def _received(parts: Any) -> tuple[Job, dict[str, tuple[int, str, str, bytes]]]:
    """The job, and of each output its width, its format, its type and its bits."""
    job: Job | None = None
    outputs: dict[str, tuple[int, str, str, bytearray]] = {}
    for part in parts:
        if part.HasField("job"):
            job = _job_of(part.job)
        for output in part.outputs:
            of = outputs.setdefault(
                output.name,
                (output.bits_per_lane, output.format, output.type, bytearray()),
            )
            of[3].extend(output.bits)
    if job is None:
        raise NetworkError("the daemon has sent no result")
    return job, {name: (*of[:3], bytes(of[3])) for name, of in outputs.items()}


def _error_from(error: Any) -> Error:
    """The daemon's error, which is in the details of a failed call, or that of the connection."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in _M["FailedCall"].FromString(value).details:
                return _error_of(_M["Error"].FromString(detail.value))
    if error.code() is grpc.StatusCode.PERMISSION_DENIED:  # before the call has reached the daemon
        return UsageError(error.details())
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return NetworkError("the daemon has not answered in time; a job that it has goes on")
    return NetworkError(f"the daemon cannot be reached: {error.details()}")
