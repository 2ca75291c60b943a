"""What the figures must show, from results.csv alone."""

from collections.abc import Callable
from dataclasses import dataclass

from support import Row

Point = tuple[float, float, float, float]  # x, y, lowest, highest


@dataclass(frozen=True)
class Expected:
    """Of a figure of lines: its rows, the id of a row's line, and its point."""
    kind: str
    experiment: str
    line: Callable[[Row], str]
    x: str
    y: Callable[[Row], float]
    low: Callable[[Row], float] | None = None
    high: Callable[[Row], float] | None = None
    suffix: str = ""
    takes: Callable[[Row], bool] = lambda row: True

    def rows(self, rows: list[Row]) -> list[Row]:
        return [row for row in rows if row["experiment"] == self.experiment and self.takes(row)]

    def lines(self, rows: list[Row]) -> dict[str, list[Point]]:
        lines: dict[str, list[Point]] = {}
        for row in self.rows(rows):
            y = self.y(row)
            point = (float(row[self.x]), y, self.low(row) if self.low else y,
                     self.high(row) if self.high else y)
            lines.setdefault(self.line(row) + self.suffix, []).append(point)
        return {name: sorted(points) for name, points in lines.items()}


def value(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[name])


def by(*names: str) -> Callable[[Row], str]:
    return lambda row: ",".join(f"{name}={row[name]}" for name in names).replace(":", "_")


def offline_gates(name: str) -> Callable[[Row], float]:
    return lambda row: float(row["gates_per_s"]) * float(row[name]) / float(row["ands_per_s"])


def online_gates(name: str) -> Callable[[Row], float]:
    return lambda row: float(row["gates_per_s"]) * float(row["wall_s"]) / float(row[name])


def on_link(row: Row) -> bool:
    return float(row["rtt_ms"]) > 0


OF_BUCKETS = ("offline", "buckets", by("profile", "unit"), "bucket")
OF_BLOCKS = ("blocks", "blocks", by("profile", "columns"), "blocks")
PAPER = ("blocks", "blocks", lambda row: "profile=paper,_2012", "blocks")
OF_SIZES = ("offline", "sizes", by("profile"), "ands")
FIGURES = {
    "gates-by-bucket": [Expected(*OF_BUCKETS, value("gates_per_s_then"),
                                 value("gates_per_s_then_min"), value("gates_per_s_then_max"))],
    "bytes-by-bucket": [Expected(*OF_BUCKETS, value("bytes_per_and"))],
    "sigma-by-bucket": [Expected(*OF_BUCKETS, value("sigma_paper_bound"), suffix=".paper"),
                        Expected(*OF_BUCKETS, value("sigma_exact"), suffix=".exact")],
    "offline-by-rtt": [Expected("offline", "links", by("profile", "rate_mbit", "tls"), "rtt_ms",
                                value("gates_per_s"), offline_gates("ands_per_s_min"),
                                offline_gates("ands_per_s_max"), takes=on_link)],
    "online-by-rtt": [Expected("online", "online links", by("circuit", "lanes", "rate_mbit"),
                               "rtt_ms", value("gates_per_s"), online_gates("wall_s_max"),
                               online_gates("wall_s_min"), takes=on_link)],
    "time-by-rtt": [Expected("online", "online phases",
                             by("circuit", "online_asked", "rate_mbit"), "rtt_ms",
                             value("wall_s"), takes=on_link)],
    "blocks": [Expected(*OF_BLOCKS, value("offline_s"), suffix=".offline"),
               Expected(*OF_BLOCKS, value("online_s"), suffix=".online"),
               *(Expected(*PAPER, value(f"paper_{phase}_s"), suffix=f".{phase}",
                          takes=lambda row: row["profile"] == "fast")
                 for phase in ("offline", "online"))],
    "cost-by-size": [Expected(*OF_SIZES, lambda row: 1e6 / float(row["ands_per_s"]),
                              lambda row: 1e6 / float(row["ands_per_s_max"]),
                              lambda row: 1e6 / float(row["ands_per_s_min"]))],
    "memory-by-size": [Expected(*OF_SIZES, lambda row: float(row["peak_rss_bytes"]) / 1e6)]}
TITLES = {"gates-by-bucket": "Offline rate by bucket size",
          "bytes-by-bucket": "Offline traffic by bucket size",
          "sigma-by-bucket": "Statistical security by bucket size",
          "offline-by-rtt": "Offline rate by round-trip time",
          "online-by-rtt": "Online rate by round-trip time",
          "time-by-rtt": "Online time by round-trip time and phase",
          "blocks": "AES blocks, beside the paper's figures",
          "cost-by-size": "Offline cost by size of the job",
          "memory-by-size": "Memory by size of the job", "phases": "Where the time goes"}

# Of tables without a figure: the experiment, and the fields of the values; with "range", lowest and
# highest follow.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "ot-extension": ("OT extension", ("ots_per_s", "range", "ots_per_cpu_s_sender",
                                      "ots_per_cpu_s_receiver", "bytes_per_ot")),
    "silent-bits": ("silent bits", ("ots_per_s", "range", "ots_per_cpu_s_sender",
                                    "ots_per_cpu_s_receiver", "bytes_per_ot", "start_s",
                                    "start_bytes")),
    "base-ots": ("base OTs", ("ots_per_s", "range", "ots_per_cpu_s_sender",
                              "ots_per_cpu_s_receiver", "bytes_per_ot")),
    "stored": ("store", ("ands_per_s", "range", "cpu_us_per_and", "bytes_per_and",
                         "peak_rss_bytes")),
    "slow-links": ("slow links", ("ands_per_s", "range", "cpu_us_per_and", "bytes_per_and",
                                  "peak_rss_bytes")),
    "tls": ("TLS", ("ands_per_s", "range", "cpu_us_per_and", "bytes_per_and")),
    "circuits": ("circuits", ("ands", "wall_s", "range", "ands_per_s", "gates_per_s", "rounds",
                              "bits_per_and", "peak_rss_bytes")),
    "prepared-runs": ("prepared runs", ("wall_s", "range", "prepare_s", "ands_per_s",
                                        "half_round_trips", "bits_per_and", "peak_rss_bytes"))}
TABLE_TITLES = {"ot-extension": "OT extension", "silent-bits": "Silent bits",
                "base-ots": "Base OTs", "stored": "Material that is stored",
                "slow-links": "Triples over slow links", "tls": "TLS",
                "circuits": "Circuits online",
                "prepared-runs": "Runs that are prepared before their inputs are known"}


def row_of_table(row: Row, fields: tuple[str, ...]) -> list[float]:
    """What a table must have of a row of the CSV."""
    found: list[float] = []
    for field, previous in zip(fields, ("", *fields)):
        if field == "range":
            found += [float(row[f"{previous}_{end}"]) for end in ("min", "max")]
        else:
            found.append(float(row[field]) / (1e6 if field == "peak_rss_bytes" else 1))
    return found


def bars(rows: list[Row]) -> dict[str, dict[str, float]]:
    """By bar and part: the shares that the figure of phases must show, in percent."""
    found: dict[str, dict[str, float]] = {}
    for experiment, field in (("sizes", "ands"), ("links", "rtt_ms")):
        for profile in ("nnob12", "fast"):
            some = [row for row in rows
                    if (row["experiment"], row["profile"]) == (experiment, profile)]
            row = max(some, key=value(field))
            seconds = {name.removeprefix("phases."): float(text) for name, text in row.items()
                       if name.startswith("phases.") and text}
            found[f"{experiment},{profile}"] = {name: 100 * s / sum(seconds.values())
                                                for name, s in seconds.items()}
    for row in rows:
        if row["experiment"] == "online links" and float(row["rtt_ms"]) in (0, 150):
            shares = {"waiting for the peer": 100 * float(row["share_wire"]),
                      "waiting for the store": 100 * float(row["share_store"]),
                      "opening material": 100 * float(row["share_opening"] or 0),
                      "MACs and keys": 100 * float(row["share_macs"])}
            circuit = row["circuit"].replace(":", "_")
            found[f"online,{circuit},{row['lanes']},{float(row['rtt_ms']):g}"] = shares | {
                "rest": 100 - sum(shares.values())}
    return found
