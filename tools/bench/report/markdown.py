"""The same figures and tables as the page's, for a repository."""

import textwrap
from collections.abc import Sequence

from figures import Cell, Figure
from page import facts, warnings
from wording import Row, printable, superscript


def words(text: object) -> str:
    return superscript(printable(str(text))).replace("|", "\\|")


def cell(content: Cell) -> str:
    return words(content[1] if isinstance(content, tuple) else content)


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    lines = [[words(heading) for heading in headings], ["---"] * len(headings)]
    lines += [[cell(content) for content in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(figure: Figure) -> str:
    drawing = [f"![{words(figure.title)}](figures/{figure.name}.svg)"] if figure.svg else []
    return "\n\n".join([f"## {words(figure.title)}", *drawing,
                        textwrap.fill(words(figure.caption), 100, break_long_words=False,
                                      break_on_hyphens=False),
                        table(figure.headings, figure.table)])


def report(rows: list[Row], figures: list[Figure]) -> bytes:
    parts = ["# Measurements", table(["", ""], facts(rows)),
             *(textwrap.fill(f"**{what}** {then}", 100) for what, then in warnings(rows)),
             "[results.jsonl](results.jsonl) has each row with the command that measures it again.",
             *map(section, figures)]
    return "\n\n".join(parts).encode() + b"\n"
