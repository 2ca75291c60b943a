"""Pages of the public headers from Doxygen's XML: one for each header, in the header's order."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

TYPES = ("class", "struct", "concept", "enum")


@dataclass
class Entry:
    """A declaration of a header."""

    node: ElementTree.Element
    kind: str
    id: str
    name: str
    header: str
    line: int
    members: list[Entry] = field(default_factory=list)  # of a class or a struct

    @property
    def anchor(self) -> str:
        return self.id.split("tinyot_1_1")[-1].removeprefix("namespacetinyot_1")


class Reference:
    """All public headers."""

    def __init__(self, xml: Path) -> None:
        self.entries: dict[str, list[Entry]] = defaultdict(list)  # by header
        self.files: dict[str, ElementTree.Element] = {}
        self.places: dict[str, tuple[str, str]] = {}  # header and anchor of an id
        for file in sorted(xml.glob("*.xml")):
            for compound in ElementTree.parse(file).getroot().iter("compounddef"):
                self._add(compound)
        for entries in self.entries.values():
            entries.sort(key=lambda entry: entry.line)

    def _add(self, compound: ElementTree.Element) -> None:
        kind, id = compound.attrib["kind"], compound.attrib["id"]
        if kind == "file":
            header = header_of(compound)
            self.files[header] = compound
            self.places[id] = (header, "")
        elif kind == "namespace":
            for member in compound.iter("memberdef"):
                self._place(self._entry(member, member.findtext("name")))
        elif kind in TYPES:
            name = re.sub(r"^tinyot::(circuit::)?", "", compound.findtext("compoundname"))
            entry = self._entry(compound, name)
            entry.members = [
                self._entry(member, member.findtext("name"))
                for member in compound.iter("memberdef")
                if member.attrib["prot"] == "public" and member.attrib["kind"] != "friend"
            ]
            entry.members.sort(key=lambda member: member.line)
            self._place(entry)

    def _entry(self, node: ElementTree.Element, name: str) -> Entry:
        line = int(node.find("location").attrib["line"])
        entry = Entry(node, node.attrib["kind"], node.attrib["id"], name, header_of(node), line)
        self.places[entry.id] = (entry.header, entry.anchor)
        for value in node.iter("enumvalue"):
            self.places[value.attrib["id"]] = (entry.header, entry.anchor)
        return entry

    def _place(self, entry: Entry) -> None:
        if entry.header in self.files or entry.header.startswith("tinyot/"):
            self.entries[entry.header].append(entry)

    def pages(self) -> dict[str, str]:
        """Markdown by the page's name, index.md included."""
        pages = {page_of(header): self._page(header) for header in self.files}
        rows = [
            f"| [`{header}`]({page_of(header)}) | {self._inline_of(self.files[header], 'index.md')} |"
            for header in sorted_headers(self.files)
        ]
        pages["index.md"] = (
            "# C++ reference\n\nThe public headers. `#include <tinyot/tinyot.h>` includes the others.\n"
            "[C++](../../cpp.md) is the guide to them.\n\n| header | |\n|---|---|\n" + "\n".join(rows) + "\n"
        )
        return pages

    def _page(self, header: str) -> str:
        parts = [f"# `{header}`", *self._texts(self.files[header], header)]
        before = None
        for entry in self.entries[header]:
            is_overload = (entry.name, entry.kind) == before
            before = (entry.name, entry.kind)
            anchor = f'<a id="{entry.anchor}"></a>'
            parts.append(anchor if is_overload else f"## `{entry.name}` {{ #{entry.anchor} }}")
            parts.append(f"```cpp\n{declaration(entry)}\n```")
            parts += self._texts(entry.node, header)
            parts += self._enum_values(entry, header)
            parts += [self._member(member, header) for member in entry.members]
        return "\n\n".join(parts) + "\n"

    def _member(self, entry: Entry, header: str) -> str:
        item = f'- <a id="{entry.anchor}"></a>`#!cpp {one_line(declaration(entry))}`'
        texts = self._texts(entry.node, header) + self._enum_values(entry, header)
        return "\n\n".join([item, *[indented(text) for text in texts]])

    def _enum_values(self, entry: Entry, header: str) -> list[str]:
        values = [
            (
                f'{value.findtext("name")} {value.findtext("initializer", "")}'.strip(),
                " ".join(self._texts(value, header)),
            )
            for value in entry.node.iter("enumvalue")
        ]
        if not has_described_values(entry):
            return []
        return ["\n".join(f"- `{name}`" + (f": {text}" if text else "") for name, text in values)]

    def _texts(self, node: ElementTree.Element, header: str) -> list[str]:
        """The paragraphs of a comment. Doxygen ends the brief description at the first full stop."""
        parts: list[tuple[str, str]] = []
        for name in ("briefdescription", "detaileddescription"):
            for para in node.find(name).findall("para"):
                parts.append((name, self._para(para, header)))
        if len(parts) > 1 and parts[0][0] != parts[1][0] and not parts[1][1].startswith(("```", "**", "-")):
            parts[:2] = [("", parts[0][1] + " " + parts[1][1])]
        return [text for _, text in parts if text]

    def _inline_of(self, node: ElementTree.Element, page: str) -> str:
        text = " ".join(self._texts(node, page)[:1])
        return text.split("```")[0].strip()

    def _para(self, node: ElementTree.Element, header: str) -> str:
        out = [escaped(node.text or "")]
        for child in node:
            if child.tag == "ref" and child.attrib["refid"] in self.places:
                target, anchor = self.places[child.attrib["refid"]]
                page = relative_page(header, target) + (f"#{anchor}" if anchor else "")
                out.append(f"[{escaped(text_in(child))}]({page})")
            elif child.tag == "computeroutput":
                out.append(f"`{text_in(child)}`")
            elif child.tag == "bold":
                out.append(f"**{escaped(text_in(child))}**")
            elif child.tag == "verbatim":
                lines = [line for line in (child.text or "").split("\n") if line.strip()]
                indent = min(len(line) - len(line.lstrip()) for line in lines)
                code = "\n".join(line[indent:] for line in lines)
                out.append(f"\n\n```text\n{code}\n```\n\n")
            elif child.tag == "itemizedlist":
                items = [" ".join(self._para(para, header) for para in item) for item in child]
                out.append("\n\n" + "\n".join(f"- {item}" for item in items) + "\n\n")
            elif child.tag in ("ndash", "sp"):
                out.append({"ndash": "--", "sp": " "}[child.tag])
            elif child.tag == "ref":
                out.append(escaped(text_in(child)))
            else:
                raise ValueError(f"{header}: <{child.tag}> of Doxygen is not known")
            out.append(escaped(child.tail or ""))
        return "".join(out).strip()


def header_of(node: ElementTree.Element) -> str:
    return node.find("location").attrib["file"].removesuffix(".in")


def text_in(node: ElementTree.Element | None) -> str:
    return "".join(node.itertext()) if node is not None else ""


def escaped(text: str) -> str:
    """As Markdown that shows the text."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]{}|~^=+])", r"\\\1", text)


def indented(text: str) -> str:
    return "\n".join("    " + line if line else "" for line in text.split("\n"))


def one_line(text: str) -> str:
    return re.sub(r"([(]) ", r"\1", re.sub(r"\s+", " ", text))


def sorted_headers(names: Iterable[str]) -> list[str]:
    """Those of a folder before those of its folders."""
    return sorted(names, key=lambda name: (name.count("/"), name))


def page_of(header: str) -> str:
    return header.removeprefix("tinyot/").removesuffix(".h") + ".md"


def relative_page(header: str, target: str) -> str:
    up = "../" * page_of(header).count("/") if header.startswith("tinyot/") else ""
    return up + page_of(target)


def tidy(code: str) -> str:
    """As the headers are formatted, where Doxygen puts other blanks."""
    code = re.sub(r"<\s+", "<", code)
    code = re.sub(r"\s+>", ">", code)
    code = re.sub(r" ([&*]+)", r"\1", code)
    return re.sub(r"([&*])(?=\w)", r"\1 ", code)


def template_of(node: ElementTree.Element) -> str:
    parameters = node.find("templateparamlist")
    if parameters is None:
        return ""
    texts = []
    for parameter in parameters:
        text = " ".join(filter(None, (text_in(parameter.find("type")), parameter.findtext("declname"))))
        default = text_in(parameter.find("defval"))
        texts.append(tidy(text) + (f" = {default}" if default else ""))
    return f"template <{', '.join(texts)}>\n"


def declaration(entry: Entry) -> str:
    node, kind = entry.node, entry.kind
    if kind == "concept":
        code = text_in(node.find("initializer")).strip()
        code = re.sub(r"tinyot::(circuit::)?", "", re.sub(r"=  +", "= ", code))
        return code.replace("template<", "template <") + ";"
    if kind in ("class", "struct"):
        bases = ", ".join(
            f"public {text_in(base).removeprefix('tinyot::')}" for base in node.findall("basecompoundref")
        )
        return f"{template_of(node)}{kind} {entry.name}" + (f" : {bases}" if bases else "") + ";"
    type = tidy(text_in(node.find("type")))
    if kind == "enum":
        values = ", ".join(
            value.findtext("name") + (" " + value.findtext("initializer", "")).rstrip()
            for value in node.iter("enumvalue")
        )
        strong = "enum class" if node.attrib.get("strong") == "yes" else "enum"
        head = f"{strong} {entry.name}" + (f" : {type}" if type else "")
        return head + ";" if has_described_values(entry) else wrapped(head + " {", values, "};")
    initializer = text_in(node.find("initializer"))
    initializer = (" " if initializer.startswith("=") else "") + one_line(initializer)
    if kind == "typedef":
        return f"{template_of(node)}using {entry.name} = {type};"
    if kind == "variable":
        static = "static " if node.attrib.get("static") == "yes" and "static" not in type else ""
        constexpr = "constexpr " if node.attrib.get("constexpr") == "yes" and "constexpr" not in type else ""
        array = tidy(text_in(node.find("argsstring")))
        return f"{template_of(node)}{static}{constexpr}{type} {entry.name}{array}{initializer};"
    if kind == "define":
        return f"#define {entry.name}"
    assert kind == "function", kind
    words = [
        word
        for word in ("static", "explicit")
        if node.attrib.get(word) == "yes" and word not in type.split()
    ]
    if node.attrib.get("virt") in ("virtual", "pure-virtual") and "virtual" not in type.split():
        words.append("virtual")
    head = " ".join([*words, type, entry.name] if type else [*words, entry.name])
    arguments = tidy(node.findtext("argsstring"))
    arguments = re.sub(r"([\w)])=(?=[^=])", r"\1 = ", arguments)
    close = arguments.rindex(")")
    open = arguments.index("(")
    head += arguments[: open + 1]
    return template_of(node) + wrapped(head, arguments[open + 1 : close], arguments[close:] + ";")


def has_described_values(entry: Entry) -> bool:
    return any(text_in(value.find("briefdescription")).strip() for value in entry.node.iter("enumvalue"))


def wrapped(head: str, middle: str, tail: str, width: int = 88) -> str:
    """On one line, or with a line for each part of `middle`."""
    gap = " " if head.endswith("{") else ""
    line = head + gap + middle + gap + tail
    if len(line) <= width:
        return line
    parts, depth, part = [], 0, ""
    for c in middle:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            parts.append(part.strip() + ",")
            part = ""
        else:
            part += c
    parts.append(part.strip())
    return head + "\n" + "\n".join("    " + part for part in parts) + ("\n" if gap else "") + tail
