"""Reads a figure back from its SVG: scales from the ticks and their labels, points by id."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from support import plain

SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
LETTERS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "ms": 1}


def value_of(label: str) -> float:
    """Of a tick: 20 ms, 1.5 M, 2,000, 2 with a superscript."""
    if match := re.fullmatch(r"2\^(\d+)", plain(label)):
        return 2.0 ** int(match[1])
    match = re.fullmatch(r"([0-9.,]+)(?: (k|M|G|ms))?", label)
    if not match:
        raise AssertionError(f"not the label of a tick: {label}")
    return float(match[1].replace(",", "")) * LETTERS[match[2] or ""]


def scale_of(ticks: list[tuple[float, float]]) -> Callable[[float], float]:
    """From a position to a value. The ticks must agree with a linear or a logarithmic scale."""
    for forth, back in ((float, float), (math.log, math.exp)):
        if forth is math.log and min(value for _, value in ticks) <= 0:
            continue
        (p0, v0), (p1, v1) = ticks[0], ticks[-1]
        slope = (forth(v1) - forth(v0)) / (p1 - p0)

        def scale(position: float, forth=forth, back=back, p0=p0, v0=v0, slope=slope) -> float:
            return back(forth(v0) + slope * (position - p0))
        if len(ticks) > 2 and all(math.isclose(scale(p), v, rel_tol=2e-3, abs_tol=1e-9)
                                  for p, v in ticks):
            return scale
    raise AssertionError(f"the ticks are on no scale: {ticks}")


def numbers(path: str) -> list[tuple[float, float]]:
    found = [float(number) for number in re.findall(r"-?[0-9.]+(?:e-?\d+)?", path)]
    return list(zip(found[::2], found[1::2]))


class Drawing:
    def __init__(self, svg: bytes, name: str) -> None:
        self.root = ET.fromstring(svg)
        self.prefix = f"{name}."
        self.panels = [group for group in self.root.iter(f"{SVG}g")
                       if re.fullmatch(re.escape(self.prefix) + r"axes_\d+", group.get("id", ""))]
        self.markers = {path.get("id"): path.get("d") for path in self.root.iter(f"{SVG}path")}

    def scale(self, panel: ET.Element, axis: str) -> Callable[[float], float]:
        """Axes that are shared have labels at the first panel only."""
        for some in (panel, self.panels[0]):
            ticks = []
            for group in some.iter(f"{SVG}g"):
                if group.get("id", "").startswith(f"{self.prefix}{axis}tick_"):
                    label = "".join(text.text or "" for text in group.iter(f"{SVG}text"))
                    mark = next(group.iter(f"{SVG}use"))
                    if label:
                        ticks.append((float(mark.get(axis)), value_of(label)))
            if ticks:
                return scale_of(ticks)
        raise AssertionError(f"no labels on the {axis} axis")

    def found(self, kind: str) -> list[tuple[str, ET.Element, ET.Element]]:
        """Id, panel and group of every element whose id begins so."""
        return [(group.get("id").removeprefix(f"{self.prefix}{kind}."), panel, group)
                for panel in self.panels for group in panel.iter(f"{SVG}g")
                if group.get("id", "").startswith(f"{self.prefix}{kind}.")]

    def mapped(self, panel: ET.Element, points: list[tuple[float, float]]
               ) -> list[tuple[float, float]]:
        x, y = self.scale(panel, "x"), self.scale(panel, "y")
        return [(x(px), y(py)) for px, py in points]

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        return {gid: self.mapped(panel, numbers(group.find(f"{SVG}path").get("d")))
                for gid, panel, group in self.found("line")}

    def points(self) -> dict[str, list[tuple[float, float, str, str]]]:
        """By line: x, y, shape and style of each marker."""
        found: dict[str, list] = {}
        for gid, panel, group in self.found("point"):
            for use in group.iter(f"{SVG}use"):
                (x, y), = self.mapped(panel, [(float(use.get("x")), float(use.get("y")))])
                found.setdefault(gid.rpartition(".")[0], []).append(
                    (x, y, self.markers[use.get(HREF)[1:]], use.get("style")))
        return {gid: sorted(points) for gid, points in found.items()}

    def ranges(self) -> dict[str, list[tuple[float, float, float]]]:
        """By line: x, lowest and highest of each bar."""
        found = {}
        for gid, panel, group in self.found("range"):
            ends = [self.mapped(panel, numbers(path.get("d")))
                    for path in group.findall(f"{SVG}path")]
            found[gid] = sorted((low[0], *sorted((low[1], high[1]))) for low, high in ends)
        return found

    def bars(self) -> dict[str, tuple[float, float]]:
        """Left and right end of each bar."""
        found = {}
        for gid, panel, group in self.found("bar"):
            x = self.scale(panel, "x")
            ends = [x(px) for px, _ in numbers(group.find(f"{SVG}path").get("d"))]
            found[gid] = (min(ends), max(ends))
        return found
