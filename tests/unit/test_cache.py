"""The cache of what `load` made: the same tokenizers with it and without it, and nothing in it is believed unseen."""

from __future__ import annotations

import base64
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import Tokenizer, _cache
from bytepair.formats import _stored
from bytepair.pattern import _machine, engine_splitter
from bytepair.vocabulary import Vocabulary

TEXT = "low lower lowest, 123 wörld \u65e5\u672c <eos>"

RANKS = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258, b"lo": 259, b"low": 300}

HUGGINGFACE = (
    '{"added_tokens": [{"id": 6, "content": "<eos>", "special": true, "lstrip": true}], '
    '"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, '
    '"decoder": {"type": "BPEDecoder", "suffix": "</w>"}, "model": {"type": "BPE", "unk_token": "<unk>", '
    '"vocab": {"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4, "<unk>": 5}, "merges": ["l o", "lo w"]}}'
)


def trained(**options: Any) -> Tokenizer:
    return bytepair.train(TEXT * 3, num_merges=8, **options)


MADE = {
    "bytes": trained,
    "characters": lambda: trained(alphabet="characters", unknown="bytes"),
    "classic": lambda: trained(alphabet="characters", end_of_word="fused", unknown="<unk>", specials=("<unk>",)),
    "own pattern": lambda: trained(pattern=r"[a-z]+|\s+|[^a-z\s]"),
    "ranks": lambda: Tokenizer.from_ranks(RANKS, pattern="cl100k", specials={"<eos>": 400}),
    "nothing": lambda: Tokenizer.from_merges([], specials=()),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    found = tmp_path / "cache"
    monkeypatch.setenv("BYTEPAIR_CACHE", str(found))
    forget()
    return found


def forget() -> None:
    """As a new process: no pattern is compiled."""
    _machine.cache_clear()
    engine_splitter.cache_clear()


def facts(tok: Tokenizer) -> Any:
    """All that one can see of a tokenizer."""
    v = tok._vocabulary
    seen = [getattr(v, one.name) for one in fields(Vocabulary)]
    named = [name for name in dir(Tokenizer) if isinstance(getattr(Tokenizer, name), property)]
    ids = tok.encode(TEXT, special="all")
    return (
        seen,
        list(v.tokens),
        {name: getattr(tok, name) for name in (*named, "vocab", "merges", "ranks", "fingerprint") if name[0] != "_"},
        (tok._around, tok.pattern.name, tok.pattern.timeout, tok.pattern.then),
        (ids, tok.decode(ids), tok.encode_with_offsets(TEXT)),
    )


def saved(path: Path, name: str) -> Path:
    if name == "huggingface":
        path.write_text(HUGGINGFACE, "utf-8")
    else:
        MADE[name]().save(path)
    return path


def is_kept(tok: Tokenizer) -> bool:
    """Whether it came out of the cache."""
    return tok._vocabulary.flat is not None


@pytest.mark.parametrize("name", [*MADE, "huggingface"])
def test_a_tokenizer_is_the_same_with_and_without_the_cache(name: str, tmp_path: Path, folder: Path) -> None:
    path = saved(tmp_path / "tokenizer.json", name)
    first = bytepair.load(path)
    forget()
    again = bytepair.load(path)
    assert not is_kept(first)
    assert is_kept(again)
    assert again._vocabulary == first._vocabulary
    assert facts(again) == facts(first)
    assert facts(pickle.loads(pickle.dumps(bytepair.load(path)))) == facts(first)
    assert facts(bytepair.load(path.read_bytes())) == facts(first)
    if first.merges and name != "huggingface":
        assert bytepair.load(path).cut(first.vocab_size - 1) == first.cut(first.vocab_size - 1)


def test_a_bundled_vocabulary_is_kept(folder: Path) -> None:
    first, again = bytepair.load("r50k_base"), bytepair.load("r50k_base")
    assert (is_kept(first), is_kept(again)) == (False, True)
    assert facts(again) == facts(first)


def test_it_is_found_by_what_the_files_hold_and_the_caller_says(tmp_path: Path, folder: Path) -> None:
    path = saved(tmp_path / "tokenizer.json", "huggingface")
    assert [is_kept(bytepair.load(path)) for _ in range(2)] == [False, True]
    beside = tmp_path / "tokenizer_config.json"
    beside.write_text('{"pad_token": "<eos>"}')
    assert bytepair.load(path).pad_id == 6
    assert bytepair.load(path).pad_id == 6
    beside.write_text("{}")
    assert bytepair.load(path).pad_id is None
    beside.unlink()
    assert bytepair.load(path).pad_id is None
    assert bytepair.load(path, roles={"bos": "<eos>"}).bos_id == 6
    assert bytepair.load(path, roles={"unk": "<eos>"}).bos_id is None
    path.write_text(HUGGINGFACE.replace("Lowercase", "NFC"))
    assert not is_kept(bytepair.load(path))
    assert [is_kept(bytepair.load(tmp_path)) for _ in range(2)] == [False, True]  # found in a folder


def test_what_told_a_notice_tells_it_each_time(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(
        HUGGINGFACE.replace('"l o", "lo w"', '"lo w", "l o"').replace('"Whitespace"', '"WhitespaceSplit"'), "utf-8"
    )
    for _ in range(2):
        with pytest.warns(bytepair.BytepairNotice, match="unordered"):
            bytepair.load(path)


def test_what_the_caller_says_is_kept_only_where_it_can_be_written_down(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(text) + b" %d\n" % rank for text, rank in RANKS.items()))
    said: list[tuple[Any, bool]] = [
        (["<a>", "<b>"], True),
        (["<b>", "<a>"], True),
        ({"<a>": 500}, True),
        (None, True),
        ({"<a>", "<b>"}, False),
    ]
    for specials, kept in said:
        found = [bytepair.load(path, pattern="gpt2", specials=specials) for _ in range(2)]
        assert [is_kept(tok) for tok in found] == [False, kept]
        assert found[0].specials == found[1].specials
    once = bytepair.load(path, pattern="gpt2", specials=(name for name in ("<a>", "<b>")))
    assert list(once.specials) == ["<a>", "<b>"]


@pytest.mark.parametrize("value", ["", "0"])
def test_it_can_be_switched_off(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYTEPAIR_CACHE", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    path = saved(tmp_path / "tok.json", "ranks")
    assert not any(is_kept(bytepair.load(path)) for _ in range(2))
    assert list(tmp_path.iterdir()) == [path]


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYTEPAIR_CACHE")
    home = os.path.abspath(os.path.join(os.sep, "home", "a"))
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, home)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert _cache.folder() == os.path.join(home, ".cache", "bytepair")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert _cache.folder() == os.path.join(home, ".cache", "bytepair")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _cache.folder() == str(tmp_path / "bytepair")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert _cache.folder() == os.path.join(home, "Library", "Caches", "bytepair")
    monkeypatch.setattr(sys, "platform", "win32")
    assert _cache.folder() is None
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert _cache.folder() == str(tmp_path / "bytepair")


def test_without_a_home_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BYTEPAIR_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert _cache.folder() is None


def test_what_cannot_be_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    path = saved(tmp_path / "tok.json", "ranks")
    monkeypatch.setenv("BYTEPAIR_CACHE", str(blocked))
    assert not any(is_kept(bytepair.load(path)) for _ in range(2))
    cache = tmp_path / "cache"
    monkeypatch.setenv("BYTEPAIR_CACHE", str(cache))

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    assert not any(is_kept(bytepair.load(path)) for _ in range(2))
    assert list(cache.iterdir()) == []


# ---- damage ----


def with_sum(data: bytes, checksum: Any = _stored.checksum) -> bytes:
    """A file's bytes with the checksum that they should have."""
    return data[:16] + checksum(data[48:]) + data[48:]


def kept_file(path: Path, folder: Path) -> Path:
    """The file of the one tokenizer in the cache."""
    bytepair.load(path)
    (found,) = (one for one in folder.iterdir() if b'"alphabet"' in one.read_bytes())
    return found


@pytest.mark.parametrize("name", ["ranks", "classic", "huggingface"])
def test_a_damaged_file_is_ignored_and_written_anew(name: str, tmp_path: Path, folder: Path) -> None:
    path = saved(tmp_path / "tokenizer.json", name)
    file = kept_file(path, folder)
    expected, sound = facts(bytepair.load(path)), file.read_bytes()
    size, middle = len(sound), len(sound) // 2
    damaged = {
        "empty": b"",
        "cut off": sound[:-1],
        "its beginning": sound[:40],
        "longer": sound + b"\0",
        "another magic": b"B" + sound[1:],
        "one bit": sound[:middle] + bytes([sound[middle] ^ 1]) + sound[middle + 1 :],
        "another layout": with_sum(sound[:48] + b"\xff" + sound[49:]),
        "a head beyond its end": with_sum(sound[:56] + size.to_bytes(8, "little") + sound[64:]),
        "no JSON": with_sum(sound[:64] + b"!" + sound[65:]),
        "of another key": with_sum(sound.replace(file.stem.encode(), b"0" * 64)),
        "no sections": with_sum(sound.replace(b'"text": [', b'"test": [')),
        "a section beyond its end": with_sum(sound.replace(b'"text": [', b'"text": [8')),
        "another rule": with_sum(sound.replace(b'"rule": "', b'"role": "')),
        "no such dialect": with_sum(sound.replace(b'"tiktoken"', b'"taktoken"').replace(b'"onig', b'"anig')),
    }
    for what, data in damaged.items():
        file.write_bytes(data)
        forget()
        tok = bytepair.load(path)
        if data != sound:
            assert not is_kept(tok), what
        assert facts(tok) == expected, what
        assert is_kept(bytepair.load(path)), what


@pytest.mark.parametrize("name", ["bytes", "classic", "ranks", "huggingface", "own pattern"])
def test_a_hostile_file_does_no_more_than_a_wrong_vocabulary_could(name: str, tmp_path: Path, folder: Path) -> None:
    """Whoever can write a checksum can write other ids; but no byte lets the engine leave its memory, or hang."""
    path = saved(tmp_path / "tokenizer.json", name)
    bytepair.load(path).encode(TEXT)
    sound = {file: file.read_bytes() for file in folder.iterdir()}
    dice = random.Random(name)
    for _ in range(150):
        for file, data in sound.items():
            changed = bytearray(data)
            for _ in range(dice.choice([0, 1, 1, 3])):
                changed[dice.randrange(48, len(data))] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
            is_tokenizer = b'"alphabet"' in data
            file.write_bytes(with_sum(bytes(changed), _stored.checksum if is_tokenizer else _cache.sha256))
        forget()
        try:
            tok = bytepair.load(path)
            ids = tok.encode(TEXT * 4)
            tok.encode_batch([TEXT, "", TEXT])
            tok.decode(ids)
        except Exception as error:  # noqa: BLE001  # any error will do, if it is one
            assert str(error)


# ---- many at once, and for long ----


def test_writers_do_not_disturb_each_other(tmp_path: Path, folder: Path) -> None:
    path = saved(tmp_path / "tok.json", "ranks")
    expected = bytepair.load(path)
    for file in folder.iterdir():
        file.unlink()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: bytepair.load(path), range(40)))
    assert set(found) == {expected}
    assert all(file.suffix == ".bin" for file in folder.iterdir())


def test_the_oldest_go_where_there_is_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cache, "LIMIT", 4200)
    keys = [_cache.key_of(str(k)) for k in range(4)]
    folder.mkdir()
    (folder / "mine.txt").write_bytes(bytes(5000))
    left_over = folder / f"{keys[0]}.1-a.part"
    left_over.write_bytes(b"")
    os.utime(left_over, (0, 0))
    for k, key in enumerate(keys):
        _cache.write(key, {}, {"text": bytes(1000)})
        os.utime(folder / f"{key}.bin", (k + 1, k + 1)) if k < 3 else None
    there = [(folder / f"{key}.bin").exists() for key in keys]
    assert there == [False, True, True, True]
    assert (folder / "mine.txt").exists()
    assert not left_over.exists()


def test_a_file_in_use_is_not_the_oldest(folder: Path) -> None:
    key = _cache.key_of("used")
    _cache.write(key, {"a": 1}, {"text": b"abc", "none": b""})
    file = folder / f"{key}.bin"
    os.utime(file, (1, 1))
    kept = _cache.read(key)
    assert kept is not None
    assert (kept.head["a"], bytes(kept.sections["text"]), bytes(kept.sections["none"])) == (1, b"abc", b"")
    assert file.stat().st_mtime > 1000


# ---- what a fresh process imports ----

AT_FIRST = ("bz2", "gzip", "hashlib", "json", "logging", "lzma", "numpy", "pathlib", "regex", "bytepair.tokenizer")
WHEN_KEPT = (
    *(
        "bz2",
        "gzip",
        "logging",
        "lzma",
        "numpy",
        "pathlib",
        "regex",
    ),
    *("bytepair.formats.bytepair_json", "bytepair.formats.huggingface", "bytepair.formats.foreign_json"),
    *("bytepair.pattern.automaton", "bytepair.pattern.syntax", "bytepair.pattern.unicode", "bytepair.pipeline.output"),
    *("bytepair.pipeline.normalise", "bytepair.pipeline.template", "bytepair.listed", "bytepair._fitting"),
)


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_load_is_there_without_what_it_may_need(engine_name: str) -> None:
    if engine_name != "core":
        pytest.skip("the pure engine has imports of its own")
    assert not modules_after("import bytepair; bytepair.load") & set(AT_FIRST)


def test_a_kept_tokenizer_needs_neither_its_format_nor_the_compiler(
    tmp_path: Path, folder: Path, engine_name: str
) -> None:
    if engine_name != "core":
        pytest.skip("the pure engine has imports of its own")
    path = saved(tmp_path / "tok.json", "ranks")
    code = f"import bytepair; print(*bytepair.load({str(path)!r}).encode('low lower'))"
    assert "bytepair.formats.bytepair_json" in modules_after(code)
    assert not modules_after(code) & set(WHEN_KEPT)
