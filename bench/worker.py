"""One job of ``peers.py`` in a process of its own: one library, one vocabulary, and some steps in a row.

    python bench/worker.py '{"peer": ..., "vocab": ..., "files": ..., "texts": ..., "threads": 1, "kind": ..., ...}'

Prints one JSON line as each step ends, so that a crash or a hang costs only the step it is in. The kinds are the
functions below; each says what its steps are. Texts are read and made into objects outside of the clock.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DOCUMENT = 4096
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}

Job = dict[str, Any]


def main() -> None:
    job: Job = json.loads(sys.argv[1])
    start = {name: clock() for name, clock in CLOCKS.items()}
    import adapters

    try:
        peer = adapters.PEERS[job["peer"]](
            Path(job["files"]), job["vocab"], job["threads"], starts=job["kind"] == "start"
        )
    except adapters.Missing as error:
        tell(step=None, missing=str(error))
        return
    if job["kind"] == "start":
        ids = peer.list(job["text"])
        seconds = {name: clock() - start[name] for name, clock in CLOCKS.items()}
        tell(step="start", seconds=seconds, ids=ids)
        return
    tell(step="loaded")
    for step, told in KINDS[job["kind"]](peer, job):
        tell(step=step, **told)


def tell(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def timed(work: Callable[[], Any]) -> dict[str, dict[str, float]]:
    start = {name: clock() for name, clock in CLOCKS.items()}
    kept = work()
    seconds = {name: clock() - start[name] for name, clock in CLOCKS.items()}
    del kept
    return {"seconds": seconds}


def blocks(job: Job, name: str, size: int | None = None) -> list[bytes]:
    from bytepair.benching import texts

    return texts.pieces((Path(job["texts"]) / name).read_bytes(), size or texts.MB)


def each(way: Callable[[Any], Any], given: list[Any]) -> None:
    for one in given:
        way(one)


def warm(way: Callable[[Any], Any], form: str = "str") -> None:
    """The first call does what is done once."""
    way("Hello, world" if form == "str" else b"Hello, world")


def of_form(peer: Any, kind: str, form: str) -> Callable[[Any], Any] | None:
    """The way from str or from bytes; a library that takes no bytes is given what they decode to."""
    way = getattr(peer, kind)
    if form == "str" or way is None:
        return way
    return getattr(peer, f"{kind}_bytes") or (lambda data: way(data.decode()))


def encode(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Steps "unseen" and "seen": a text, then its lines in another order, in 1 MB calls."""
    way = of_form(peer, job["way"], job["form"])
    for step in ("unseen", "seen"):
        given: list[Any] = blocks(job, f"{job['text']}.{step}")
        if job["form"] == "str":
            given = [block.decode() for block in given]
        if step == "unseen":
            warm(way, job["form"])
        yield step, timed(lambda given=given: each(way, given))


def count(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Step "count": how many tokens a text has that was seen; for ours also "array", which it has to beat."""
    ways = [peer.count, *([peer.array] if job["peer"] == "bytepair" else [])]
    for name in ("unseen", "seen"):
        for way in ways:
            each(way, [block.decode() for block in blocks(job, f"{job['text']}.{name}")])
    for step, way in zip(("count", "array"), ways):
        given = [block.decode() for block in blocks(job, f"{job['text']}.seen")]
        yield step, timed(lambda given=given, way=way: each(way, given))


def short(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Step "short": a list for each of many short strings, all of which were encoded before."""
    strings = json.loads((Path(job["texts"]) / "short.json").read_text("utf-8"))
    each(peer.list, strings)
    new = [string[:1] + string[1:] for string in strings]
    yield "short", timed(lambda: each(peer.list, new))


def documents(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Steps "batch" and "huge": a text that was seen, as small documents and as one."""
    for step, size in (("batch", DOCUMENT), ("huge", 1 << 62)):
        way = getattr(peer, step)
        for name in ("unseen", "seen"):
            given = [block.decode() for block in blocks(job, f"{job['text']}.{name}", size)]
            told = timed(lambda given=given, way=way: way(given))
        yield step, told


def words(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Step "words": random words, each once, to an array."""
    warm(peer.array)
    given = [block.decode() for block in blocks(job, "words")]
    yield "words", timed(lambda: each(peer.array, given))


def decode(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Steps "decode_str", "decode_bytes", "decode_array_str", "decode_array_bytes": what the library has of them."""
    for step in ("decode_str", "decode_bytes", "decode_array_str", "decode_array_bytes"):
        way = getattr(peer, step)
        if way is None:
            continue
        given: list[Any] = reference(job, "blocks", f"{job['text']}.unseen")
        if "array" not in step:
            given = [ids.tolist() for ids in given]
        way(given[0][:10])
        yield step, timed(lambda given=given, way=way: each(way, given))


def worst(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Each step a worst case: seconds for one, and for another that is twice as long."""
    kind = "array" if peer.array is not None else "list"
    for form in ("str", "bytes"):
        warm(of_form(peer, kind, form), form)
    for step in job["steps"]:
        data = (Path(job["texts"]) / step).read_bytes()
        form = "bytes" if step.startswith("random bytes") else "str"
        way = of_form(peer, kind, form)
        given = data if form == "bytes" else data.decode()
        yield step, timed(lambda way=way, given=given: way(given))


def parts(job: Job, cut: str, name: str) -> list[bytes]:
    """A text in 1 MB blocks, in small documents, whole, or the list of short strings."""
    if cut == "strings":
        return [string.encode() for string in json.loads((Path(job["texts"]) / name).read_text("utf-8"))]
    return blocks(job, name, {"blocks": None, "documents": DOCUMENT, "whole": 1 << 62}[cut])


def reference(job: Job, cut: str, name: str) -> list[Any]:
    """The right ids of a text, an array for each part."""
    import numpy as np

    made = np.load(Path(job["texts"]) / f"{job['vocab']}.{cut}.{name}.npz")
    return np.split(made["ids"], made["ends"][:-1])


def make(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Each step "CUT TEXT": writes the ids that the others are compared with."""
    import numpy as np

    for step in job["steps"]:
        cut, _, name = step.partition(" ")
        made = [np.array(peer.list(part.decode()), dtype=np.uint32) for part in parts(job, cut, name)]
        ends = np.cumsum([len(ids) for ids in made])
        np.savez(Path(job["texts"]) / f"{job['vocab']}.{cut}.{name}.npz", ids=np.concatenate(made), ends=ends)
        yield step, {"tokens": int(ends[-1])}


def check(peer: Any, job: Job) -> Iterator[tuple[str, Any]]:
    """Each step "WAY CUT TEXT": the first difference from the right ids, or None, and how long the way took; or that
    the library lacks the way.

    Random bytes have no right ids, for the owner of the vocabularies reads only text: they have to come back, and bytes
    that are text have to have the right ids.
    """
    for step in job["steps"]:
        kind, cut, name = step.split(" ", 2)
        way = getattr(peer, kind)
        if way is None or (name.startswith("random bytes") and not (peer.decode_bytes and kind.endswith("_bytes"))):
            yield step, {"lacks": True}
            continue
        data = parts(job, cut, name)
        given: list[Any] = data if kind.endswith("_bytes") else [part.decode() for part in data]
        if name.startswith("random bytes"):
            found, seconds = kept(way, given)
            back = b"".join(peer.decode_bytes(listed(ids)) for ids in found)
            differs = None if back == b"".join(data) else "the bytes do not come back"
            for other in ("base64.1", "emoji.1"):
                text = parts(job, "whole", other)
                differs = differs or difference(kind, kept(way, text)[0], reference(job, "whole", other))
        elif kind.startswith("decode"):
            right = reference(job, cut, name)
            found, seconds = kept(way, right if "array" in kind else [ids.tolist() for ids in right])
            back = b"".join(text.encode() if isinstance(text, str) else text for text in found)
            differs = None if back == b"".join(data) else "the text does not come back"
        else:
            right = reference(job, cut, name)
            whole = kind in ("batch", "huge")
            found, seconds = kept(way, [given] if whole else given)
            differs = difference(kind, found, right)
        yield step, {"differs": differs, "seconds": seconds}


def kept(way: Callable[[Any], Any], given: list[Any]) -> tuple[list[Any], dict[str, float]]:
    """What a way gives, and its time."""
    start = {name: clock() for name, clock in CLOCKS.items()}
    found = [way(one) for one in given]
    return found, {name: clock() - start[name] for name, clock in CLOCKS.items()}


def listed(ids: Any) -> list[int]:
    return ids if isinstance(ids, list) else ids.tolist()


def difference(kind: str, found: list[Any], right: list[Any]) -> str | None:
    """Where what was found first differs from what is right."""
    import adapters
    import numpy as np

    if kind == "count":
        wrong = [(n, len(ids)) for n, ids in zip(found, right) if n != len(ids)]
        return f"{wrong[0][0]} tokens instead of {wrong[0][1]}" if wrong else None
    if len(found) == 1:
        right = [np.concatenate(right)]
    for part, (result, other) in enumerate(zip(found, right)):
        one = adapters.as_ids(result)
        if not np.array_equal(one, other):
            n = min(len(one), len(other))
            where = np.flatnonzero(one[:n] != other[:n])
            at = int(where[0]) if len(where) else n
            return f"part {part}, token {at}: {one[at : at + 3].tolist()} instead of {other[at : at + 3].tolist()}"
    return None


KINDS = {
    function.__name__: function for function in (encode, count, short, documents, words, decode, worst, make, check)
}

if __name__ == "__main__":
    main()
