"""Packed files and archives: told by their bytes, unpacked as they are read; damage is an error, a bomb harmless."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair
from bytepair import WordCounts, files
from bytepair.corpus.readers import Reading

sys.path.insert(0, str(Path(__file__).parent))
from corpora import named, texts

TEXT = b"low\r\n\0lower \xff\n" * 1000


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(data)  # type: ignore[no-any-return]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd,
}  # fmt: skip
packed = pytest.mark.parametrize("suffix", PACKERS)


@packed
def test_one_stream_and_several(suffix: str, tmp_path: Path) -> None:
    pack = PACKERS[suffix]
    (tmp_path / f"a.txt{suffix}").write_bytes(pack(TEXT))
    (tmp_path / "b.txt").write_bytes(pack(TEXT))  # by its bytes, whatever it is called
    (tmp_path / f"c.txt{suffix}").write_bytes(pack(TEXT) + pack(b"") + pack(b"more") + bytes(8))
    (tmp_path / f"d.txt{suffix}").write_bytes(pack(b""))
    assert texts(tmp_path) == [TEXT, TEXT, TEXT + b"more", b""]
    assert texts(io.BytesIO(pack(TEXT))) == [TEXT]
    assert texts(files(tmp_path / "b.txt", by="line"))[:3] == [b"low\r\n", b"\0lower \xff\n", b"low\r\n"]
    assert texts(files(tmp_path / f"a.txt{suffix}", format="raw")) == [pack(TEXT)]
    assert bytepair.train(tmp_path, num_merges=5) == bytepair.train([TEXT, TEXT, TEXT + b"more"], num_merges=5)


@packed
def test_bytes_in_memory_are_never_unpacked(suffix: str) -> None:
    data = PACKERS[suffix](TEXT)
    assert texts(data) == texts([data]) == [data]


@packed
@pytest.mark.parametrize("threads", [1, 2])
def test_damage_has_the_file_in_its_error(suffix: str, threads: int, tmp_path: Path) -> None:
    data = PACKERS[suffix](os.urandom(5000))
    path = tmp_path / f"a.txt{suffix}"
    broken = bytearray(data)
    broken[2000] ^= 255
    for bad, message in [
        (data[:-1], "is cut off"), (data[:2000], "is cut off"), (data[:11], "is cut off"),
        (bytes(broken), "damaged|cut off"), (data + b"garbage behind it", "follows the"),
        (b"", "is empty, as its name says|is empty"), (b"text", "holds no"), (b"\0" * 30, "holds no"),
    ]:  # fmt: skip
        path.write_bytes(bad)
        with pytest.raises(bytepair.FormatError, match=rf"a\.txt\{suffix}.*({message})"):
            WordCounts.from_corpus([b"x", path], threads=threads)


def test_lzma_alone(tmp_path: Path) -> None:
    (tmp_path / "a.lzma").write_bytes(lzma.compress(TEXT, lzma.FORMAT_ALONE))
    assert texts(tmp_path / "a.lzma") == [TEXT]


def test_text_that_begins_like_a_packed_file(tmp_path: Path) -> None:
    for text in (b"BZh9", b"BZh91AY", b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"ARROW1"):
        (tmp_path / "a.txt").write_bytes(text)
        assert texts(tmp_path / "a.txt") == [text]


@packed
def test_a_bomb_takes_time_but_no_memory(suffix: str, tmp_path: Path) -> None:
    size = 48 << 20
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(PACKERS[suffix](bytes(size)))
    assert path.stat().st_size < size // 500
    tracemalloc.start()
    try:
        (document,) = Reading(path)
        assert sum(map(len, document.open())) == size
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_zstd_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(bytepair.FormatError, match=r"pip install 'bytepair\[data\]'"):
        texts(tmp_path / "a.zst")


def test_zstd_frames_that_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(TEXT))
    assert texts(tmp_path / "a") == [TEXT]


# --- archives


def tar(path: Path, members: dict[str, bytes], mode: str = "w", **kinds: bytes) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.type = kinds.get(name.replace("/", "_"), tarfile.REGTYPE)
            if info.type in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                info.linkname, info.size = "a.txt", 0
            archive.addfile(info, io.BytesIO(data))
    return path


MEMBERS = {
    "b.txt": b"b\r\n", "./a.txt": b"", "in/.hidden": b"no", ".git/x": b"no", "/etc/passwd": b"absolute",
    "../../up.txt": b"up", "l.jsonl": b'{"text": "one"}\n{"text": "two"}\n', "z.txt.gz": gzip.compress(b"zipped"),
    "n" * 300: b"long name", "big": b"0123456789abcde\n" * 10_000, "last": b"last",
}  # fmt: skip
INSIDE = [
    b"b\r\n", b"", b"absolute", b"up", b"one", b"two", b"zipped", b"long name", MEMBERS["big"], b"last",
]  # fmt: skip


@pytest.mark.parametrize(("name", "mode"), [
    ("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tgz", "w:gz"), ("a.tar.xz", "w:xz"), ("a.TAR.BZ2", "w:bz2"),
])  # fmt: skip
def test_tar(name: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bytepair.corpus.readers.PIECE", 1 << 16)  # "big" is longer, and not held
    folder = tmp_path / "in"
    folder.mkdir()
    path = tar(folder / name, {**MEMBERS, "link": b"", "hard": b""}, mode, link=tarfile.SYMTYPE, hard=tarfile.LNKTYPE)
    monkeypatch.chdir(folder)
    assert texts(path) == texts(files(path, format=None)) == texts(folder) == INSIDE
    with open(path, "rb") as file:
        assert texts(io.BytesIO(file.read())) == INSIDE  # what has no name is told by its bytes
    assert [document.name for document in Reading(path)][:3] == [
        f"{path}!b.txt",
        f"{path}!./a.txt",
        f"{path}!/etc/passwd",
    ]
    for threads in (1, 2, 3):
        assert WordCounts.from_corpus(path, threads=threads) == WordCounts.from_corpus(INSIDE, threads=1)
    assert os.listdir(folder) == [name]  # nothing was unpacked to the disk
    assert texts(files(path, format="raw")) == [path.read_bytes()]


def test_by_line_and_policies_reach_into_archives(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar", {"a": b"x\ny\xff\n"})
    assert named(files(path, by="line")) == [("a.tar!a:1", b"x\n"), ("a.tar!a:2", b"y\xff\n")]
    with pytest.raises(bytepair.FormatError, match=r"a\.tar!a: byte 0xFF at byte offset 3"):
        texts(files(path, errors="strict"))
    assert texts(files(path, encoding="latin-1")) == ["x\nyÿ\n".encode()]
    path = tar(tmp_path / "b.tar", {"a": b'{"x": "y"}'})
    assert texts(files(path, format="jsonl", field="x")) == [b"y"]


def test_damaged_tars(tmp_path: Path) -> None:
    whole = tar(tmp_path / "a.tar", {"a": b"x" * 3000, "b": b"y" * 3000, "c": b"z"}).read_bytes()
    second = 512 + 3072
    broken = bytearray(whole)
    broken[second : second + 20] = b"#" * 20  # the header of "b": tarfile takes this for the end
    for data, message in [
        (whole[: second + 700], "cut off or damaged"), (whole[: second + 100], "cut off or damaged"),
        (bytes(broken), "no header where one should be"), (b"no tar at all", "cut off or damaged"), (b"", "cut off"),
    ]:  # fmt: skip
        (tmp_path / "b.tar").write_bytes(data)
        with pytest.raises(bytepair.FormatError, match=rf"b\.tar: the tar archive .*{message}|b\.tar.*{message}"):
            texts(tmp_path / "b.tar")
    (tmp_path / "c.tar.gz").write_bytes(gzip.compress(whole)[:-8])
    with pytest.raises(bytepair.FormatError, match=r"c\.tar\.gz: the gzip data is cut off"):
        texts(tmp_path / "c.tar.gz")
    (tmp_path / "d.tar").write_bytes(whole + whole)
    with pytest.warns(bytepair.BytepairNotice, match="follows the end of the archive"):
        assert texts(tmp_path / "d.tar") == [b"x" * 3000, b"y" * 3000, b"z"]
    (tmp_path / "e").write_bytes(whole)
    with pytest.raises(bytepair.FormatError, match="is a tar archive; name it"):
        texts(tmp_path / "e")
    assert texts(files(tmp_path / "e", format="text")) == [whole]


def test_a_header_cannot_fill_the_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 32
    (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(4096))
    with pytest.raises(bytepair.FormatError, match="a header of 4294967296 bytes"):
        texts(tmp_path / "a.tar")


def test_an_archive_in_an_archive_is_told_of(tmp_path: Path) -> None:
    inner = tar(tmp_path / "in.tar", {"x": b"x"}).read_bytes()
    path = tar(tmp_path / "out.tar", {"in.tar": inner, "t": b"t"})
    with pytest.warns(bytepair.BytepairNotice, match="out.tar!in.tar is an archive in an archive"):
        assert texts(path) == [inner, b"t"]
    path = tar(tmp_path / "p.tar", {"a.parquet": b"PAR1"})
    with pytest.raises(bytepair.FormatError, match=r"a\.parquet.*unpack the archive"):
        texts(path)


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "b.txt")
        archive.mkdir("folder") if hasattr(archive, "mkdir") else None
    return path


def test_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bytepair.corpus.readers.PIECE", 1 << 16)
    path = zipped(tmp_path / "a.zip", MEMBERS)
    assert texts(path) == texts(tmp_path) == INSIDE
    for threads in (1, 2):
        assert WordCounts.from_corpus(path, threads=threads) == WordCounts.from_corpus(INSIDE, threads=1)
    data = path.read_bytes()
    for bad in (data[:-30], data[:100], b"", b"PK"):
        path.write_bytes(bad)
        with pytest.raises(bytepair.FormatError, match=r"a\.zip: the zip archive is cut off or damaged"):
            texts(path)
    broken = bytearray(data)
    broken[data.index(b"big") + 50] ^= 255
    path.write_bytes(broken)
    with pytest.raises(bytepair.FormatError, match=r"a\.zip: the zip archive is cut off or damaged"):
        texts(path)


def test_a_zip_that_is_encrypted_or_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a": b"x"})
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    path.write_bytes(data)
    with pytest.raises(bytepair.FormatError, match="a is encrypted"):
        texts(path)
    size = 48 << 20
    path = zipped(tmp_path / "bomb.zip", {"bomb": bytes(size)})
    tracemalloc.start()
    try:
        lengths = [sum(map(len, document.open())) for document in Reading(path)]
        assert lengths == [size]
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
