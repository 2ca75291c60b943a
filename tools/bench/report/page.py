"""The page: one HTML file that needs nothing else."""

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import svg
from compare import HEADINGS as COMPARED, Comparison
from figures import Cell, Figure
from wording import Row, printable, superscript

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff;
       max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.6rem 0 .6rem; }
a { color: #0550ae; }
.scroll { overflow-x: auto; }
figure { margin: 0; }
figure svg { display: block; width: 100%; min-width: 44rem; height: auto; }
figcaption, .lead { max-width: 46rem; }
.lead { color: #57606a; margin-top: 0; }
.warning { border-left: 4px solid #bf8700; background: #fff8c5; padding: .5rem .9rem; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { padding: .18rem .8rem .18rem 0; text-align: left; vertical-align: top; }
th { box-shadow: inset 0 -1px #8c959f; font-weight: 600; background: #fff; }
td { border-bottom: 1px solid #eaeef2; }
#origin td:first-child, details td, details th { white-space: nowrap; }
td.value, th.value, #comparison td:nth-child(n+5), #comparison th:nth-child(n+5) {
  text-align: right; }
details .scroll { max-height: 21rem; overflow: auto; } details th { position: sticky; top: 0; }
td.better { color: #116329; font-weight: 600; } td.worse { color: #a40e26; font-weight: 600; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: #57606a; }
pre { font-size: .8rem; background: #f6f8fa; padding: .6rem .8rem; overflow-x: auto; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; }
  figure, tr, .warning { break-inside: avoid; } h2, summary { break-after: avoid; }
  table { font-size: 8pt; } th, td { padding-top: 0; padding-bottom: 0; }
  th { box-shadow: none; border-bottom: 1px solid #8c959f; }
  figure svg { min-width: 0; } .scroll, details .scroll { overflow: visible; max-height: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
"""

READING = """<section id="reading"><h2>How to read the figures</h2>
<p><b>sigma</b> is the statistical security in bits: a cheating party succeeds with probability at
most 2<sup>-sigma</sup>. A bucket of B leaky objects is combined into one AND. The bits that it
reaches depend on B and on the unit, the batch of ANDs that is permuted together. They are stated
twice: by the <em>paper's bound</em> (Theorem 6 of NNOB12), (log<sub>2</sub>(l) + 1)(B - 1) bits for
the l leaky objects of each bucket position of a unit; and <em>exact</em>, the probability of the
best attack. The bound is that of one unit. In a job, the probabilities of the units that are in
flight or broken off add up, and their sum is kept below 2<sup>-sigma</sup>; finished units do not
add up. The job's figure here is the exact one of its weakest unit. A row is <em>weak</em> if its
bucket misses the sigma asked: such a bucket is refused unless <code>--allow-weak</code> is given,
and it is measured here for comparison only.</p>
<p><b>Repeats.</b> A value is the median of the runs of a row. The range is from the slowest to the
fastest run; with one run there is none. Both parties run on one machine, and a time is that of the
slower party. <b>gates/s</b> counts AES-128 as the paper does, 34,520 gates of which 6,400 are ANDs;
online it counts the ANDs and XORs of the circuit.</p></section>
"""


def escape(text: object) -> str:
    return html.escape(superscript(printable(str(text))))


def cell(content: Cell, kind: str = "td") -> str:
    """A value is there in full as well, for programs."""
    if isinstance(content, tuple):
        value, text = content
        return f'<{kind} class="value"><data value="{value!r}">{escape(text)}</data></{kind}>'
    css = f' class="{content}"' if content in ("better", "worse") else ""
    return f"<{kind}{css}>{escape(content)}</{kind}>"


def table(headings: list[str], rows: Sequence[Sequence[Cell]]) -> str:
    head = "".join(f'<th class="{"value" if isinstance(content, tuple) else "words"}">'
                   f"{escape(heading)}</th>" for heading, content in zip(headings, rows[0]))
    body = "\n".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    head = f"<thead><tr>{head}</tr></thead>\n" if headings else ""
    return f'<div class="scroll"><table>\n{head}<tbody>\n{body}\n</tbody></table></div>'


def machine_words(machine: Row) -> str:
    """The processor, its cores, and whatever else is known of it."""
    words = {name: " ".join(map(str, value)) if isinstance(value, list) else str(value)
             for name, value in machine.items()}
    if memory := words.pop("memory_bytes", ""):
        words["memory"] = f"{int(memory) / 2**30:.1f} GiB"
    first = [words.pop("cpu", "unknown processor")]
    if cores := words.pop("cores", ""):
        first.append(f"{cores} cores")
    return ", ".join([*first, *words.values()])


def distinct(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))


def extent(values: Iterable[Any]) -> str:
    """From the least to the greatest."""
    ordered = sorted(value for value in values if value is not None)
    return " to ".join(dict.fromkeys([str(ordered[0]), str(ordered[-1])])) if ordered else "unknown"


OTHERS_MOST = 0.1  # of the machine's processor time


def origins(rows: list[Row]) -> dict[str, list[str]]:
    return {"machine": distinct(machine_words(row.get("machine", {})) for row in rows),
            "version": distinct(row.get("version") for row in rows),
            "compiler": distinct(row.get("compiler") for row in rows)}


def facts(rows: list[Row]) -> list[list[Cell]]:
    """What was measured where."""
    loads = [row["load"] for row in rows if row.get("load") is not None]
    counts = Counter(row["experiment"] for row in rows)
    return [*([name, "; ".join(values) or "unknown"] for name, values in origins(rows).items()),
            ["dates (UTC)", extent(row.get("date") for row in rows).replace("T", " ")],
            ["load average before", extent(loads)],
            ["rows", f"{len(rows)}: " + ", ".join(f"{name} {n}" for name, n in counts.items())]]


def warnings(rows: list[Row]) -> list[tuple[str, str]]:
    """Of several versions or machines, and of other programs: what is so, and what follows."""
    several = [f"{len(values)} {name}s" for name, values in origins(rows).items()
               if len(values) > 1]
    found = [(f"The rows come from {' and '.join(several)}.",
              "Differences between them can have that reason.")] if several else []
    disturbed = [row for row in rows if (row.get("others_share") or 0) > OTHERS_MOST]
    if disturbed:
        found.append((f"{len(disturbed)} of {len(rows)} rows were measured while other programs "
                      f"took more than {OTHERS_MOST:.0%} of the machine.",
                      "Do not cite them: their times are too long."))
    return found


def origin(rows: list[Row]) -> str:
    warning = "".join(f'<p class="warning"><strong>{escape(what)}</strong> {escape(then)}</p>\n'
                      for what, then in warnings(rows))
    return (f'<section id="origin"><h2>What was measured, and where</h2>\n{warning}'
            f"{table([], facts(rows))}</section>")


def compared(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    parts = [table(COMPARED, comparison.changes)] if comparison.changes else []
    parts += [f"<p>{escape(line)}</p>" for line in comparison.summary]
    return ('<section id="comparison"><h2>Comparison with the older report</h2>\n'
            + "\n".join(parts) + """
<p class="lead">A rate or a time counts as changed if the ranges of its runs, each widened by 5 %,
do not overlap; traffic if it differs by more than 0.5 %; peak memory by more than 10 %.</p>
</section>""")


def section(figure: Figure) -> str:
    commands = distinct(row.get("command") for row in figure.rows)
    files = ", ".join(f'<a href="figures/{figure.name}.{kind}">{kind.upper()}</a>'
                      for kind in ("svg", "png", "pdf"))
    drawing = (f"""<figure><div class="scroll" tabindex="0">{svg.inline(figure.svg, figure.title)}</div>
<figcaption>{escape(figure.caption)} File: {files}.</figcaption></figure>""" if figure.svg else
               f'<p class="lead">{escape(figure.caption)}</p>')
    again = (f"<details><summary>Commands that measure it again ({len(commands)})</summary>"
             f"<pre>{escape(chr(10).join(commands))}</pre></details>\n" if commands else "")
    return f"""<section id="{figure.name}"><h2>{escape(figure.title)}</h2>
{drawing}
<details open=""><summary>Points ({len(figure.table)})</summary>
{table(figure.headings, figure.table)}</details>
{again}</section>"""


def page(rows: list[Row], figures: list[Figure], missing: list[tuple[str, str]],
         comparison: Comparison | None) -> bytes:
    """The whole page. Missing: title and experiment of each figure that has no rows."""
    links = [("comparison", "Comparison with the older report")] if comparison else []
    links += [("origin", "What was measured, and where")]
    links += [(figure.name, figure.title) for figure in figures]
    links += [("missing", "Not measured")] if missing else []
    links += [("reading", "How to read the figures"), ("files", "Files")]
    contents = "\n".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in links)
    absent = "\n".join(f"<li>{escape(title)}: no rows of the experiment {escape(name)}</li>"
                       for title, name in missing)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<title>TinyOT: measurements</title><style>{STYLE}</style></head><body>",
        "<header><h1>TinyOT: measurements</h1>",
        '<p class="lead">Preprocessing and online computation of two parties with active security: '
        "rates, traffic, memory, and the statistical security that they reach.</p></header>",
        compared(comparison), origin(rows),
        f"<nav><h2>Contents</h2><ol>{contents}</ol></nav>",
        *map(section, figures),
        '<section id="missing"><h2>Not measured</h2>' f"<ul>{absent}</ul></section>"
        if missing else "",
        READING,
        '<section id="files"><h2>Files</h2><p><a href="results.jsonl">results.jsonl</a>: the '
        'measurements, one JSON object a line. <a href="results.csv">results.csv</a>: the same as '
        'a table. <a href="report.md">report.md</a>: this page as Markdown. '
        '<a href="figures/">figures/</a>: each figure as SVG, PNG and PDF.</p></section>',
        "</body></html>"]
    return "\n".join(filter(None, parts)).encode() + b"\n"
