"""Small inputs that broke real tokenizers, each found in a public bug report, through the public names."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bytepair


def byte_tokenizer(pattern: str = "gpt2", specials: tuple[str, ...] = ()) -> bytepair.Tokenizer:
    """A tokenizer without any merge; byte b has id b + the number of specials."""
    return bytepair.Tokenizer.from_merges([], pattern=pattern, specials=specials)


def learned(tok: bytepair.Tokenizer) -> list[bytes]:
    return [tok.vocab[token] for token in tok.merges.values()]


def train_to_the_end(corpus: object, **options: object) -> bytepair.Tokenizer:
    """Train until no pair is left, which gives a notice."""
    with pytest.warns(bytepair.BytepairNotice):
        return bytepair.train(corpus, vocab_size=2000, specials=(), **options)


# ---- Long runs: no crash, and time that grows with the length ----


def growth(work: Callable[[int], None], size: int, attempts: int = 5) -> float:
    """Processor time at four times the size over that at the size: the best of several attempts each, in turn.

    Linear work gives 4 and quadratic work 16, so that a busy machine does not blur which of the two it is.
    """
    best = [float("inf")] * 2
    for _ in range(attempts):
        for place, length in enumerate((size, 4 * size)):
            start = time.process_time()
            work(length)
            best[place] = min(best[place], time.process_time() - start)
    return best[1] / best[0]


@pytest.fixture(scope="module")
def runs() -> bytepair.Tokenizer:
    """A tokenizer with merges for runs of each of the characters, so that a run gives it work."""
    corpus = [character * 64 for character in "a^ \n"]
    return bytepair.train(corpus, num_merges=20, pattern="none", specials=(), min_freq=1)


@pytest.fixture(scope="module")
def run_length(engine_name: str) -> int:
    return 1_000_000 if engine_name == "core" else 40_000


@pytest.mark.parametrize("character", ["a", "^", " ", "\n"])
@pytest.mark.parametrize("pattern", ["none", "gpt2"])
def test_a_long_run_of_one_character(runs: bytepair.Tokenizer, run_length: int, character: str, pattern: str) -> None:
    merges = list(runs.merges)
    tok = bytepair.Tokenizer.from_merges(merges, pattern=pattern)
    text = character * run_length
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert len(ids) < len(text) / 4
    assert tok.count(text) == len(ids)


@pytest.mark.parametrize("character", ["a", "^", " ", "\n"])
def test_a_long_run_never_takes_quadratic_time(runs: bytepair.Tokenizer, run_length: int, character: str) -> None:
    assert growth(lambda length: runs.encode_array(character * length), run_length // 4) < 8


def test_training_on_a_long_run_never_takes_quadratic_time(run_length: int) -> None:
    def work(length: int) -> None:
        bytepair.train("a" * length, num_merges=8, pattern="none", specials=())

    assert growth(work, run_length // 8) < 8


# ---- Patterns ----


def test_a_pattern_drops_nothing() -> None:
    tok = bytepair.Tokenizer.from_merges([], pattern=bytepair.Pattern("[a-z]+"))
    assert tok.pretokens("ab1cd") == [b"ab", b"1", b"cd"]
    assert tok.pretokens("?ab12cd\n") == [b"?", b"ab", b"12", b"cd", b"\n"]
    assert tok.decode(tok.encode("?ab12cd\n")) == "?ab12cd\n"


def test_a_pattern_that_can_match_nothing_is_refused() -> None:
    with pytest.raises(bytepair.PatternError, match=r"a\*"):
        bytepair.train("aaa", pattern=bytepair.Pattern("a*"))
    with pytest.raises(bytepair.PatternError, match=r"a\*"):
        bytepair.Tokenizer.from_merges([], pattern="a*")


@pytest.mark.parametrize(
    ("text", "pretokens"),
    [
        ("\n\n\nx", ["\n\n", "\n", "x"]),
        ("x\r\ny", ["x", "\r", "\n", "y"]),
        ("a  b   ", ["a", " ", " b", "   "]),
    ],
)
def test_white_space_under_gpt2(text: str, pretokens: list[str]) -> None:
    assert byte_tokenizer().pretokens(text) == [piece.encode() for piece in pretokens]


# ---- Bytes and text ----


def test_half_a_character_decodes_to_one_replacement() -> None:
    tok = byte_tokenizer()
    assert tok.decode([0xF0, 0x9F]) == "\ufffd"
    assert tok.decode([0xF0, 0x9F, ord("a")]) == "\ufffda"
    assert tok.decode_bytes([0xF0, 0x9F]) == b"\xf0\x9f"
    assert tok.encode(b"\xf0\x9f") == [0xF0, 0x9F]


@pytest.mark.parametrize("wrong", [10**6, 256, -1, 2**32 + 5, 2**70])
def test_an_unknown_id_is_named(wrong: int) -> None:
    tok = byte_tokenizer()
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(bytepair.UnknownTokenError, match=str(wrong)):
            call([97, wrong, 98])
    with pytest.raises(bytepair.UnknownTokenError, match=str(wrong)):
        tok.id_to_bytes(wrong)
    with pytest.raises(bytepair.UnknownTokenError, match=str(wrong)):
        tok.decode_batch([[97], [wrong]])


@pytest.mark.parametrize("text", ["\ufeffBOM", "nul\0nul\0", "crlf\r\nlf\ncr\r", "x != y", " \ufeff\0\r\n"])
def test_nothing_in_a_text_is_cleaned_away(text: str, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(text.encode() * 3)
    for corpus in (text * 3, text.encode() * 3, file):
        tok = bytepair.train(corpus, num_merges=2)
        assert tok.decode(tok.encode(text)) == text
        assert tok.decode_bytes(tok.encode(text.encode())) == text.encode()
        assert tok == bytepair.train(text * 3, num_merges=2)


# ---- Special tokens ----


def test_a_special_name_in_a_text_is_text_until_asked() -> None:
    tok = byte_tokenizer(specials=("<s>",))
    x, less, s, more = (tok.byte_base + b for b in b"x<s>")
    assert tok.encode("x<s>") == [x, less, s, more]
    assert tok.encode("x<s>", special="all") == [x, tok.specials["<s>"]]
    assert tok.encode("x<s>", special={"<s>"}) == [x, tok.specials["<s>"]]
    assert tok.encode("x<s>", special=set()) == [x, less, s, more]
    with pytest.raises(bytepair.SpecialTokenError, match=r"<s>.*\b1\b|\b1\b.*<s>"):
        tok.encode("x<s>", special="error")
    with pytest.raises(bytepair.SpecialTokenError, match=r"\b3\b"):
        tok.encode("é👍é<s>", special="error")
    assert tok.encode("x<s", special="error") == [x, less, s]


def test_the_longest_special_name_wins() -> None:
    names = ("<|a|>", "<|a|><|b|>", "<|b|>")
    for order in (names, names[::-1]):
        tok = byte_tokenizer(specials=order)
        assert tok.encode("<|a|><|b|>", special="all") == [tok.specials["<|a|><|b|>"]]
        assert tok.encode("<|b|><|a|>", special="all") == [tok.specials["<|b|>"], tok.specials["<|a|>"]]
        short = {"<|a|>", "<|b|>"}
        assert tok.encode("<|a|><|b|>", special=short) == [tok.specials["<|a|>"], tok.specials["<|b|>"]]


def test_wrong_specials_are_refused() -> None:
    ranks = {bytes([b]): b for b in range(256)}
    for specials in ({"": 256}, {"<a>": 256, "<b>": 256}, {"<a>": 97}):
        with pytest.raises(bytepair.BytepairError):
            bytepair.Tokenizer.from_ranks(ranks, pattern="gpt2", specials=specials)
    for names in (("",), ("<a>", "<a>")):
        with pytest.raises(bytepair.SpecialTokenError):
            byte_tokenizer(specials=names)
        with pytest.raises(bytepair.SpecialTokenError):
            bytepair.train("text", specials=names)


def test_counting_never_raises_because_of_a_special_name() -> None:
    tok = byte_tokenizer(specials=("<s>", "<eos>"))
    assert tok.count("x<s><eos>") == 9
    assert list(tok.count_batch(["<s>", "", "x<eos>"])) == [3, 0, 6]


# ---- Training ----


def test_an_empty_corpus_gives_the_bytes_and_a_notice() -> None:
    for corpus in ("", b"", [], [""], iter([])):
        with pytest.warns(bytepair.BytepairNotice):
            tok = bytepair.train(corpus, vocab_size=300)
        assert tok.vocab_size == 262
        assert len(tok.merges) == 0
        assert tok.decode(tok.encode("é")) == "é"


def test_a_run_of_four() -> None:
    tok = train_to_the_end("aaaa", min_freq=1)
    assert learned(tok) == [b"aa", b"aaaa"]
    assert [tok.record[step].count for step in range(2)] == [3, 1]
    assert tok.record.best_left is None
    tok = train_to_the_end("aaaa")
    assert learned(tok) == [b"aa"]
    assert tok.record.best_left == ((256, 256), 1)


def test_a_tie_goes_to_the_pair_that_stands_first() -> None:
    tok = bytepair.train("ab ab ab cd cd cd", num_merges=2, specials=(), convention="first")
    assert learned(tok) == [b"ab", b" c"]
    assert [tok.record[step].tied for step in range(2)] == [3, 2]


@pytest.mark.parametrize(("convention", "tokens"), [("huggingface", [b"ab", b"cd"]), ("rustbpe", [b" c", b"ab"])])
def test_a_tie_goes_to_the_lowest_numbers(convention: str, tokens: list[bytes]) -> None:
    tok = bytepair.train("ab ab ab cd cd cd", num_merges=2, specials=(), convention=convention)
    assert learned(tok) == tokens


def test_min_freq_stops_and_says_so() -> None:
    tok = train_to_the_end("ab ab cd", min_freq=2)
    assert learned(tok) == [b"ab"]
    assert tok.record.stopped


def test_a_size_under_the_floor_is_refused_at_once() -> None:
    def never_read() -> Iterator[str]:
        pytest.fail("the corpus was read though the size could be refused at once")
        yield ""

    with pytest.raises(bytepair.BytepairError, match="262"):
        bytepair.train(never_read(), vocab_size=261)
    with pytest.raises(bytepair.BytepairError, match="256"):
        bytepair.train(never_read(), vocab_size=255, specials=())


def test_nothing_is_learned_inside_a_special_name() -> None:
    tok = bytepair.train(["x<sep>y"] * 5, num_merges=0, specials=("<sep>",))
    with pytest.warns(bytepair.BytepairNotice):
        assert bytepair.train(["x<sep>y"] * 5, vocab_size=300, specials=("<sep>",)) == tok


def test_a_file_and_an_iterator_give_the_same_merges(tmp_path: Path) -> None:
    text = "a\n\n\nb\n" * 500 + "zq " * 50_000 + "\n" + "a\n\n\nb\n" * 500
    file = tmp_path / "lines.txt"
    file.write_bytes(text.encode())
    from_file = bytepair.train(file, num_merges=3, specials=())
    assert from_file == bytepair.train(iter([text]), num_merges=3, specials=())
    assert from_file == bytepair.train(text, num_merges=3, specials=())
    assert from_file == bytepair.train([file], num_merges=3, specials=())
    assert b"zq" in learned(from_file), "the long line was skipped"
    assert b"\n\n" in learned(from_file)


def test_a_folder_is_its_files_in_order(tmp_path: Path) -> None:
    """The order decides ties, so it must be the same everywhere: by relative path, hidden names left out."""
    texts = {"a/z.txt": "xy", "a.txt": "pq", "b.txt": "mn", "Z.txt": "kl"}
    for name, text in {**texts, ".hidden": "hi", ".git/x": "hi"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text * 3, encoding="utf-8")
    order = sorted(texts, key=lambda name: name.encode())
    tok = bytepair.train(tmp_path, num_merges=4, specials=())
    assert tok == bytepair.train([texts[name] * 3 for name in order], num_merges=4, specials=())
    assert learned(tok)[0] == texts[order[0]].encode()


def test_counts_beyond_32_bits() -> None:
    tok = bytepair.train(bytepair.WordCounts({"  x": 3 * 10**9}), num_merges=1, specials=())
    assert learned(tok) == [b"  "]
    assert tok.record[0].count == 3 * 10**9
    assert tok.record.length_before == 9 * 10**9
    assert tok.record[0].length_after == 6 * 10**9


def test_invalid_bytes_are_kept_as_they_are(tmp_path: Path) -> None:
    data = b"ok\n\xff\xfe bad"
    file = tmp_path / "bad.txt"
    file.write_bytes(data * 3)
    tok = bytepair.train(file, num_merges=3, specials=())
    assert tok == bytepair.train(data * 3, num_merges=3, specials=())
    assert tok.decode_bytes(tok.encode(data)) == data
    assert b"".join(tok.pretokens(data)) == data
    assert b"".join(tok.pieces(data)) == data


# ---- Running ----

TEXTS = ["the cat sat on the mat " * 20, "", "naïve café 👍 " * 30, "def f(x):\n    return x\n" * 25] * 8


@pytest.fixture(scope="module")
def ready() -> bytepair.Tokenizer:
    return bytepair.train(TEXTS, num_merges=30)


FORKING = """
import os, sys, bytepair
tok = bytepair.train(["the cat sat on the mat " * 20] * 8, num_merges=20)
texts = ["the cat sat " * 200] * 64
before = tok.encode_batch(texts, threads=4)
child = os.fork()
if child == 0:
    same = tok.encode_batch(texts, threads=4) == before
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_batch_works_before_and_after_a_fork() -> None:
    """In a process of its own, so that a child that hangs is stopped by the timeout and forks nothing of pytest."""
    done = subprocess.run([sys.executable, "-c", FORKING], timeout=60, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sixteen_threads_on_one_tokenizer(ready: bytepair.Tokenizer) -> None:
    expected = [ready.encode(text) for text in TEXTS]
    fresh = pickle.loads(pickle.dumps(ready))
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            if [fresh.encode(text) for text in TEXTS] != expected or fresh.encode_batch(TEXTS) != expected:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_pickle_gives_the_same_tokenizer(ready: bytepair.Tokenizer) -> None:
    again = pickle.loads(pickle.dumps(ready))
    assert again == ready
    assert hash(again) == hash(ready)
    assert again.fingerprint == ready.fingerprint
    assert again.encode_batch(TEXTS) == ready.encode_batch(TEXTS)
    assert [again.decode(again.encode(text)) for text in TEXTS] == TEXTS
