"""A drawn figure as files: the same drawing gives the same bytes."""

import io
import re
import xml.etree.ElementTree as ET

from matplotlib.figure import Figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def png_of(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", bbox_inches="tight", metadata={"Software": None})
    return out.getvalue()


def pdf_of(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="pdf", bbox_inches="tight",
                   metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    return out.getvalue()


def svg_of(figure: Figure, name: str) -> bytes:
    """Its ids begin with the figure's name, so that several figures can be in one page."""
    out = io.BytesIO()
    figure.savefig(out, format="svg", bbox_inches="tight",
                   metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(out.getvalue())
    for element in root.iter():
        for attribute, value in element.attrib.items():
            if attribute == "id":
                value = f"{name}.{value}"
            elif attribute == f"{{{XLINK}}}href":
                value = value.replace("#", f"#{name}.", 1)
            else:
                value = re.sub(r"url\(#", f"url(#{name}.", value)
            element.set(attribute, value)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def inline(svg: bytes, title: str) -> str:
    """For a page: without namespaces, which HTML knows, and with a size that follows the page."""
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
        if href := element.attrib.pop(f"{{{XLINK}}}href", None):
            element.set("href", href)
    for attribute in ("height", "width", "version"):
        root.attrib.pop(attribute, None)
    width = root.get("viewBox", "0 0 640 0").split()[2]
    root.attrib |= {"role": "img", "aria-label": title, "style": f"max-width: {width}pt"}
    return ET.tostring(root, encoding="unicode")
