"""Pictures of measurements, drawn by matplotlib (the extra ``[plot]``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import BytepairError

if TYPE_CHECKING:
    from pathlib import Path

    from .measures import Measures
    from .sweep import Sweep

# Okabe and Ito: told apart by every kind of colour blindness.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000")
STYLES = ("-", "--", ":", "-.")


def _figure(columns: int, width: float = 5.5, height: float = 4.2) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BytepairError(f"pictures need matplotlib ({error}): pip install 'bytepair[plot]'") from error
    figure = Figure(figsize=(width * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


def _save(figure: Any, path: Path) -> None:
    known = {".png", ".svg", ".pdf"}
    if path.suffix.lower() not in known:
        raise BytepairError(f"{path.name!r} names no kind of picture; end it with {', '.join(sorted(known))}")
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix.lower() != ".png" else None)


def bars(rows: Sequence[Measures], path: Path) -> None:
    """Compression and evenness of each tokenizer, a bar for each group."""
    figure, axes = _figure(2)
    tokenizers = list(dict.fromkeys(row.tokenizer for row in rows))
    groups = list(dict.fromkeys(row.group for row in rows))
    step = 0.8 / len(groups)
    for axis, name, title in zip(axes, ("bytes_per_token", "renyi"), ("bytes per token", "Rényi efficiency")):
        for k, group in enumerate(groups):
            mine = {row.tokenizer: getattr(row, name) for row in rows if row.group == group}
            places = [at + (k - (len(groups) - 1) / 2) * step for at, one in enumerate(tokenizers) if one in mine]
            values = [mine[one] for one in tokenizers if one in mine]
            axis.bar(places, values, step * 0.95, label=group, color=COLOURS[k % len(COLOURS)])
        axis.set_xticks(range(len(tokenizers)), [_short(one) for one in tokenizers], rotation=20, ha="right")
        axis.set_ylabel(title)
        axis.spines[["top", "right"]].set_visible(False)
    if len(groups) > 1:
        axes[0].legend(frameon=False)
    _save(figure, path)


def curves(sweep: Sweep, path: Path) -> None:
    """Compression at every size, what embeddings cost, and what attention costs."""
    figure, axes = _figure(3, 4.6)
    labels = {(c.pattern, c.share): _label(sweep, c.pattern, c.share) for c in sweep.curves}
    for k, curve in enumerate(sweep.curves):
        mine = [p for p in sweep.points if (p.pattern, p.share) == (curve.pattern, curve.share)]
        look = {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % len(STYLES)]}
        n = mine[0].bytes if mine else 0
        if n:
            sizes = range(curve.first_size, curve.first_size + len(curve.tokens))
            axes[0].plot(sizes, [n / max(t, 1) for t in curve.tokens], label=labels[curve.pattern, curve.share], **look)
        axes[0].plot([p.vocab_size for p in mine], [p.bytes_per_token for p in mine], "o", color=look["color"])
        axes[1].plot([p.untied for p in mine], [p.bytes_per_token for p in mine], "o", **look)
        axes[2].plot([p.vocab_size for p in mine], [p.attention for p in mine], "o", **look)
    axes[0].set_xlabel("vocabulary")
    axes[0].set_ylabel("bytes per token, held-out text")
    axes[1].set_xlabel(f"embedding parameters, untied (width {sweep.width:,})")
    axes[1].set_ylabel("bytes per token")
    axes[2].set_xlabel("vocabulary")
    axes[2].set_ylabel(f"attention, FLOP per layer and kB (context {sweep.context:,})")
    for axis in axes:
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    _save(figure, path)


def _label(sweep: Sweep, pattern: str, share: float) -> str:
    several = len({curve.share for curve in sweep.curves}) > 1
    return _short(pattern) + (f", {share:.0%} of the text" if several else "")


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"
