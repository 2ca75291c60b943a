"""Draws the figures with matplotlib."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.lines import Line2D

import svg
from charts import Chart, Quantity
from wording import (ASKED, HEADINGS, Row, label, number, phrase, printable, short, superscript,
                     telling, value_of, weakness)

matplotlib.rcdefaults()  # whatever the user's own file of settings says
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "tinyot", "text.parse_math": False,
    "path.simplify": False, "font.size": 10.5, "axes.titlesize": 11, "legend.fontsize": 9.5,
    "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": "#57606a", "xtick.color": "#24292f", "ytick.color": "#24292f",
    "grid.color": "#d8dee4", "grid.linewidth": 0.7, "axes.axisbelow": True, "savefig.dpi": 200})

# Colours that people with colour-blindness tell apart and that differ in brightness.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9")
OWN_COLOURS = {"fast": "#0072b2", "nnob12": "#d55e00", "paper, 2012": "#6e7781"}
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)),
          (0, (4, 1, 1, 1, 1, 1)), (0, (9, 3)), (0, (3, 3)))
MARKERS = "os^Dv<>pPh*d"
SIGMA_MARKERS = {40: "o", 64: "s", 80: "^"}
OTHER_SIGMA, WEAK = "D", "X"


Cell = str | tuple[float, str]  # a value has its text beside it
Panel = tuple[str, list[Row], tuple[Quantity, ...]]


@dataclass(frozen=True)
class Figure:
    """A figure as drawn, with its points as a table and the rows that it was drawn from; or the
    table alone, without a drawing."""
    name: str
    title: str
    caption: str
    headings: list[str]
    table: list[list[Cell]]
    rows: list[Row]
    svg: bytes = b""
    png: bytes = b""
    pdf: bytes = b""


def spread(row: Row, rate: str) -> tuple[float, float]:
    """The rates of the slowest and the fastest run as fractions of the median."""
    if row["kind"] == "online":
        median, slowest, fastest = row["wall_s"], row.get("wall_s_max"), row.get("wall_s_min")
        return median / (slowest or median), median / (fastest or median)
    median = row.get(rate, 1)
    return ((row.get(f"{rate}_min") or median) / median,
            (row.get(f"{rate}_max") or median) / median)


def range_of(row: Row, y: Quantity) -> tuple[float, float]:
    value, (low, high) = y.of(row), spread(row, y.rate)
    return {1: (value * low, value * high), -1: (value / high, value / low),
            0: (value, value)}[y.direction]


def has_range(rows: list[Row], ys: Iterable[Quantity]) -> bool:
    return any(low < high for row in rows for y in ys for low, high in [range_of(row, y)])


def drawn_text(text: str) -> str:
    """One line of at most 50 characters."""
    line = superscript(printable(" ".join(text.split())))
    return line if len(line) <= 50 else line[:47] + "..."


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=^,-]+", "_", text)


def gid_of(row: Row, keys: Iterable[str]) -> str:
    return slug(",".join(f"{key}={row[key]}" for key in keys if key in row))


def log_ticks(low: float, high: float, least: int) -> list[float]:
    """At least that many round numbers, if there are."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for mantissas in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        ticks = [tick for exponent in exponents for mantissa in mantissas
                 if low <= (tick := float(f"{mantissa}e{exponent}")) <= high]
        if len(ticks) >= least:
            break
    return ticks


def spaced(values: Iterable[float], scale: Callable[[float], float], gap: float) -> list[float]:
    """The values, without those whose labels would touch the one before; gap: of the axis."""
    ordered = sorted(values)
    gap *= scale(ordered[-1]) - scale(ordered[0])
    kept = ordered[:1]
    for value in ordered[1:]:
        if scale(value) - scale(kept[-1]) >= gap:
            kept.append(value)
    return kept


def set_x_axis(axes: pyplot.Axes, chart: Chart, rows: list[Row]) -> None:
    if chart.x_is_log:
        axes.set_xscale("log")
    xs = {row[chart.x] for row in rows}
    if len(xs) == 1:
        x, = xs
        axes.set_xlim(*((x / 2.1, x * 2.1) if chart.x_is_log else (x - 1.1, x + 1.1)))
    low, high = axes.get_xlim()
    labels = []
    if chart.x_ticks == "powers":
        exponents = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
        exponents = exponents[::1 + len(exponents) // 10]
        ticks = [2.0 ** exponent for exponent in exponents]
        labels = [superscript(f"2^{exponent}") for exponent in exponents]
    elif chart.x_ticks == "measured" and len(xs) > 1:
        ticks = spaced(xs, math.log if chart.x_is_log else float, 0.14 if chart.x_unit else 0.05)
    else:
        ticks = log_ticks(low, high, 3) if chart.x_is_log else [x - 1, x, x + 1]
    axes.set_xticks(ticks, labels or [text + chart.x_unit for text in tick_labels(ticks)])
    axes.set_xlabel(chart.x_label)


def set_y_axis(axes: pyplot.Axes, chart: Chart) -> None:
    if chart.y_is_log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        middle = math.sqrt(low * high)
        low, high = min(low, middle / 1.8), max(high, middle * 1.8)
        axes.set_ylim(low, high)
        ticks = log_ticks(low, high, 4)
        axes.set_yticks(ticks, tick_labels(ticks))
    axes.minorticks_off()
    axes.grid(True)


def tick_labels(ticks: list[float]) -> list[str]:
    return [number(tick) if ticks[-1] <= 10_000 else short(tick) for tick in ticks]


def styles_of(lines: dict[str, Row], first: str) -> dict[str, dict]:
    """By label: the colour says the first key; dashes and markers tell all lines apart."""
    groups: dict[Any, list[str]] = {}
    for name, row in lines.items():
        groups.setdefault(row.get(first), []).append(name)
    styles: dict[str, dict] = {}
    for i, (value, group) in enumerate(groups.items()):
        colour = OWN_COLOURS.get(value, COLOURS[i % len(COLOURS)])
        if first == "unit":  # an order, therefore a scale from dark to light
            colour = matplotlib.colormaps["viridis"](0.85 * i / max(len(groups) - 1, 1))
        for name in group:
            styles[name] = {"color": colour, "linestyle": DASHES[len(styles) % len(DASHES)],
                            "marker": MARKERS[len(styles) % len(MARKERS)]}
    return styles


def draw_line(axes: pyplot.Axes, chart: Chart, y: Quantity, rows: list[Row], gid: str,
              style: dict) -> None:
    """A line, its ranges and its points, with the ids line.GID, range.GID and point.GID.N."""
    color = style["color"]
    points = [(row[chart.x], y.of(row)) for row in rows]
    axes.plot(*zip(*points), color=color, linestyle=y.dash or style["linestyle"], linewidth=1.6,
              gid=f"line.{gid}", zorder=2)
    ranges = [(x, value, low, high) for (x, value), row in zip(points, rows)
              for low, high in [range_of(row, y)] if low < high]
    if ranges:
        xs, values, lows, highs = zip(*ranges)
        lengths = [[value - low for value, low in zip(values, lows)],
                   [high - value for value, high in zip(values, highs)]]
        bars = axes.errorbar(xs, values, yerr=lengths, fmt="none", ecolor=color, elinewidth=1,
                             capsize=2.5, zorder=2.5)
        bars.lines[2][0].set_gid(f"range.{gid}")
    marked: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for point, row in zip(points, rows):
        of_sigma = SIGMA_MARKERS.get(row.get("sigma", 0), OTHER_SIGMA)
        marker = of_sigma if chart.marks_sigma else style["marker"]
        is_weak = bool(row.get("weak")) and chart.marks_sigma
        key = (WEAK if is_weak else marker, is_weak or y.name == "exact")
        marked.setdefault(key, []).append(point)
    for i, ((marker, is_hollow), some) in enumerate(marked.items()):
        axes.plot(*zip(*some), linestyle="none", marker=marker, color=color, zorder=3,
                  markersize=7 if marker == WEAK else 5.5,
                  markerfacecolor="white" if is_hollow else color, gid=f"point.{gid}.{i}")


def draw_legend(axes: pyplot.Axes, chart: Chart, styles: dict[str, dict], rows: list[Row]) -> None:
    """Beside the last axes: lines, then dashes and markers that have a meaning of their own."""
    handles = []
    for name, style in styles.items():
        own = {"marker": ""} if chart.marks_sigma else {}
        own |= {"linestyle": "none"} if any(y.dash for y in chart.ys) else {}
        handles.append(Line2D([], [], label=drawn_text(name), **style | own))
    grey = {"color": "#57606a", "linestyle": "none"}
    handles += [Line2D([], [], label=y.heading, **grey | {"linestyle": y.dash})
                for y in chart.ys if y.dash]
    if chart.marks_sigma:
        handles += [Line2D([], [], label=f"sigma = {number(sigma)}",
                           marker=SIGMA_MARKERS.get(sigma, OTHER_SIGMA), **grey)
                    for sigma in sorted({row["sigma"] for row in rows if not row.get("weak")})]
    if chart.marks_sigma and any(row.get("weak") for row in rows):
        handles.append(Line2D([], [], marker=WEAK, markersize=7, markerfacecolor="white",
                              label="weak: misses sigma", **grey))
    for level in chart.levels:
        axes.text(1.01, level, f"sigma = {level}", va="center", fontsize=9, color="#57606a",
                  transform=axes.get_yaxis_transform())
    axes.legend(handles=handles, loc="upper left",
                bbox_to_anchor=(1.22 if chart.levels else 1.01, 1.02),
                handlelength=4.2, borderaxespad=0.3)


def conditions(rows: list[Row], used: Iterable[str]) -> str:
    """How the rows of a figure were measured, as far as it is the same for all."""
    fields = [field for field in (*ASKED, "link") if field not in (*used, "rtt_ms")]
    words = [phrase(rows[0], field) for field in fields
             if len({row.get(field) for row in rows}) == 1]
    repeats = {row.get("repeats") or 1 for row in rows}
    few, many = min(repeats), max(repeats)
    runs = ("One run for each point" if many == 1 else
            f"Medians of {few} runs" if few == many else f"Medians of {few} to {many} runs")
    return f"{runs}; {', '.join(filter(None, words))}." if any(words) else f"{runs}."


def table_of(rows: list[Row], keys: Sequence[str], ys: Sequence[Quantity],
             x: str = "") -> tuple[list[str], list]:
    """Headings and cells of the rows: what they were asked for, x with its value, and quantities."""
    shown = [key for key in keys if any(value_of(row, key) for row in rows)]
    ranged = [y for y in ys if has_range(rows, [y])]
    headings = [HEADINGS.get(field, field) for field in (*shown, *filter(None, [x]))]
    for y in ys:
        headings += [y.heading] + (["lowest", "highest"] if y in ranged else [])
    is_weak = any(weakness(row) for row in rows)
    table = []
    for row in rows:
        cells: list[Cell] = [value_of(row, field) for field in shown]
        if x:
            cells.append((row[x], value_of(row, x)))
        for y in ys:
            values = (y.of(row), *(range_of(row, y) if y in ranged else ()))
            cells += [(value, number(value)) for value in values]
        table.append(cells + ([weakness(row)] if is_weak else []))
    return headings + (["note"] if is_weak else []), table


def finish(drawing: pyplot.Figure, figure: Figure) -> Figure:
    """With the files of the drawing, which is closed."""
    done = replace(figure, svg=svg.svg_of(drawing, figure.name), png=svg.png_of(drawing),
                   pdf=svg.pdf_of(drawing))
    pyplot.close(drawing)
    return done


def panels_of(chart: Chart, rows: list[Row]) -> list[Panel]:
    if chart.panels == "quantity":
        return [(y.name, rows, (y,)) for y in chart.ys]
    if chart.panels:
        return [(value, [row for row in rows if row[chart.panels] == value], chart.ys)
                for value in sorted({row[chart.panels] for row in rows})]
    return [("", rows, chart.ys)]


def draw(chart: Chart, measured: list[Row]) -> Figure | None:
    """Nothing if no row belongs to the chart."""
    measured = [row for row in measured
                if row["experiment"] == chart.experiment and row["kind"] == chart.kind]
    rows = chart.rows_of(measured)
    if not rows:
        return None
    keys = telling(rows, chart.keys, (*chart.ignored, chart.x))
    named = [key for key in keys if key != chart.panels and len({row.get(key) for row in rows}) > 1
             ] or [key for key in keys if key != chart.panels][:1]
    if "unit" in named:
        rows = sorted(rows, key=lambda row: row["unit"])
    styles = styles_of({label(row, named): row for row in rows}, named[0])
    panels = panels_of(chart, rows)
    width = 4.6 if len(panels) > 1 else 6.6
    drawing, all_axes = pyplot.subplots(
        1, len(panels), figsize=(width * len(panels), 4.1), squeeze=False,
        sharey=chart.shares_y)
    lines: dict[str, list[Row]] = {}
    for axes, (title, some, ys) in zip(all_axes[0], panels):
        of_panel: dict[str, list[Row]] = {}
        for row in sorted(some, key=lambda row: row[chart.x]):
            of_panel.setdefault(gid_of(row, keys), []).append(row)
        for gid, line in of_panel.items():
            for y in ys:
                draw_line(axes, chart, y, line, f"{gid}.{y.name}" if y.name else gid,
                          styles[label(line[0], named)])
        lines |= of_panel
        for level in chart.levels:
            axes.axhline(level, color="#57606a", linewidth=1, zorder=1)
        axes.set_title(title)
        set_x_axis(axes, chart, some)
    for axes in all_axes[0]:
        set_y_axis(axes, chart)
    heading = ("time, s" if chart.panels == "quantity" else
               "bits" if len(chart.ys) > 1 else chart.ys[0].heading)
    all_axes[0][0].set_ylabel(f"{heading} (log scale)" if chart.y_is_log else heading)
    drawing.tight_layout(w_pad=2)
    draw_legend(all_axes[0][-1], chart, styles, rows)
    measured = [row for row in rows if "experiment" in row]
    sentences = [chart.text, conditions(measured, (*named, chart.panels, chart.x))]
    sentences += filter(None, [chart.remark(measured)])
    if has_range(rows, chart.ys):
        sentences.append("Bars show the slowest and the fastest run.")
    keys += ["sigma"] if chart.experiment == "buckets" else []
    headings, table = table_of([row for line in lines.values() for row in line], keys, chart.ys,
                               chart.x)
    return finish(drawing, Figure(chart.name, chart.title, " ".join(sentences), headings=headings,
                                  table=table, rows=measured))
