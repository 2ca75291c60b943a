"""Measurements that are shown as tables, without a figure."""

from collections.abc import Callable
from dataclasses import dataclass

from charts import Quantity, chosen_beside_best
from figures import Figure, conditions, table_of
from wording import Row, telling


@dataclass(frozen=True)
class Table:
    """The rows of an experiment, with the keys as columns and those asked fields that further tell
    rows apart, except the ignored ones, which follow from others."""
    name: str
    title: str
    text: str
    experiment: str
    keys: tuple[str, ...]
    ys: tuple[Quantity, ...]
    ignored: tuple[str, ...] = ("unit", "bucket")
    remark: Callable[[list[Row]], str] = lambda rows: ""


def value(field: str, per: float = 1) -> Callable[[Row], float]:
    """Of rows that lack it, 0."""
    return lambda row: (row.get(field) or 0) / per


OTS = Quantity("OTs/s", value("ots_per_s"), 1, "ots_per_s")
OTS_OF_SENDER = Quantity("a second of the sender's CPU", value("ots_per_cpu_s_sender"))
OTS_OF_RECEIVER = Quantity("of the receiver's CPU", value("ots_per_cpu_s_receiver"))
OT_BYTES = Quantity("bytes per OT", value("bytes_per_ot"))
ANDS = Quantity("ANDs/s", value("ands_per_s"), 1)
AND_CPU = Quantity("µs of CPU per AND and party", value("cpu_us_per_and"))
AND_BYTES = Quantity("bytes per AND, both ways", value("bytes_per_and"))
MEMORY = Quantity("peak memory, MB", value("peak_rss_bytes", 1e6))
# With the range of their time.
ANDS_ONLINE = Quantity("ANDs/s", value("ands_per_s"))
GATES_ONLINE = Quantity("gates/s", value("gates_per_s"))
SECONDS = Quantity("time, s", value("wall_s"), -1)
BITS = Quantity("bits per AND, both ways", value("bits_per_and"))

TABLES = (
    Table("ot-extension", "OT extension",
          "abits makes correlated OTs both ways at once, as preprocessing does, and counts both; the "
          "others have A as sender and B as receiver. With larger k, more work and less traffic.",
          "OT extension", ("ot_kind", "softspoken_k"),
          (OTS, OTS_OF_SENDER, OTS_OF_RECEIVER, OT_BYTES)),
    Table("silent-bits", "Silent bits",
          "Authenticated bits from LPN, both ways at once; both are counted. The start precedes the "
          "first bit of a chain.",
          "silent bits", ("silent_set",),
          (OTS, OTS_OF_SENDER, OTS_OF_RECEIVER, OT_BYTES,
           Quantity("start, s", value("start_s")), Quantity("start, bytes", value("start_bytes")))),
    Table("base-ots", "Base OTs", "Both ways; a session needs 128 each way.",
          "base OTs", ("ot_kind",), (OTS, OTS_OF_SENDER, OTS_OF_RECEIVER, OT_BYTES)),
    Table("stored", "Material that is stored",
          "The same jobs with their material discarded, and sealed and written to the disk.",
          "store", ("profile", "columns", "ands", "stored"), (ANDS, AND_CPU, AND_BYTES, MEMORY)),
    Table("slow-links", "Triples over slow links", "The set-up and the first unit included.",
          "slow links", ("profile", "softspoken_k", "ands", "rtt_ms", "rate_mbit"),
          (ANDS, AND_CPU, AND_BYTES, MEMORY)),
    Table("tls", "TLS", "The two cores do the encryption of both parties.",
          "TLS", ("profile", "tls"), (ANDS, AND_CPU, AND_BYTES)),
    Table("circuits", "Circuits online",
          "With material from a store, or made during the run where that is said. Results are "
          "compared with those of the plain evaluator.",
          "circuits", ("circuit", "lanes", "live"),
          (Quantity("ANDs", value("ands")), SECONDS, ANDS_ONLINE, GATES_ONLINE,
           Quantity("rounds", value("rounds")), BITS, MEMORY), ("ands", "unit", "bucket")),
    Table("prepared-runs", "Runs that are prepared before their inputs are known",
          "The time of a prepared run is that from its inputs to its outputs; what it takes before "
          "stands beside it, until both parties have prepared it.",
          "prepared runs",
          ("material", "rtt_ms", "rate_mbit", "lanes", "online_asked", "inputs_later"),
          (SECONDS, Quantity("before the inputs, s", value("prepare_s")), ANDS_ONLINE,
           Quantity("half round trips", value("half_round_trips")), BITS, MEMORY),
          ("ands", "unit", "bucket"), chosen_beside_best))


def tabulate(table: Table, measured: list[Row]) -> Figure | None:
    """Nothing if no row belongs to the table."""
    rows = [row for row in measured if row["experiment"] == table.experiment]
    if not rows:
        return None
    keys = telling(rows, table.keys, table.ignored)
    shown = [key for key in keys if len({row.get(key) for row in rows}) > 1] or keys[:1]
    headings, cells = table_of(rows, shown, table.ys)
    sentences = filter(None, [table.text, conditions(rows, shown), table.remark(rows)])
    return Figure(table.name, table.title, " ".join(sentences), headings, cells, rows)
