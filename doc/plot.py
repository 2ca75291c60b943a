#!/usr/bin/env python3
"""Draws doc/aes.svg from the table of AES blocks in doc/benchmarks.md: python3 doc/plot.py"""

import math
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 66, 600, 50, 330
Y_MIN, Y_MAX = 0.03, 300
TICKS = [0.1, 1, 10, 100]
# A series: its column of offline times, and its label.
SERIES = [(7, "paper", "paper, 2012"), (1, "theorem", "nnob12, theorem"),
          (3, "experiment", "nnob12, experiment"), (5, "fast", "fast")]

STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #1f2328; }
    .title { font-size: 15px; font-weight: 600; }
    .grid { stroke: #d1d9e0; stroke-width: 1; }
    polyline { fill: none; stroke-width: 2; }
    .paper { stroke: #59636e; stroke-dasharray: 5 4; } circle.paper { fill: #59636e; }
    .theorem { stroke: #bc4c00; } circle.theorem { fill: #bc4c00; }
    .experiment { stroke: #1a7f37; } circle.experiment { fill: #1a7f37; }
    .fast { stroke: #0969da; } circle.fast { fill: #0969da; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .grid { stroke: #3d444d; }
      .paper { stroke: #9198a1; } circle.paper { fill: #9198a1; }
      .theorem { stroke: #f0883e; } circle.theorem { fill: #f0883e; }
      .experiment { stroke: #3fb950; } circle.experiment { fill: #3fb950; }
      .fast { stroke: #58a6ff; } circle.fast { fill: #58a6ff; }
    }
"""


def table(path, first_heading):
    """The rows of the table whose first heading is this, as numbers."""
    lines = path.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_heading} |"))
    rows = []
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            break
        rows.append([float(cell) for cell in line.strip("|").split("|")])
    return rows


def main():
    rows = table(HERE / "benchmarks.md", "AES blocks")
    most = rows[-1][0]

    def x(blocks):
        return LEFT + (RIGHT - LEFT) * blocks / most

    def y(seconds):
        return BOTTOM - (BOTTOM - TOP) * math.log(seconds / Y_MIN) / math.log(Y_MAX / Y_MIN)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img"',
           '     aria-label="Preprocessing time for AES blocks, three ways and in the paper">',
           f'  <style>{STYLE}  </style>',
           f'  <text class="title" x="{LEFT}" y="24">Preprocessing for oblivious AES-128: '
           'seconds, by number of blocks</text>']
    for tick in TICKS:
        out.append(f'  <line class="grid" x1="{LEFT}" y1="{y(tick):.1f}" x2="{RIGHT}" '
                   f'y2="{y(tick):.1f}"/>')
        out.append(f'  <text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g} s'
                   '</text>')
    for row in rows:
        out.append(f'  <text x="{x(row[0]):.1f}" y="{BOTTOM + 20}" text-anchor="middle">'
                   f'{row[0]:g}</text>')
    out.append(f'  <text x="{(LEFT + RIGHT) / 2:.1f}" y="{BOTTOM + 42}" text-anchor="middle">'
               'AES blocks</text>')
    for column, name, label in SERIES:
        points = [(x(row[0]), y(row[column])) for row in rows]
        joined = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        out.append(f'  <polyline class="{name}" points="{joined}"/>')
        out += [f'  <circle class="{name}" cx="{px:.1f}" cy="{py:.1f}" r="3"/>'
                for px, py in points]
        out.append(f'  <text x="{points[-1][0] + 10:.1f}" y="{points[-1][1] + 4:.1f}">{label}'
                   '</text>')
    out.append("</svg>\n")
    (HERE / "aes.svg").write_text("\n".join(out))


if __name__ == "__main__":
    main()
