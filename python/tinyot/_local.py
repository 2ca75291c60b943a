"""Both parties in one process, for notebooks and tests, and measurements with them."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any, Callable, Iterable, Mapping, NamedTuple

from tinyot import _native
from tinyot._circuit import Circuit
from tinyot._interrupt import both
from tinyot._party import (
    Parameters,
    Party,
    Path,
    PreprocessResult,
    Progress,
    Result,
    default_inputs,
)
from tinyot._values import no_input


class BothPreprocessed(NamedTuple):
    a: PreprocessResult
    b: PreprocessResult


@dataclass(frozen=True)
class BothResults:
    a: Result
    b: Result

    @property
    def outputs(self) -> dict[str, Any]:
        """Those of A and those of B; a value that both receive occurs once."""
        return {**self.a.outputs, **self.b.outputs}


class Local:
    """Both parties on threads of this process. It has the secrets of both, so it is for trying."""

    def __init__(self, directory: Path | None = None) -> None:
        self._temporary = None if directory else tempfile.TemporaryDirectory(prefix="tinyot-")
        self._directory = FilePath(directory or (self._temporary.name if self._temporary else ""))
        self._directory.mkdir(parents=True, exist_ok=True)
        ends = _native.Endpoint.pair()
        self.a = Party._over("A", ends[0], self._directory / "A")
        self.b = Party._over("B", ends[1], self._directory / "B")

    def preprocess(
        self,
        ands: int | None = None,
        inputs: int | None = None,
        *,
        add: int | None = None,
        left: int | None = None,
        resume: bool = False,
        threads: int = 1,
        memory_bytes: int = 1_000_000_000,
        progress: Callable[[Progress], object] | None = None,
        **parameters: Any,
    ) -> BothPreprocessed:
        """As Party.preprocess, for both. `progress` is that of A."""
        chosen = Parameters(**parameters)
        a, b = both(
            lambda number, stop: (self.a, self.b)[number]._preprocess(
                stop,
                chosen,
                ands,
                inputs,
                add,
                left,
                resume,
                threads,
                memory_bytes,
                progress if number == 0 else None,
            )
        )
        return BothPreprocessed(a, b)

    def run(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Any],
        *,
        lanes: int | None = None,
        live: Parameters | bool | None = None,
        online: str = "auto",
    ) -> BothResults:
        """As Party.run, with the inputs of both. Without preprocessing, the material is made during
        the run."""
        owners = {bundle.name: bundle.party for bundle in circuit.inputs}
        unknown = [name for name in inputs if name not in owners]
        if unknown:
            raise no_input(unknown[0], owners)
        how = live if live is not None else not (self._directory / "A").exists()
        a, b = both(
            lambda number, stop: (self.a, self.b)[number]._run(
                stop,
                circuit,
                {
                    name: value
                    for name, value in inputs.items()
                    if owners[name] in ("AB"[number], "public")
                },
                lanes,
                how,
                online,
            )
        )
        return BothResults(a, b)

    def close(self) -> None:
        """Removes the stores if they are in a temporary directory."""
        if self._temporary:
            self._temporary.cleanup()

    def __enter__(self) -> Local:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def local(directory: Path | None = None) -> Local:
    """Both parties in one process, with stores in the directory, or in a temporary one."""
    return Local(directory)


def _combinations(given: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A dict for each combination of values of which lists are given."""
    lists = [
        list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        for value in given.values()
    ]
    for values in itertools.product(*lists):
        yield dict(zip(given, values))


_NAMES = {of.name for of in fields(Parameters)}


def estimate(
    ands: Any,
    *,
    inputs: Any = None,
    threads: Any = 1,
    memory_bytes: int = 1_000_000_000,
    **parameters: Any,
) -> list[dict[str, Any]]:
    """What preprocessing jobs cost and how secure they are: a record for each combination of the
    arguments, which may be lists. The parameters are those of Party.preprocess."""
    records = []
    for job in _combinations({"ands": ands, "inputs": inputs, "threads": threads, **parameters}):
        chosen = Parameters(**{name: job[name] for name in job if name in _NAMES})
        count = default_inputs(job["ands"]) if job["inputs"] is None else job["inputs"]
        found = _native.estimate(
            chosen._native(), job["ands"], count, job["threads"], memory_bytes
        )
        records.append({"profile": chosen.profile, "sigma": chosen.sigma, **job, **found})
    return records


# Gates of a block of AES as the paper counts them, for each AND of its circuit here.
_PAPER_GATES_OF_AN_AND = 34520 / 6400


def bench(
    ands: Any, *, inputs: Any = None, threads: Any = 1, repeat: int = 1, **parameters: Any
) -> list[dict[str, Any]]:
    """Measures preprocessing by both parties on this machine: a record for each combination of the
    arguments, which may be lists, and each repetition."""
    records = []
    for job in _combinations({"ands": ands, "inputs": inputs, "threads": threads, **parameters}):
        for number in range(repeat):
            with local() as parties:
                made = parties.preprocess(**job)
            wall_s = max(one.wall_s for one in made)
            store = made.a.store
            records.append(
                {
                    **job,
                    "profile": store.profile,
                    "sigma": store.sigma,
                    "sigma_exact": store.sigma_exact,
                    "bucket": store.bucket,
                    "unit": store.unit,
                    "ands": made.a.ands,
                    "wall_s": wall_s,
                    "ands_per_s": made.a.ands / wall_s,
                    "gates_per_s": made.a.ands / wall_s * _PAPER_GATES_OF_AN_AND,
                    "bytes_sent": sum(phase["bytes_sent"] for phase in made.a.phases),
                    "repetition": number,
                }
            )
    return records
