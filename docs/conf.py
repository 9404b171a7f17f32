"""How Sphinx makes a site of this folder. The pages are plain Markdown; their links work where they lie too.

The navigation is `README.md`: its sections are the captions, the pages in their lists are the entries, and a
folder stands for its pages. A page in no section is an error, as is a broken link.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
WORKSPACE = tomllib.loads((DOCS.parent / "Cargo.toml").read_text())["workspace"]["package"]
SOURCES = f"{WORKSPACE['repository']}/tree/main"
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
ENTRY = re.compile(r"^- \[[^\]]+\]\(([^)#]+\.md|[^)#.]+)\)", re.MULTILINE)
ANCHOR = re.compile(r'^<a id="([^"]+)"></a>$', re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(\.\.?/[^)\s#]*|[\w-]+/?)(?=[)#])")

project = "Airfair"
release = WORKSPACE["version"]
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["**/.*"]
nitpicky = True
# Quotation marks here are to be typed as they are.
smartquotes = False
myst_heading_anchors = 6
html_theme = "furo"
html_title = f"Airfair {release}"
html_extra_path = ["index.html"]
html_copy_source = False
html_show_copyright = False
# The tests check in the checkout that these exist.
linkcheck_ignore = [f"{re.escape(SOURCES)}.*"]


def navigation(readme: str) -> str:
    """Tables of contents, hidden from the page, from the sections of `README.md`."""
    pieces = SECTION.split(readme)[1:]
    sections = [(title, ENTRY.findall(text)) for title, text in zip(pieces[::2], pieces[1::2], strict=True)]
    named = {target for _, targets in sections for target in targets}
    lines = []
    for title, targets in sections:
        pages = [page for target in targets for page in _pages(target, named)]
        if pages:
            lines += ["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""]
    return "\n".join(lines)


def _pages(target: str, named: set[str]) -> list[str]:
    """The page that is named, or those of a folder that are not named by themselves."""
    if not (DOCS / target).is_dir():
        return [target]
    found = sorted(page.relative_to(DOCS).as_posix() for page in (DOCS / target).glob("*.md"))
    return [page for page in found if page not in named]


def read(_app: Sphinx, name: str, content: list[str]) -> None:
    """Make links to other files links to the sources, and anchors those of Sphinx; add the navigation."""
    folder = (DOCS / name).parent

    def resolved(link: re.Match[str]) -> str:
        target = (folder / link[1]).resolve()
        if not target.exists() or (target.is_relative_to(DOCS) and target.is_file()):
            return link[1]
        return f"{SOURCES}/{target.relative_to(DOCS.parent).as_posix()}"

    text = content[0]
    content[0] = ANCHOR.sub(r"(\1)=", LINK.sub(resolved, text))
    if name == root_doc:
        content[0] += f"\n{navigation(text)}"


def setup(app: Sphinx) -> None:
    """Register the extension: Sphinx calls this function."""
    app.connect("source-read", read)
