"""Doxygen's input filter: prints a header with its plain comments as comments of Doxygen.

The comment at the head of a file describes the file, a comment before a declaration that
declaration, and one behind a declaration the same. Comments within functions stay plain.
"""

import re
import sys

CONTRACT = re.compile(r"(?:^|(?<=[.:;] ))(Role|Wire|Secret|Timing|Fails|Shapes|Units|Source): ")
BEHIND = re.compile(r"^(\s*[^\s/].*[,;{})])\s+// (?!namespace|NOLINT)(.*)$")


def text_of(line: str) -> str:
    """The text with what Doxygen and HTML would take as their own, except in `code`."""
    parts = line.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"[<>@\\%#&$]", lambda match: "\\" + match[0], parts[i])
    return "`".join(parts)


def described(comment: list[str], head: list[str]) -> list[str]:
    """A block of comment lines, without their //, as a comment of Doxygen that begins with `head`."""
    lines = list(head)
    is_verbatim = False
    for line in comment:
        indented = line.startswith("  ")
        if indented != is_verbatim:
            lines.append("\\verbatim" if indented else "\\endverbatim")
            is_verbatim = indented
        if indented:
            lines.append(line)
            continue
        line = text_of(line)
        # The parts of a contract are paragraphs.
        for part in re.sub(CONTRACT, r"\n<b>\1:</b> ", line).split("\n"):
            if part.startswith("<b>") and lines:
                lines.append("")
            if part or not line:
                lines.append(part)
    if is_verbatim:
        lines.append("\\endverbatim")
    return ["/*!", *lines, "*/"]


def main() -> None:
    source = open(sys.argv[1], encoding="utf-8").read().split("\n")
    out: list[str] = []
    depth_of_body = None  # of the braces around a function's body
    depth = 0
    i = 0
    while i < len(source):
        line = source[i]
        start = re.match(r"^(\s*)// ?(.*)$", line)
        if start and depth_of_body is None:
            block = []
            while i < len(source) and (more := re.match(r"^\s*// ?(.*)$", source[i])):
                block.append(more[1])
                i += 1
            out += described(block, [] if out else ["\\file", ""])
            continue
        behind = BEHIND.match(line) if depth_of_body is None else None
        if behind:
            line = behind[1] + " ///< " + text_of(behind[2])
        code = re.sub(r'"[^"]*"', "", line.split("//")[0])
        if depth_of_body is None and re.search(r"\)[^;]*\{\s*$", code) and "enum" not in code:
            depth_of_body = depth
        depth += code.count("{") - code.count("}")
        if depth_of_body is not None and depth <= depth_of_body:
            depth_of_body = None
        out.append(line)
        i += 1
    print("\n".join(out))


main()
