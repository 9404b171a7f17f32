"""A figure as SVG that can stand in a page beside others."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib.figure import Figure

from ..plots import style

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"

REFERENCE = re.compile(r"url\(#([^)]*)\)")
DECIMAL = re.compile(r"-?\d+\.\d{3,}")
FONT = re.compile(r"font-family:[^;]*;\s*")
PLACES = frozenset({"d", "x", "y"})
"""Attributes of places: a hundredth of a point is enough for them."""


def inline(figure: Figure, prefix: str) -> Markup:
    """The figure as an `svg` element as wide as its place; `prefix` makes its ids its own.

    Matplotlib numbers ids from one in every figure, names clip paths by their content, and has a rule for
    every element of the page. In a page with several figures the first two meet, and the rule leaks. Letters
    take the font of the page.
    """
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(style.encoded(figure, "svg"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style"}:
                parent.remove(child)
    wanted = {name for element in root.iter() for name in _references(element)}
    for element in root.iter():
        if element.get("id") in wanted:
            element.set("id", f"{prefix}-{element.get('id')}")
        elif "id" in element.attrib:
            del element.attrib["id"]
        for key, value in element.items():
            if key in {HREF, "href"} and value.startswith("#"):
                element.set(key, f"#{prefix}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, REFERENCE.sub(rf"url(#{prefix}-\1)", value))
        for key in PLACES & element.attrib.keys():
            element.set(key, DECIMAL.sub(_short, " ".join(element.attrib[key].split())))
        if "style" in element.attrib:
            element.set("style", FONT.sub("", element.attrib["style"]))
        element.text = element.text if (element.text or "").strip() else None
        element.tail = element.tail if (element.tail or "").strip() else None
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("aria-hidden", "true")  # the figure around it has the words
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # an XML writer escaped it


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _references(element: ElementTree.Element) -> list[str]:
    found = []
    for key, value in element.items():
        if key in {HREF, "href"} and value.startswith("#"):
            found.append(value[1:])
        found += REFERENCE.findall(value)
    return found
