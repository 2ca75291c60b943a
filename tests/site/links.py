"""Prints the links of a site that lead nowhere, and what its pages would load from elsewhere:
`links.py DIRECTORY`. Ends with 1 if there are any."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What the browser loads by itself, with the attribute that names it.
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # with whether the browser loads it by itself
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("id"):
            self.ids.add(given["id"])
        if given.get("name") and tag == "a":
            self.ids.add(given["name"])
        name = LOADED.get(tag, "href" if tag == "a" else "")
        if given.get(name):
            self.links.append((given[name], tag in LOADED))


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    links, wrong = 0, []
    for file, page in pages.items():
        for link, is_loaded in page.links:
            links += 1
            parts = urlsplit(link)
            where = f"{file.relative_to(site)}: {link[:200]}"
            if parts.scheme == "data" or link == "#__search":
                continue
            if parts.scheme or parts.netloc:
                if is_loaded:
                    wrong.append(f"{where} is loaded from elsewhere")
                continue
            # The page of errors is not read as a file; its links begin at the root.
            base = site if parts.path.startswith("/") else file.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or site not in target.parents:
                wrong.append(f"{where} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                wrong.append(f"{where} leads to a part that the page does not have")
    print("\n".join(wrong + [f"{len(pages)} pages, {links} links, {len(wrong)} wrong"]))
    return 1 if wrong or len(pages) < 50 else 0


sys.exit(main())
