"""Compares pages of a site with their documents: `structure.py DIRECTORY`, in the site's environment.

MkDocs reads some of Markdown otherwise than forges do, such as a list right behind a paragraph or an
underscore within a name. So each page has to have as many lists, tables, headings, blocks of code and
emphasised words as its document has by the rules of forges. Ends with 1 if one has not.
"""

import re
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
TAGS = ("li", "tr", "td", "pre", "code", "h2", "h3", "em", "strong")


def page_of(document: str) -> str:
    inside = document.removeprefix("doc/") if document.startswith("doc/") else "source/" + document
    return re.sub(r"README\.html$", "index.html", re.sub(r"\.md$", ".html", inside))


def counts(html: str) -> dict[str, int]:
    return {tag: len(re.findall(f"<{tag}[ >]", html)) for tag in TAGS}


def main() -> int:
    site = Path(sys.argv[1])
    markdown = MarkdownIt("gfm-like", {"linkify": False})
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    compared, wrong = 0, []
    for document in listed.stdout.split():
        page = site / page_of(document)
        if not page.exists():
            continue  # nothing links to it
        html = page.read_text(encoding="utf-8")
        shown = counts(html[html.index("<article") : html.index("</article")])
        expected = counts(markdown.render((ROOT / document).read_text(encoding="utf-8")))
        wrong += [
            f"{document}: {expected[tag]} times <{tag}>, and {shown[tag]} times in the site"
            for tag in TAGS
            if shown[tag] != expected[tag]
        ]
        compared += 1
    print("\n".join(wrong + [f"{compared} documents, {len(wrong)} differences"]))
    return 1 if wrong or compared < 30 else 0


sys.exit(main())
