"""What the site has beside the files of doc/: files that they link to, notebooks, references.

A file outside of doc/ that a page links to becomes a page under source/, and the link leads there;
so the same links work in the repository and in the site.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import headers  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# Pages that are named in the navigation, whether or not a document links to them.
NAMED = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
NOTEBOOKS = sorted((ROOT / "python/examples").glob("*.ipynb"))
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
LANGUAGES = {".proto": "protobuf", ".yml": "yaml", ".json": "json", ".sh": "bash", ".h": "cpp", ".cpp": "cpp"}

ASSETS = ["site.css", "iframe-worker.js"]
# Where documents name these folders, they mean their pages.
REFERENCES = {"`include/tinyot/`": "reference/cpp/index.md", "`python/tinyot/`": "reference/python.md"}

PYTHON = """# Python reference

[Python](../python.md) is the guide to the package.

::: tinyot
    options: {show_root_toc_entry: false, heading_level: 2}

## The client of a daemon

::: tinyot.client
    options: {show_root_toc_entry: false, heading_level: 3}
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The pages of the headers are in the navigation, below the list of them."""
    include = ROOT / "include"
    found = [str(file.relative_to(include)) for file in include.rglob("*.h*")]
    pages: list = ["reference/cpp/index.md"]
    for header in headers.sorted_headers(name.removesuffix(".in") for name in found):
        pages.append({header.removeprefix("tinyot/"): "reference/cpp/" + headers.page_of(header)})
    for part in config.nav:
        for entry in next(iter(part.values())):
            if entry == {"C++ headers": pages[0]}:
                entry["C++ headers"] = pages
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    def add(uri: str, text: str) -> None:
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, content=text))

    outside = list(NAMED)
    for file in files.documentation_pages():
        outside += outside_links(file.content_string, "doc/" + file.src_uri)
    seen: set[str] = set()
    while outside:
        path = outside.pop()
        if path in seen:
            continue
        seen.add(path)
        text = as_page(path)
        add(uri_of(path), text)
        outside += outside_links(text, path)

    for notebook in NOTEBOOKS:
        add(f"notebooks/{notebook.stem}.md", notebook_page(json.loads(notebook.read_text())))
    for name, text in headers_pages().items():
        add(f"reference/cpp/{name}", text)
    add("reference/python.md", PYTHON)
    for name in ASSETS:
        add(f"assets/{name}", (Path(__file__).parent / name).read_text())
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that leave doc/ lead to the pages under source/, and names of folders to references."""
    uri = page.file.src_uri
    if uri.startswith(("reference/", "notebooks/")):
        return markdown
    path = uri.removeprefix("source/") if page.file.generated_by else "doc/" + uri
    if path.endswith(".file.md"):
        return markdown  # text or a list of a folder, whose links are made by as_page

    def relative(there: str) -> str:
        return posixpath.relpath(there, posixpath.dirname(uri) or ".")

    def rewritten(match: re.Match[str]) -> str:
        opening, target, anchor, closing = match[1], match[2], match[3] or "", match[4]
        return opening + relative(uri_of(joined(path, target))) + anchor + closing

    markdown = LINK.sub(rewritten, markdown)
    for name, there in REFERENCES.items():
        markdown = markdown.replace(name, f"[{name}]({relative(there)})")
    return markdown


def joined(path: str, target: str) -> str:
    """The path in the repository of a link in the file `path`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def uri_of(path: str) -> str:
    """The place of a file of the repository in the site."""
    if path.endswith(".ipynb"):
        return f"notebooks/{Path(path).stem}.md"
    if path.startswith("doc/"):
        return path.removeprefix("doc/")
    return "source/" + (path if path.endswith(".md") else path + ".file.md")


def outside_links(text: str, path: str) -> list[str]:
    targets = [joined(path, match[2]) for match in LINK.finditer(text)]
    return [target for target in targets if uri_of(target).startswith("source/")]


def as_page(path: str) -> str:
    """A file or a folder of the repository as a page."""
    file = ROOT / path
    if file.is_dir():
        names = tracked(path)
        return f"# `{path}/`\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"
    if not file.is_file():
        raise PluginError(f"a document links to {path}, which does not exist")
    text = file.read_text()
    if file.suffix == ".md":
        return text
    return f"# `{path}`\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"


def tracked(folder: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return listed.stdout.split()


def notebook_page(notebook: dict) -> str:
    """The cells of a notebook; they are kept without outputs."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"


def headers_pages() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as scratch:
        settings = (Path(__file__).parent / "Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {scratch}\n"
        made = subprocess.run(["doxygen", "-"], cwd=ROOT, input=settings, text=True)
        if made.returncode != 0:
            raise PluginError("doxygen has objections to the headers")
        return headers.Reference(Path(scratch) / "xml").pages()
