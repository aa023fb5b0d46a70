"""Runs the notebooks in examples/ and writes their outputs into them: python tools/run_notebooks.py

Needs nbclient and ipykernel. A warning is an error. What would change with each run or machine is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
STRICT = "import warnings; warnings.filterwarnings('error', module='bytepair|__main__')\n"


def run(path: Path) -> Any:
    """The notebook with the outputs that it has here and now."""
    import nbclient
    import nbformat

    import bytepair

    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source = STRICT + first.source
    client = nbclient.NotebookClient(notebook, timeout=300, record_timing=False, coalesce_streams=True)
    paths = filter(None, [str(Path(bytepair.__file__).parents[1]), os.environ.get("PYTHONPATH")])
    client.execute(cwd=str(path.parent), env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    first.source = first.source.removeprefix(STRICT)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def main() -> None:
    import nbformat

    for path in sorted(EXAMPLES.glob("*.ipynb")):
        nbformat.write(run(path), path)
        print(path.name)


if __name__ == "__main__":
    main()
