"""QR codes of addresses, for phones in a hall."""

from __future__ import annotations

import io

import segno


def qr_code(address: str) -> str:
    """Return an SVG, as a file or within a page, of whatever size its place has."""
    picture = io.BytesIO()
    segno.make_qr(address).save(
        picture,
        kind="svg",
        xmldecl=False,
        omitsize=True,
        border=2,
        light="#fff",
        svgclass=None,
        lineclass=None,
        nl=False,
    )
    return picture.getvalue().decode()
