"""Files that are known by their hash: a rank file has no pattern, but which one it is decides that."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def _by_hash() -> dict[str, str]:
    import json
    from pkgutil import get_data

    records = json.loads(get_data(__package__, "PROVENANCE.json") or b"[]")
    return {record["sha256"]: record["name"] for record in records}


def known(sha256_hex: str) -> str | None:
    """The bundled vocabulary that a file with this sha256 is the original of, or None.

    Examples
    --------
    >>> known("223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
    'cl100k_base'
    """
    return _by_hash().get(sha256_hex.lower())
