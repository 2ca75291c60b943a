"""The rates of several reports over time: a CSV with a row for each measurement of each report, and
a figure of it. tools/bench-history runs it.

    python3 tools/bench/history.py add CSV DIR
    python3 tools/bench/history.py draw CSV SVG
"""

import csv
import io
import json
import math
import pathlib
import sys
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).parent / "report"))
import rows  # noqa: E402
from compare import NOT_ASKED, RULES  # noqa: E402
from wording import ASKED, BEFORE, Row, short  # noqa: E402

FIELDS = ("date", "version", "machine", "experiment", "of", "measurement", "quantity", "value")
# A line of the figure is an experiment with one of these.
OF = {"offline": "profile", "online": "circuit", "ot": "ot_kind", "blocks": "profile"}
QUANTITIES = {"ands_per_s": "offline: ANDs/s", "runs_per_s": "online: runs/s",
              "ots_per_s": "OTs/s", "gates_per_s": "blocks: gates/s"}


def entries_of(report: list[Row]) -> list[dict[str, str]]:
    """What is kept of a report. Its date is that of its first row."""
    date = min(str(row.get("date", "")) for row in report)
    kept = []
    for row in report:
        kind = row["kind"]
        quantity = RULES[kind][0][0]
        value = 1 / row[quantity] if quantity == "wall_s" else row[quantity]
        asked = {name: row[name] for name in ASKED
                 if row.get(name) not in (None, BEFORE.get(name)) and name not in NOT_ASKED[kind]}
        machine = row.get("machine", {})
        kept.append({
            "date": date, "version": str(row.get("version", "")),
            "machine": f"{machine.get('cpu', '?')}, {machine.get('cores', '?')} cores",
            "experiment": row["experiment"], "of": row[OF[kind]],
            "measurement": json.dumps(asked, separators=(",", ":")),
            "quantity": "runs_per_s" if quantity == "wall_s" else quantity, "value": f"{value:.6g}"})
    return kept


def read(path: pathlib.Path) -> list[dict[str, str]]:
    """Fails: rows.Failure."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        found = list(reader)
    if tuple(reader.fieldnames or ()) != FIELDS or any(None in (*row, *row.values()) for row in found):
        raise rows.Failure(f"{path} has not the columns {', '.join(FIELDS)}")
    return found


def add(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Appends a report once. Fails: rows.Failure."""
    kept, new = read(path), entries_of(rows.read(folder / "results.jsonl"))
    known = {(row["date"], row["machine"]) for row in kept}
    if known & {(row["date"], row["machine"]) for row in new}:
        raise rows.Failure(f"{path} has this report already")
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept + new)
    rows.write(path, out.getvalue().encode())


def lines_of(history: list[dict[str, str]]) -> dict[tuple[str, str, str, str], list[tuple[str, float]]]:
    """By quantity, machine, experiment and what it is of: for each report, by date, the geometric mean
    of the measurements that all reports of the line have."""
    values: dict[tuple, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in history:
        line = (row["quantity"], row["machine"], row["experiment"], row["of"])
        values[line][f"{row['date'][:10]}\n{row['version']}"][row["measurement"]] = float(row["value"])
    lines = {}
    for line, reports in values.items():
        common = set.intersection(*(set(report) for report in reports.values()))
        if common:
            lines[line] = [
                (name, math.exp(sum(math.log(report[one]) for one in sorted(common)) / len(common)))
                for name, report in sorted(reports.items())]
    return lines


def draw(history: list[dict[str, str]], path: pathlib.Path) -> None:
    from figures import COLOURS, DASHES, MARKERS, pyplot
    from matplotlib import ticker
    import svg

    lines = lines_of(history)
    panels = [quantity for quantity in QUANTITIES if any(line[0] == quantity for line in lines)]
    names = sorted({name for line in lines.values() for name, _ in line})
    machines = sorted({line[1] for line in lines})
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6), squeeze=False)
    for axis, quantity in zip(axes[0], panels):
        drawn = [line for line in sorted(lines) if line[0] == quantity]
        for i, line in enumerate(drawn):
            label = f"{line[2]}, {line[3]}" + (f" ({line[1]})" if len(machines) > 1 else "")
            axis.plot([names.index(name) for name, _ in lines[line]], [value for _, value in lines[line]],
                      label=label, color=COLOURS[i % len(COLOURS)], linestyle=DASHES[i % len(DASHES)],
                      marker=MARKERS[i % len(MARKERS)])
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(lambda value, _: short(value))
        axis.yaxis.set_minor_locator(ticker.NullLocator())
        axis.set_xticks(range(len(names)), names, fontsize=7)
        axis.set_xlim(-0.5, len(names) - 0.5)
        axis.set_title(QUANTITIES[quantity])
        axis.grid(axis="y")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22))
    rows.write(path, svg.svg_of(figure, "history"))
    pyplot.close(figure)


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["add", path, folder]:
                add(pathlib.Path(path), pathlib.Path(folder))
            case ["draw", path, out]:
                if not (history := read(pathlib.Path(path))):
                    raise rows.Failure(f"{path} has no measurements")
                draw(history, pathlib.Path(out))
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except rows.Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
