"""How well tokenizers do on a text, in numbers that a plain script can compute again.

:func:`evaluate` measures tokenizers and simple baselines on one or several groups of documents; :func:`sweep` trains
once and measures every size of vocabulary on held-out text. Both give tables, CSV, JSON and pictures.
``bytepair evaluate`` and ``bytepair sweep`` print them.
"""

from .measures import Measures, renyi_efficiency
from .report import Report, evaluate
from .sweep import Point, Sweep, sweep

__all__ = ["Measures", "Point", "Report", "Sweep", "evaluate", "renyi_efficiency", "sweep"]
