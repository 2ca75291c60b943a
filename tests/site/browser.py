"""Looks at a site in a headless browser: `browser.py DIRECTORY CHROMIUM`.

No page is wider than a phone of 390 pixels or a window of 1,280, and the search of a page that is
read as a file finds something. Ends with 1 if something is wrong.
"""

import functools
import http.server
import json
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

WIDTHS = (390, 1280)
LIMIT_S = 1800  # of a browser that hangs

# Opens each page in a frame of each width, and reports how wide the page is in it.
HARNESS = """<!DOCTYPE html><body><script>
(async () => {
  const found = [];
  for (const width of WIDTHS) {
    const frame = document.createElement("iframe");
    frame.style = `width: ${width}px; height: 800px; border: 0`;
    document.body.append(frame);
    for (const page of PAGES) {
      const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
      frame.src = "/" + page;
      await loaded;
      const root = frame.contentDocument.documentElement;
      const right = (element) => element.getBoundingClientRect().right;
      const at = [...root.querySelectorAll("article *")].reduce((x, y) => (right(y) > right(x) ? y : x));
      found.push({ page, width, is: root.scrollWidth, at: at.outerHTML.slice(0, 120) });
    }
    frame.remove();
  }
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
})();
</script>"""


def chromium(program: str, *arguments: str) -> list[str]:
    # Root has no sandbox; what is opened is this site alone.
    return [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *arguments]


def widths_of(site: Path, program: str) -> list[dict]:
    pages = sorted(str(file.relative_to(site)) for file in site.rglob("*.html"))
    harness = HARNESS.replace("WIDTHS", json.dumps(WIDTHS)).replace("PAGES", json.dumps(pages))
    found: list[dict] = []
    done = threading.Event()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/harness":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(harness.encode())

        def do_POST(self) -> None:
            found.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            chromium(
                program,
                f"--user-data-dir={profile}",
                "--remote-debugging-port=0",  # stays open until it is ended
                "--window-size=1400,900",
                f"http://127.0.0.1:{server.server_port}/harness",
            ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if not done.wait(LIMIT_S):
                sys.exit(f"the browser has not finished within {LIMIT_S} s")
        finally:
            browser.terminate()
            browser.wait()
    server.shutdown()
    assert len(found) == len(WIDTHS) * len(pages)
    return found


def search(site: Path, program: str, words: str) -> list[str]:
    """What the search of the first page finds, read as a file."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        page = subprocess.run(
            chromium(
                program,
                f"--user-data-dir={profile}",
                "--virtual-time-budget=60000",
                "--dump-dom",
                f"file://{site}/index.html?q={words}",
            ),
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_S,
        ).stdout
    return re.findall(r'href="file://([^"?#]*)[^"]*" class="md-search-result__link"', page)


def main() -> int:
    site, program = Path(sys.argv[1]).resolve(), sys.argv[2]
    found = widths_of(site, program)
    wrong = [
        f"{page['page']} is {page['is']} pixels wide in {page['width']}: {page['at']}"
        for page in found
        if page["is"] > page["width"]
    ]
    results = search(site, program, "oblivious")
    if not any(result.endswith("reference/cpp/ot.html") for result in results):
        wrong.append(f"the search for a word of the header ot.h finds {results}")
    print("\n".join(wrong + [f"{len(found)} views, {len(results)} results, {len(wrong)} wrong"]))
    return 1 if wrong else 0


sys.exit(main())
