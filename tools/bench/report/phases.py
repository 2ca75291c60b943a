"""The figure of shares: in which phases the time goes, as stacked bars."""

from collections.abc import Iterable

from matplotlib import pyplot
from matplotlib.patches import Patch

from figures import Cell, Figure, drawn_text, finish, slug
from wording import Row, label, number

NAME, TITLE = "phases", "Where the time goes"
EXPERIMENTS = "sizes, links, online links"
PASTELS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99", "#cab2d6", "#ffff99", "#d9d9d9", "#8dd3c7",
           "#e5c494", "#fccde5", "#bcd4e6", "#c7e9c0", "#f2b6a0", "#dadaeb")
ONLINE = {"share_wire": "waiting for the peer", "share_store": "waiting for the store",
          "share_opening": "opening material", "share_macs": "MACs and keys"}
REST = "rest"
Bar = tuple[str, Row, dict[str, float]]  # id, row, shares by name


def with_most(rows: Iterable[Row], key: str, field: str, sign: int = 1) -> list[Row]:
    """For each value of the key the first row of which the field, times the sign, is largest."""
    best: dict[object, Row] = {}
    for row in rows:
        if row[key] not in best or sign * row[field] > sign * best[row[key]][field]:
            best[row[key]] = row
    return list(best.values())


def offline_bars(rows: list[Row]) -> list[Bar]:
    """For each profile the largest job, and the job over the longest round trip."""
    of_phases = [row for row in rows if row["kind"] == "offline"
                 and sum((row.get("phases") or {}).values()) > 0]
    chosen = [row for experiment, field in (("sizes", "ands"), ("links", "rtt_ms"))
              for row in with_most((row for row in of_phases
                                    if row["experiment"] == experiment and row[field] > 0),
                                   "profile", field)]
    return [(slug(f"{row['experiment']},{row['profile']}"), row,
             {name: seconds / sum(row["phases"].values())
              for name, seconds in row["phases"].items()}) for row in chosen]


def online_bars(rows: list[Row]) -> list[Bar]:
    """For each circuit and number of lanes the runs over the shortest and longest round trip."""
    of_shares = [{**row, "what": (row["circuit"], row["lanes"])} for row in rows
                 if (row["kind"], row["experiment"]) == ("online", "online links")
                 and any(row.get(f) is not None for f in ONLINE)]
    nearest = with_most(of_shares, "what", "rtt_ms", -1)
    farthest = with_most(of_shares, "what", "rtt_ms")
    bars = []
    for pair in zip(nearest, farthest):
        for row in pair[:1 + (pair[0]["rtt_ms"] < pair[1]["rtt_ms"])]:
            shares = {words: row.get(field) or 0.0 for field, words in ONLINE.items()}
            shares[REST] = max(0.0, 1 - sum(shares.values()))
            bars.append((slug(f"online,{row['circuit']},{row['lanes']},{row['rtt_ms']:g}"), row,
                         shares))
    return bars


def words_of(row: Row) -> str:
    """The label of a bar."""
    over = f"{row['rtt_ms']:g} ms" if row["rtt_ms"] > 0 else str(row.get("link", "loopback"))
    fields = ["circuit", "lanes"] if row["kind"] == "online" else ["profile", "ands"]
    return f"{label(row, fields)}, {over}"


def draw_bars(axes: pyplot.Axes, bars: list[Bar], what: str) -> None:
    """Every phase has a number, in its bars and in the legend."""
    names = list(dict.fromkeys(name for _, _, shares in bars for name in shares))
    for y, (gid, _, shares) in enumerate(bars):
        left = 0.0
        for name, share in shares.items():
            i = names.index(name)
            axes.barh(y, 100 * share, left=left, height=0.66, color=PASTELS[i % len(PASTELS)],
                      edgecolor="#24292f", linewidth=0.6, gid=f"bar.{gid}.{slug(name)}")
            if share >= 0.03:
                text = f"{i + 1}: {100 * share:.0f} %" if share >= 0.13 else f"{i + 1}"
                axes.text(left + 50 * share, y, text, ha="center", va="center", fontsize=9)
            left += 100 * share
    axes.set_yticks(range(len(bars)), [drawn_text(words_of(row)) for _, row, _ in bars])
    axes.invert_yaxis()
    axes.margins(x=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"share of {what}, %")
    handles = [Patch(facecolor=PASTELS[i % len(PASTELS)], edgecolor="#24292f", linewidth=0.6,
                     label=drawn_text(f"{i + 1}: {name}")) for i, name in enumerate(names)]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.04), borderaxespad=0.3,
                ).set_in_layout(False)


def draw(rows: list[Row]) -> Figure | None:
    """Nothing if no row has phases or shares."""
    parts = [(bars, what) for bars, what in (
        (offline_bars(rows), "the sum of the phases, offline"),
        (online_bars(rows), "the time of a run, online")) if bars]
    if not parts:
        return None
    heights = [max(len(bars), 4) * 0.46 + 0.5 for bars, _ in parts]
    drawing, all_axes = pyplot.subplots(len(parts), 1, figsize=(8.6, sum(heights) + 0.5),
                                        squeeze=False, height_ratios=heights)
    table: list[list[Cell]] = []
    for axes, (bars, what) in zip(all_axes[:, 0], parts):
        draw_bars(axes, bars, what)
        table += [[words_of(row), name, (100 * share, number(100 * share))]
                  for _, row, shares in bars for name, share in shares.items()]
    drawing.tight_layout(h_pad=1.5)
    for axes in all_axes[:, 0]:
        axes.get_legend().set_in_layout(True)
    caption = ("The widest parts limit the rate: offline, for each profile, of the largest job and "
               "of the job over the longest round trip; online, over the shortest and the longest. "
               "Phases that run at the same time count in full, each by itself.")
    used = [row for bars, _ in parts for _, row, _ in bars]
    return finish(drawing, Figure(NAME, TITLE, caption, ["measurement", "part", "share, %"], table,
                                  used))
