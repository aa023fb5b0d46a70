"""Rows and lines that have no text: an error, or left out and told of, as :func:`bytepair.files` was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._notices import notice
from ..errors import FormatError

if TYPE_CHECKING:
    from .options import How


class BadRows:
    """The rows of one file that have no text.

    Parameters
    ----------
    name : str
        The file.
    unit : str
        What it has: ``"line"`` or ``"row"``.
    """

    def __init__(self, name: str, unit: str, how: How) -> None:
        self.name, self.unit, self.how = name, unit, how
        self.seen = self.skipped = 0
        self.first = ""

    def add(self, where: str, what: str, times: int = 1) -> None:
        """One without a text.

        Raises
        ------
        FormatError
            Unless such rows are to be left out.
        """
        if not self.how.skips:
            raise FormatError(f'{where}: {what}; leave such {self.unit}s out with bad_rows="skip" (--bad-rows skip)')
        if not self.skipped:
            self.first = f"{where}: {what}"
        self.skipped += times

    def tell(self) -> None:
        """Once the file has been read: how many there were."""
        if self.skipped:
            notice(
                f"{self.name}: {self.skipped:,} of {self.seen:,} {self.unit}s were left out; the first: {self.first}", 2
            )
