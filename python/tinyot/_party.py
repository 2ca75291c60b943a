"""A party: preprocessing and runs with its peer."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from types import TracebackType
from typing import Any, Callable, Mapping, NamedTuple, Sequence, TypeVar, Union

from tinyot import _native
from tinyot._circuit import Circuit
from tinyot._errors import UsageError
from tinyot._interrupt import interruptible
from tinyot._native import SharedBits, Stop
from tinyot._rows import run_rows
from tinyot._values import pack, unpack

Path = Union[str, "PathLike[str]"]
T = TypeVar("T")


@dataclass(frozen=True)
class Parameters:
    """How material is made. Values that are None are chosen to fit the others."""

    profile: str = "nnob12"
    sigma: int = 40
    unit: int | None = None
    bucket: int | tuple[int, ...] | None = None
    material: str | None = None
    columns: str | None = None
    softspoken_k: int | None = None
    abits: str | None = None
    silent_set: str | None = None
    base_ot: str = "auto"
    weak_allowed: bool = False

    def _native(self) -> _native.Parameters:
        bucket = [self.bucket] if isinstance(self.bucket, int) else list(self.bucket or ())
        own = [
            ("columns", self.columns),
            ("softspoken-k", self.softspoken_k),
            ("abits", self.abits),
            ("silent-set", self.silent_set),
        ]
        return _native.parameters(
            self.profile,
            self.sigma,
            self.unit,
            bucket,
            self.material,
            [(name, str(value)) for name, value in own if value is not None],
            self.base_ot,
            self.weak_allowed,
        )


class Progress(NamedTuple):
    """The state of a unit of a preprocessing job."""

    unit: int
    ands: int
    """Of the unit."""
    phase: str
    done: int
    total: int
    """Items of the phase."""
    job_ands: int
    ands_before: int
    """ANDs of the job, and those of them that were made by earlier calls."""


class PreparedRun:
    """A run of a connection that lacks only its inputs."""

    def __init__(
        self, connection: Connection, circuit: Circuit, lanes: int | None, number: int
    ) -> None:
        self._connection = connection
        self._circuit = circuit
        self._lanes = lanes
        self._number = number

    def finish(self, inputs: Mapping[str, Any]) -> Result:
        """As Connection.run, once. Both parties finish the same runs in the same order."""
        packed = pack(self._circuit.inputs, inputs, self._lanes)
        ran = self._connection._interruptible(
            lambda: self._connection._native.finish(self._number, packed)
        )
        return _result(self._circuit, ran, self._lanes)


@dataclass(frozen=True)
class StoreInfo:
    session: str
    party: str
    peer: str
    state: str
    revocation_reason: str
    profile: str
    material: str
    sigma: int
    sigma_exact: float
    bucket: int | tuple[int, ...]
    unit: int
    shard: int
    shards: int
    units_made: int
    units_outstanding: int
    made: dict[str, int]
    left: dict[str, int]
    """Unused objects by kind."""
    ands_left: int
    bytes: int


@dataclass(frozen=True)
class PreprocessResult:
    store: StoreInfo
    ands: int
    """Made by this call."""
    wall_s: float
    phases: list[dict[str, Any]] = field(repr=False)


@dataclass(frozen=True)
class Result:
    """Of a run. `outputs` has those that this party receives; `shared` has values that no party
    received, as inputs of later circuits of the same connection."""

    outputs: dict[str, Any] = field(repr=False)
    shared: dict[str, SharedBits] = field(repr=False)
    ands: int
    xors: int
    and_rounds: int
    online: str
    """The phase that ran: interactive, garbled or masked."""
    online_chosen_by: str
    half_round_trips: tuple[int, int]
    """Until A has its outputs, and until B has; after the inputs, if they came later."""
    burnt: dict[str, int]
    wall_s: float
    phases: list[dict[str, Any]] = field(repr=False)


def keygen(path: Path) -> str:
    """Writes a new private key to `path` and its certificate to `path`.crt. Returns the
    fingerprint, which the peer gives as peer_key."""
    return _native.make_key_file(path)


def default_inputs(ands: int) -> int:
    """Authenticated bits that are made for inputs and outputs unless a number is given."""
    return 1024 + ands // 16


def _with_state(
    progress: Callable[[Progress], object] | None
) -> Callable[..., object] | None:
    if progress is None:
        return None
    call = progress
    return lambda *state: call(Progress(*state))


def _result(circuit: Circuit, ran: dict[str, Any], lanes: int | None) -> Result:
    ran["half_round_trips"] = tuple(ran["half_round_trips"])
    ran["outputs"] = unpack(circuit.outputs, ran["outputs"], lanes)
    return Result(**ran)


class Party:
    """One of the two parties.

    `listen` or `connect` is "HOST:PORT"; one party listens and the other connects. Both have keys
    (`keygen`), except on a loopback address. `store` is the directory of the material, or a list of
    shards; `store_key` a file with the key under which it is sealed.
    """

    def __init__(
        self,
        party: str,
        *,
        listen: str | None = None,
        connect: str | None = None,
        key: Path | None = None,
        peer_key: str | None = None,
        store: Path | Sequence[Path] | None = None,
        store_key: Path | None = None,
        connect_timeout: float = 60,
        idle_timeout: float = 120,
        allow_plaintext: bool = False,
    ) -> None:
        if (listen is None) == (connect is None):
            raise UsageError("a party has either listen or connect")
        if (key is None) != (peer_key is None):
            raise UsageError("a party has both key and peer_key, or neither")
        open_endpoint = _native.Endpoint.listen if connect is None else _native.Endpoint.connect
        endpoint = open_endpoint(listen or connect or "", connect_timeout, idle_timeout)
        if key is not None and peer_key is not None:
            endpoint.authenticate(key, peer_key)
        if allow_plaintext:
            endpoint.allow_plaintext()
        self._set_up(party, endpoint, store, store_key)

    def _set_up(
        self,
        party: str,
        endpoint: _native.Endpoint,
        store: Path | Sequence[Path] | None,
        store_key: Path | None,
    ) -> None:
        if party not in ("A", "B"):
            raise UsageError(f'a party is "A" or "B", not {party!r}')
        self.party = party
        self._letter = _native.Letter.A if party == "A" else _native.Letter.B
        self._endpoint = endpoint
        self._stores: list[Path] = []
        if isinstance(store, (str, PathLike)):
            self._stores = [store]
        elif store is not None:
            self._stores = list(store)
        self._store_key = store_key

    @classmethod
    def _over(cls, party: str, endpoint: _native.Endpoint, store: Path) -> Party:
        self = cls.__new__(cls)
        self._set_up(party, endpoint, store, None)
        return self

    def preprocess(
        self,
        ands: int | None = None,
        inputs: int | None = None,
        *,
        add: int | None = None,
        left: int | None = None,
        resume: bool = False,
        profile: str = "nnob12",
        sigma: int = 40,
        unit: int | None = None,
        bucket: int | tuple[int, ...] | None = None,
        material: str | None = None,
        columns: str | None = None,
        softspoken_k: int | None = None,
        abits: str | None = None,
        silent_set: str | None = None,
        base_ot: str = "auto",
        weak_allowed: bool = False,
        threads: int = 1,
        memory_bytes: int = 1_000_000_000,
        progress: Callable[[Progress], object] | None = None,
    ) -> PreprocessResult:
        """Makes material with the peer, which makes the same call.

        `ands` into a new store, `add` more into a complete one, or as many as it lacks to have
        `left` unused ones; with `resume`, the rest of a job that was interrupted. `inputs` bits for
        inputs, and for outputs of one party, are made besides: 1024 and one for 16 ANDs by default.
        Ctrl-C ends the job after the current unit, at both parties: the peer's call returns with a
        store that is "open". `progress` is called on threads of the library.
        """
        parameters = Parameters(
            profile,
            sigma,
            unit,
            bucket,
            material,
            columns,
            softspoken_k,
            abits,
            silent_set,
            base_ot,
            weak_allowed,
        )
        return interruptible(
            lambda stop: self._preprocess(
                stop, parameters, ands, inputs, add, left, resume, threads, memory_bytes, progress
            )
        )

    def _preprocess(
        self,
        stop: Stop,
        parameters: Parameters,
        ands: int | None,
        inputs: int | None,
        add: int | None,
        left: int | None,
        resume: bool,
        threads: int,
        memory_bytes: int,
        progress: Callable[[Progress], object] | None,
    ) -> PreprocessResult:
        if len(self._stores) != 1:
            raise UsageError("preprocessing needs one store: Party(store=DIRECTORY)")
        amounts = [
            (amount, value)
            for amount, value in [
                (_native.Amount.total, ands),
                (_native.Amount.more, add),
                (_native.Amount.left, left),
            ]
            if value is not None
        ]
        if len(amounts) > 1 or (not amounts and not resume):
            raise UsageError("preprocessing needs one of ands, add, left and resume=True")
        amount, number = amounts[0] if amounts else (_native.Amount.total, 0)
        if inputs is None:
            inputs = default_inputs(number) if amounts else 0
        made = _native.preprocess(
            self._letter,
            self._endpoint,
            self._stores[0],
            self._store_key,
            parameters._native(),
            amount,
            number,
            inputs,
            threads,
            memory_bytes,
            resume,
            _with_state(progress),
            stop,
        )
        made["store"] = StoreInfo(**made["store"])
        return PreprocessResult(**made)

    def _request(
        self, live: Parameters | bool, online: str, row_check: str | None = None
    ) -> _native.RunRequest:
        if live is True:
            live = Parameters()
        parameters = live._native() if isinstance(live, Parameters) else None
        stores = [] if parameters else self._stores
        if not parameters and not stores:
            raise UsageError("a run needs a store, Party(store=DIRECTORY), or live=True")
        return _native.RunRequest(
            self._letter, self._endpoint, stores, self._store_key, parameters, online, row_check
        )

    def run(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Any],
        *,
        lanes: int | None = None,
        live: Parameters | bool = False,
        online: str = "auto",
    ) -> Result:
        """Evaluates a circuit with the peer, which makes the same call with its own inputs.

        With `lanes`, the circuit is evaluated on so many values side by side: inputs are lists or
        arrays with one value for each lane, outputs are arrays. With `live`, the material is made
        during the run. `online` is "interactive", "garbled", which takes material for garbling,
        "masked", of which a part is done before the inputs (prepare()), or "auto": what the peer
        asks for, or what A expects to be faster. Ctrl-C ends the run.
        """
        return interruptible(lambda stop: self._run(stop, circuit, inputs, lanes, live, online))

    def _run(
        self,
        stop: Stop,
        circuit: Circuit,
        inputs: Mapping[str, Any],
        lanes: int | None,
        live: Parameters | bool,
        online: str,
    ) -> Result:
        packed = pack(circuit.inputs, inputs, lanes)
        request = self._request(live, online)
        ran = _native.run(request, circuit._native(), packed, lanes or 1, stop)
        return _result(circuit, ran, lanes)

    def run_rows(
        self,
        circuit: Circuit,
        table: Any,
        *,
        inputs: Mapping[str, Any] | None = None,
        rows_at_once: int = 8192,
    ) -> dict[str, Any]:
        """Evaluates a circuit on each row of a table, on stored material: a pandas.DataFrame, or a
        dict of columns, one for each input of this party; or the number of rows, if it has none.
        `inputs` has those that are the same in all rows. All rows are checked, and the parties
        compare their numbers, before the first is evaluated. Returns the outputs as columns.
        """
        return run_rows(self, circuit, table, inputs, rows_at_once)

    def ands_left(self) -> int:
        """That can be evaluated with what is left in the party's stores."""
        return sum(Store(store, self._store_key).info().ands_left for store in self._stores)

    def connect(self, *, online: str = "auto", row_check: str | None = None) -> Connection:
        """A connection for several runs on stored material, as a context manager. `online` as in
        run(); `row_check` is "early" or "batched", for garbled runs whose inputs come later."""
        return Connection(self._request(False, online, row_check))


class Connection:
    """Circuits one after the other over one connection. Values that no party received stay shared
    between them: they are inputs of later circuits, declared by tinyot.shared. Both parties make
    the same calls. After an exception the connection has ended."""

    def __init__(self, request: _native.RunRequest) -> None:
        self._stop = Stop()
        self._native = self._interruptible(lambda: _native.Connection(request, self._stop))

    def run(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Any],
        *,
        shared: Mapping[str, SharedBits] | None = None,
        lanes: int | None = None,
        label: str = "",
    ) -> Result:
        """As Party.run. `shared` has the values of the circuit's shared inputs, by their names.
        `label` names the run; the parties compare it."""
        packed = pack(circuit.inputs, inputs, lanes)
        native = circuit._native()
        ran = self._interruptible(
            lambda: self._native.run(native, packed, shared or {}, lanes or 1, label)
        )
        return _result(circuit, ran, lanes)

    def prepare(
        self,
        circuit: Circuit,
        *,
        shared: Mapping[str, SharedBits] | None = None,
        lanes: int | None = None,
        label: str = "",
    ) -> PreparedRun:
        """The first half of a run, before its inputs are known: the parties agree on the circuit
        and its shared values and take its material, which is lost if the connection ends first. In
        the garbled phase almost all of the work is done here, in the masked phase about half."""
        native = circuit._native()
        number = self._interruptible(
            lambda: self._native.prepare(native, shared or {}, lanes or 1, label)
        )
        return PreparedRun(self, circuit, lanes, number)

    def close(self) -> None:
        self._native.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _interruptible(self, call: Callable[[], T]) -> T:
        return interruptible(lambda _: call(), self._stop)


class Store:
    """A party's store of material."""

    def __init__(self, directory: Path, key: Path | None = None) -> None:
        self._directory = directory
        self._key = key

    def info(self) -> StoreInfo:
        return StoreInfo(**_native.store_info(self._directory, self._key))

    def retire(self) -> list[str]:
        """Ends the session: erases all keys, so that the stores of both parties become unusable.
        Returns the steps that were not possible."""
        return _native.retire(self._directory, self._key)
