"""The figures of lines: which rows each one shows, along which axes, in which words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wording import Row

Dash = str | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class Quantity:
    """What a y axis shows. Direction: 1 rises with the rate, -1 falls with it; 0: the runs of a row
    have no range of it. The rate: offline, the field that has a least and a greatest value."""
    heading: str
    of: Callable[[Row], float]
    direction: int = 0
    rate: str = "ands_per_s"
    name: str = ""
    dash: Dash | None = None  # of several quantities in one panel


@dataclass(frozen=True)
class Chart:
    """Rows with equal keys form a line. So do those that further asked fields tell apart, except x
    and the ignored fields, which follow from others."""
    name: str
    title: str
    text: str
    experiment: str
    kind: str
    x: str
    x_label: str
    ys: tuple[Quantity, ...]
    keys: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    x_ticks: str = "round"  # or powers (of two), or measured
    x_unit: str = ""
    x_is_log: bool = True
    y_is_log: bool = True
    panels: str = ""  # quantity: one for each y; or a field: one for each of its values
    shares_y: bool = False
    levels: tuple[int, ...] = ()  # of sigma, as horizontal lines
    marks_sigma: bool = False  # by markers, and weak rows by crosses
    rows_of: Callable[[list[Row]], list[Row]] = lambda rows: rows
    remark: Callable[[list[Row]], str] = lambda rows: ""  # a sentence about the rows


def with_paper(rows: list[Row]) -> list[Row]:
    """The paper's figures, as rows of a profile of their own."""
    by_blocks = {row["blocks"]: row for row in rows}
    return rows + [{"kind": "blocks", "profile": "paper, 2012", "blocks": blocks,
                    "offline_s": row["paper_offline_s"], "online_s": row["paper_online_s"]}
                   for blocks, row in by_blocks.items()]


def on_links(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["rtt_ms"] > 0]


def chosen_beside_best(rows: list[Row]) -> str:
    """How far `auto` is from the fastest phase where it is farthest."""
    ways: dict[tuple, dict[str, float]] = {}
    for row in rows:
        place = (row["circuit"], row["lanes"], row["rtt_ms"], row["rate_mbit"],
                 row.get("inputs_later", False))
        ways.setdefault(place, {})[row.get("online_asked", "")] = row["wall_s"]
    late = []
    for seconds in ways.values():
        auto, others = seconds.pop("auto", None), seconds.values()
        if auto is not None and others:
            late.append((auto / min(others), auto - min(others)))
    missed = [each for each in late if each[0] > 1.1 and each[1] > 0.005]
    if not late:
        return ""
    return (f"auto is within 10 % or 5 ms of the fastest at {len(late) - len(missed)} of "
            f"{len(late)} points" + (f", and at most {max(missed)[0]:.2f} times as long as it at "
                                     "the others." if missed else "."))


GATES = Quantity("gates/s", lambda row: row["gates_per_s"], 1)
GATES_THEN = Quantity("gates/s after the set-up", lambda row: row["gates_per_s_then"], 1,
                      "gates_per_s_then")
BY_BUCKET: dict[str, Any] = {
    "experiment": "buckets", "kind": "offline", "x": "bucket", "x_label": "bucket size B",
    "x_ticks": "measured", "x_is_log": False, "keys": ("profile", "unit"), "panels": "profile"}
BY_ROUND_TRIP: dict[str, Any] = {
    "x": "rtt_ms", "x_label": "round-trip time", "x_ticks": "measured", "x_unit": " ms",
    "ys": (GATES,), "rows_of": on_links}
BY_SIZE: dict[str, Any] = {
    "experiment": "sizes", "kind": "offline", "x": "ands", "x_label": "ANDs of the job",
    "x_ticks": "powers", "keys": ("profile",), "ignored": ("unit", "bucket")}

CHARTS = (
    Chart("gates-by-bucket", "Offline rate by bucket size",
          "An AND costs B leaky objects, so the rate falls as B grows; a larger unit reaches the "
          "same sigma with a smaller B. The set-up, which a session needs once, is left out.",
          ys=(GATES_THEN,), ignored=("sigma", "ands"), marks_sigma=True, **BY_BUCKET),
    Chart("bytes-by-bucket", "Offline traffic by bucket size",
          "The traffic grows in proportion to B; a small unit adds a share of what is sent once.",
          ys=(Quantity("bytes per AND, both ways", lambda row: row["bytes_per_and"]),),
          ignored=("sigma", "ands"), marks_sigma=True, **BY_BUCKET),
    Chart("sigma-by-bucket", "Statistical security by bucket size",
          "Each further object in a bucket adds about log2 of the unit in bits; the exact security "
          "(dashed) is higher than the paper's bound (solid).",
          ys=(Quantity("paper's bound, bits", lambda row: row["sigma_paper_bound"], name="paper",
                       dash="-"),
              Quantity("exact, bits", lambda row: row["sigma_exact"], name="exact",
                       dash=(0, (3, 2)))),
          ignored=("sigma", "ands", "stored", "threads"), y_is_log=False, shares_y=True,
          levels=(40, 64, 80), **BY_BUCKET),
    Chart("offline-by-rtt", "Offline rate by round-trip time",
          "Where a line is level, computation or the rate of the link is the limit; where it "
          "falls, round trips are.",
          "links", "offline", keys=("profile", "rate_mbit", "tls"), ignored=("bucket",),
          panels="profile", shares_y=True, **BY_ROUND_TRIP),
    Chart("online-by-rtt", "Online rate by round-trip time",
          "Each layer of ANDs takes half a round trip with triples, so on slow links the rate is "
          "inversely proportional to the round-trip time; all lanes share the same messages.",
          "online links", "online", keys=("circuit", "lanes", "rate_mbit"),
          ignored=("ands", "unit", "bucket"),
          **BY_ROUND_TRIP),
    Chart("time-by-rtt", "Online time by round-trip time and phase",
          "The interactive phase takes half a round trip a layer, the garbled one 4 or 5 for any "
          "circuit, and 32 bytes an AND; auto lets party A choose what it expects to be faster.",
          "online phases", "online", keys=("circuit", "online_asked", "rate_mbit"),
          ignored=("ands", "lanes", "unit", "bucket"), panels="circuit",
          remark=chosen_beside_best,
          **BY_ROUND_TRIP | {"ys": (Quantity("time, s", lambda row: row["wall_s"]),)}),
    Chart("blocks", "AES blocks, beside the paper's figures",
          "Time for oblivious AES-128; the paper's figures are those of its Fig. 17, measured in "
          "Java on two machines with two 2.4 GHz cores each.",
          "blocks", "blocks", "blocks", "AES blocks",
          (Quantity("offline, s", lambda row: row["offline_s"], name="offline"),
           Quantity("online, s", lambda row: row["online_s"], name="online")),
          ("profile", "columns"), ignored=("unit", "bucket", "material"), panels="quantity",
          shares_y=True, rows_of=with_paper),
    Chart("cost-by-size", "Offline cost by size of the job",
          "The set-up dominates small jobs; the cost of an AND approaches a constant as jobs grow.",
          ys=(Quantity("µs per AND", lambda row: 1e6 / row["ands_per_s"], -1),), **BY_SIZE),
    Chart("memory-by-size", "Memory by size of the job",
          "Memory grows with the job until the units in flight have their full size, and then "
          "stays; the figure is the peak of the party that needs more (1 MB is 10^6 bytes).",
          ys=(Quantity("peak memory, MB", lambda row: row["peak_rss_bytes"] / 1e6),), **BY_SIZE))
