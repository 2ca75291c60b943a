"""Draws the report of a folder with results.jsonl; `tinyot report` runs it.

    python3 tools/bench/report DIR [--compare OLD]

Writes results.csv, figures/*.svg, *.png and *.pdf, report.html and report.md into the folder. Exit
status: 0 done, 1 a file is missing, damaged or cannot be written, or matplotlib is missing, 2 usage.
"""

import sys

sys.dont_write_bytecode = True  # nothing is written but the report

import argparse  # noqa: E402
import logging  # noqa: E402
import pathlib  # noqa: E402

import compare  # noqa: E402
import rows  # noqa: E402
from charts import CHARTS  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="report", allow_abbrev=False,
        description="Draws results.jsonl of a folder: results.csv, figures/ and report.html.")
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--compare", metavar="OLD", type=pathlib.Path,
                        help="the folder of an older report to compare with")
    return parser.parse_args()


def report(folder: pathlib.Path, older: pathlib.Path | None) -> None:
    """Fails: rows.Failure. Everything is read before anything is written."""
    measured = rows.read(folder / "results.jsonl")
    comparison = compare.compare(rows.read(older / "results.jsonl"), measured) if older else None
    rows.write(folder / "results.csv", rows.csv_of(measured))
    if comparison:
        print(compare.text_of(comparison), end="", flush=True)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its cache
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise rows.Failure(
            f"the figures need matplotlib, which {sys.executable} does not have: run "
            "tools/setup-report, which installs it for Debian's python3 (results.jsonl is kept and "
            "results.csv was written)") from error
    import markdown
    import page
    import phases
    import tables
    from figures import draw

    drawn = [(chart.title, chart.experiment, draw(chart, measured)) for chart in CHARTS]
    drawn.append((phases.TITLE, phases.EXPERIMENTS, phases.draw(measured)))
    drawn += [(each.title, each.experiment, tables.tabulate(each, measured))
              for each in tables.TABLES]
    figures = [figure for _, _, figure in drawn if figure]
    for figure in filter(lambda figure: figure.svg, figures):
        rows.write(folder / "figures" / f"{figure.name}.svg", figure.svg)
        rows.write(folder / "figures" / f"{figure.name}.png", figure.png)
        rows.write(folder / "figures" / f"{figure.name}.pdf", figure.pdf)
    missing = [(title, experiment) for title, experiment, figure in drawn if not figure]
    rows.write(folder / "report.md", markdown.report(measured, figures))
    rows.write(folder / "report.html", page.page(measured, figures, missing, comparison))


def main() -> int:
    given = arguments()
    try:
        report(given.folder, given.compare)
    except rows.Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
