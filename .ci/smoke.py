"""A few known values from an installed package: ``python smoke.py core|pure`` says which engine it must be."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import bytepair
from bytepair import _engine


def main(engine: str) -> None:
    package = Path(bytepair.__file__).parent
    stubs = [path.name for path in package.glob("_core*")]
    tok = bytepair.train("low low lower lowest", num_merges=4, pattern="al1")
    ids = tok.encode("lowest", add_bos=True, add_eos=True)
    command = Path(sysconfig.get_path("scripts"), "bytepair")
    shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    found = {
        "engine": (_engine.NAME, engine),
        "compiled files": (bool(stubs), engine == "core"),
        "typed": ((package / "py.typed").exists(), True),
        "ids": (ids, [1, 263, 107, 121, 122, 2]),
        "text": (tok.decode(ids), "<bos>lowest<eos>"),
        "the command's version": (bytepair.__version__ in shown, True),
    }
    wrong = [f"{name}: {is_} instead of {should}" for name, (is_, should) in found.items() if is_ != should]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"bytepair {bytepair.__version__} ({engine}) on Python {sys.version.split()[0]}: right")


main(sys.argv[1])
