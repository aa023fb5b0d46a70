"""Numbers of bytes on the command line: 65536, 512M, 2G."""

from __future__ import annotations

import re

import click

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """The number of bytes that an option names."""
    found = re.fullmatch(r"(\d{1,18})([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"{text!r} is no number of bytes; write 65536, 512M or 2G")
    return int(found[1]) * UNITS[found[2].upper()]
