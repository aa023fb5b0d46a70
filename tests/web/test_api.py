"""What the page asks and what it is told, without a browser."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bytepair
from bytepair import showing
from bytepair.playground import answers, lessons, routes, shelf, texts

HOSTILE = (
    "<script>alert(1)</script>\x00\x1b[31m \u202eevil\u202c \u200b\ufeff e\u0301 \U0001f44b\U0001f3fd\r\n\t'\"&amp;"
)


def shown(token: dict) -> str:
    return "".join(token["parts"])


# ---- the page's own files ----


def test_every_file_is_served_with_its_type(client) -> None:
    there = {path.name for path in (resources.files("bytepair.playground") / "page").iterdir()}
    assert there == set(routes.FILES)
    for name, kind in routes.FILES.items():
        answer = client.get("/" if name == "index.html" else f"/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].partition(";")[0] == kind


def test_nothing_in_the_page_is_inline_or_from_elsewhere() -> None:
    folder = Path(str(resources.files("bytepair.playground"))) / "page"
    page = (folder / "index.html").read_text("utf-8")
    assert " style=" not in page
    assert "<style" not in page
    assert page.count("<script") == page.count('<script type="module" src="main.js"></script>') == 1
    for path in folder.iterdir():
        text = path.read_text("utf-8")
        assert "https:" not in text
        assert text.count("http:") == text.count("http://www.w3.org/"), path.name
        if path.suffix == ".js":
            for bad in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
                assert bad not in text, path.name


@pytest.mark.parametrize("path", ["/../routes.py", "/page/main.js", "/%2e%2e/guard.py", "/etc/passwd", "/index.html"])
def test_no_other_file_is_served(client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_wrong_methods(client) -> None:
    assert client.get("/api/encode").status_code == 405
    assert client.post("/").json() == {"error": "Method Not Allowed"}


# ---- texts ----


def test_what_there_is_to_begin_with(client) -> None:
    state = client.get("/api/state").json()
    assert state["tokenizers"][:2] == [{"name": "low.json", "kind": "given"}, {"name": "gpt2", "kind": "bundled"}]
    assert state["first"] == ["low.json"]
    assert [e["merges"] for e in state["training"]["examples"]] == [18, 10]


def test_side_by_side(encode) -> None:
    found = encode("it's 1234567", "gpt2", "cl100k_base")
    assert (found["bytes"], found["characters"]) == (12, 12)
    gpt2, cl100k = found["sides"]
    assert gpt2["first"]["ids"] == bytepair.load("gpt2").encode("it's 1234567")
    assert cl100k["first"]["ids"] == bytepair.load("cl100k_base").encode("it's 1234567")
    assert [shown(cl100k["first"]["tokens"][str(i)]) for i in cl100k["first"]["ids"]] == [
        "it", "'s", " ", "123", "456", "7",
    ]  # fmt: skip
    assert gpt2["first"]["differs"] == [2, 3, 4]  # " 123", "45", "67"
    assert cl100k["first"]["differs"] == [2, 3, 4, 5]
    assert (gpt2["differs"], cl100k["differs"]) == (3, 4)
    assert gpt2["facts"]["tokens"] == 50257


def test_special_tokens_only_when_asked(encode) -> None:
    assert encode("<eos>")["sides"][0]["tokens"] == 5
    side = encode("<eos>", specials=True)["sides"][0]
    assert side["first"]["ids"] == [2]
    assert side["first"]["tokens"]["2"] == {"parts": ["<eos>"], "bytes": "3C 65 6F 73 3E", "special": True}


def test_hostile_text_comes_in_signs(encode) -> None:
    side = encode(HOSTILE)["sides"][0]
    tokens = [side["first"]["tokens"][str(i)] for i in side["first"]["ids"]]
    signs = "".join(part for token in tokens for part in token["parts"][1::2])
    plain = "".join(part for token in tokens for part in token["parts"][::2])
    assert plain.startswith("<script>alert(1)</script>")
    assert plain.isprintable()
    for sign in ("␀", "␛", "␍", "↵\n", "⇥", "⟨E2⟩"):
        assert sign in signs
    assert "\u202e" not in signs


def test_bytes_that_are_no_utf8(encode) -> None:
    side = encode(b"\xff\xfelow")["sides"][0]
    assert [shown(side["first"]["tokens"][str(i)]) for i in side["first"]["ids"]] == ["⟨FF⟩", "⟨FE⟩", "low"]


def test_nothing(encode) -> None:
    found = encode("")
    assert found["sides"][0]["tokens"] == 0
    assert found["sides"][0]["blocks"] == [0]
    assert found["sides"][0]["first"] is None


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_what_is_shown_is_what_showing_shows(encode, low, text: str) -> None:
    side = encode(text, "low.json", "gpt2")["sides"][0]
    first = side["first"] or {"ids": [], "tokens": {}}
    assert first["ids"] == low.encode(text)
    for piece, i in zip(showing.pieces(low, first["ids"]), first["ids"]):
        wanted = "".join(p.text + "\n" * (p == ("↵", True)) for p in showing.signed(piece, False))
        assert shown(first["tokens"][str(i)]) == wanted


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["low", "\n", " lower", "x\n", "é", "a" * 9]), max_size=60), st.integers(2, 9))
def test_blocks_cover_the_text_and_end_where_lines_do(words: list[str], size: int) -> None:
    low = bytepair.train("low low lower lowest", num_merges=4)
    encoded = texts.Encoded(shelf.Shelved("low", low), "".join(words).encode(), False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "BLOCK", size)
        borders = encoded.blocks
    assert borders[0] == 0
    assert borders[-1] == len(encoded.ids)
    for begin, end in zip(borders, borders[1:]):
        assert 0 < end - begin <= size
        ends_line = [low.vocab[i].endswith(b"\n") for i in encoded.ids[begin:end].tolist()]
        if end != borders[-1] and not ends_line[-1]:  # no line ended where the block could have
            whole = [low.vocab[i].endswith(b"\n") for i in encoded.ids[begin : begin + size].tolist()]
            assert not any(whole[size // 4 :])


THREE = [
    shelf.Shelved(corpus, bytepair.train(corpus, num_merges=1, pattern="gpt2"))
    for corpus in ("low low lower lowest", "abc abc wl wl 11", "x1 x1 x1")
]


@settings(max_examples=60)
@given(st.text("abc low1\n", max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_differing_equals_the_plain_way(text: str, begin: int, end: int) -> None:
    made = [texts.Encoded(one, text.encode(), False) for one in THREE]

    def spans(encoded: texts.Encoded) -> list[tuple[int, int]]:
        ends = [0, *encoded.ends.tolist()]
        return list(zip(ends, ends[1:]))

    for one in made:
        others = [set(spans(other)) for other in made if other is not one]
        wanted = [k for k, s in enumerate(spans(one)[begin:end]) if not all(s in other for other in others)]
        got = one.differing([other for other in made if other is not one], begin, max(begin, end)).tolist()
        assert got == (wanted if begin <= end else [])


def test_a_long_text_comes_in_blocks(client, encode) -> None:
    text = "".join(f"{n} low lower lowest\n" for n in range(3000))
    found = encode(text, "low.json", "gpt2")
    side = found["sides"][0]
    assert side["blocks"][0] == 0
    assert side["blocks"][-1] == side["tokens"] > 10_000
    assert len(json.dumps(found)) < 60_000
    ids: list[int] = []
    query = {"text": found["text"], "tokenizer": "low.json", "beside": "gpt2"}
    for number in range(len(side["blocks"]) - 1):
        block = client.get("/api/block", params=query | {"block": number}).json()
        assert block["start"] == side["blocks"][number]
        ids += block["ids"]
    assert bytepair.load("gpt2").decode_bytes(bytepair.load("gpt2").encode(text)) == text.encode()
    assert len(ids) == side["tokens"]
    answer = client.get("/api/block", params=query | {"block": 9999})
    assert answer.status_code == 400
    assert "there is no block 9999" in answer.json()["error"]


def test_a_text_that_is_not_kept_any_more(client) -> None:
    answer = client.get("/api/block?text=0123&tokenizer=low.json&block=0")
    assert answer.status_code == 410
    assert answer.json() == {"error": "this text is not kept any more; send it again", "gone": True}


def test_texts_are_kept_within_a_bound(low) -> None:
    kept = texts.Texts(held=1000)
    first = kept.put(b"a" * 400)
    for letter in (b"b", b"c", b"d"):
        last = kept.put(letter * 400)
    assert kept.size <= 1000
    assert kept.text(last) == b"d" * 400
    with pytest.raises(texts.GoneError, match="not kept any more"):
        kept.text(first)
    kept.encoded(last, shelf.Shelved("low", low), False)  # the newest text stays, however large
    assert kept.text(last)


def test_one_vocabulary_that_fails_leaves_the_others(encode) -> None:
    sides = encode("low", "low.json", "gone.json")["sides"]
    assert sides[0]["tokens"] == 1
    assert sides[1] == {
        "tokenizer": "gone.json",
        "error": "there is no tokenizer 'gone.json' here any more; drop its file again",
    }


def test_a_name_is_never_a_path(client, encode, tmp_path: Path, low) -> None:
    path = tmp_path / "secret.json"
    low.save(path)
    assert "there is no tokenizer" in encode("low", str(path))["sides"][0]["error"]
    assert client.get("/api/why", params={"tokenizer": str(path), "id": 262}).status_code == 400
    assert client.get("/api/tree.svg", params={"tokenizer": "../" + path.name, "id": 262}).status_code == 400


def test_limits(client, monkeypatch) -> None:
    assert client.post("/api/encode", content="low").status_code == 400
    many = [("tokenizer", "low.json")] * 7
    assert "side by side" in client.post("/api/encode", params=many, content="low").json()["error"]
    monkeypatch.setattr(routes, "LARGEST_TEXT", 1000)
    for content in (b"x" * 1001, iter([b"x" * 600, b"x" * 600])):  # with its length told, and without
        answer = client.post("/api/encode?tokenizer=low.json", content=content)
        assert (answer.status_code, answer.json()) == (413, {"error": "a text may have up to 1,000 bytes here"})
    assert client.post("/api/encode?tokenizer=low.json", content=b"x" * 1000).status_code == 200


# ---- where tokens come from ----


def test_why(client) -> None:
    found = client.get("/api/why?tokenizer=low.json&id=263").json()
    facts = {fact["name"]: fact for fact in found["facts"]}
    assert facts["merged from"]["tokens"] == [262, 125]
    assert facts["rank"]["text"] == "1"
    assert facts["count"]["text"] == "the pair came 4 times when it won"
    assert facts["first seen in"]["words"] == [["low"], [" low"], [" lower"]]
    assert facts["merged on into"]["tokens"] == [264]
    assert found["tree"][0] == "low  263  rank 1"
    assert found["picture"] is True
    assert {"263", "262", "125", "264"} <= found["tokens"].keys()


def test_why_of_a_symbol_a_special_and_nothing(client) -> None:
    for number, sort in ((103, "a symbol of the alphabet"), (2, "a special token")):
        found = client.get(f"/api/why?tokenizer=low.json&id={number}").json()
        assert sort in found["facts"][2]["text"]
        assert found["tree"] is None
        assert client.get(f"/api/tree.svg?tokenizer=low.json&id={number}").status_code == 400
    for number in ("9999", "-1", "x", "", "9" * 40, "１"):
        answer = client.get("/api/why", params={"tokenizer": "low.json", "id": number})
        assert answer.status_code == 400
        assert "id" in answer.json()["error"]


def test_a_hostile_token_in_a_picture() -> None:
    tok = bytepair.Tokenizer.from_merges([(b"<", b"/"), (b"</", b"s")])
    from starlette.testclient import TestClient

    from bytepair.playground import app

    with TestClient(app({"x": tok}), base_url="http://localhost:8000") as other:
        drawn = other.get(f"/api/tree.svg?tokenizer=x&id={tok.token_to_id(b'</s')}").text
    assert "&lt;/s" in drawn
    assert drawn.count("</svg>") == 1


def test_steps_of_the_pretoken(client, encode) -> None:
    key = encode("low lower")["text"]
    found = client.get("/api/steps", params={"text": key, "tokenizer": "low.json", "place": 1}).json()
    assert found["states"][0] == [38, 114, 117, 125, 107, 120]
    assert found["states"][-1] == [265, 120]
    assert [s["rank"] for s in found["steps"]] == [0, 1, 2, 3]
    assert found["number"] == 0
    assert client.get("/api/steps", params={"text": key, "tokenizer": "low.json", "place": 9}).status_code == 400
    long = encode("low " * 6000)["text"]
    answer = client.get("/api/steps", params={"text": long, "tokenizer": "low.json", "place": 1})
    assert "merges are shown for texts of up to 20,000 bytes" in answer.json()["error"]


# ---- ids ----


def test_ids(client) -> None:
    found = client.post("/api/ids", json={"tokenizer": "low.json", "ids": "[263, 264]\n265 , 2"}).json()
    assert found["ids"] == [263, 264, 265, 2]
    assert found["text"] == "low low lowe<eos>"
    assert found["canonical"]["canonical"] is True
    assert found["rows"][3]["kind"] == "special"
    found = client.post("/api/ids", json={"tokenizer": "low.json", "ids": "114 117 201"}).json()
    assert found["canonical"] == {"canonical": False, "place": 0, "given": [114, 117], "expected": [262]}
    assert found["rows"][2]["note"] == "waits for more: C3"


@pytest.mark.parametrize(
    ("text", "says"),
    [("12 abc", "'abc' at character 3 is no id"), ("99999", "id 99999 does not exist"), ("9" * 5000, "is no id"),
     ("-3", "'-' at character 0"), ("<b>", "'<b>' at character 0"), (None, "ids should be text"), ("１", "is no id")],
)  # fmt: skip
def test_wrong_ids(client, text: str | None, says: str) -> None:
    answer = client.post("/api/ids", json={"tokenizer": "low.json", "ids": text})
    assert answer.status_code == 400
    assert says in answer.json()["error"]


def test_many_ids_have_totals_and_the_first_rows(client, monkeypatch) -> None:
    found = client.post("/api/ids", json={"tokenizer": "low.json", "ids": "263 " * 3000}).json()
    assert (found["count"], len(found["rows"])) == (3000, answers.MOST_ROWS)
    monkeypatch.setattr(answers, "MOST_IDS", 10)
    assert client.post("/api/ids", json={"tokenizer": "low.json", "ids": "1 " * 11}).status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff", b'{"tokenizer": 3}', b"{}"])
def test_what_is_no_form(client, body: bytes) -> None:
    for path in ("/api/ids", "/api/train"):
        answer = client.post(path, content=body)
        assert answer.status_code == 400
        assert answer.json()["error"]


# ---- training ----


@pytest.mark.parametrize("example", lessons.examples(), ids=lambda example: example["alphabet"])
def test_the_examples(client, example: dict) -> None:
    found = client.post("/api/train", json=example).json()
    frames, tokens = found["frames"], found["tokens"]
    first = frames[0]
    if example["alphabet"] == "bytes":
        assert first["winner"] == [114, 117, 262, 4]  # l + o
        assert first["n_tied"] == 2
        assert [shown(tokens[str(i)]) for i in first["words"][0][1]] == ["lo", "w"]
    else:
        assert "".join(shown(tokens[str(i)]) for i in first["winner"][:2]) == "er"
        assert first["winner"][3] == 9
        assert len(frames) == 11
        assert [word[2] for word in first["words"]] == [5, 2, 6, 3, 2]
    assert frames[-1]["winner"] is None
    assert found["stopped"]


def test_training_is_kept_when_asked(client, encode) -> None:
    form = lessons.examples()[0] | {"keep": True}
    kept = client.post("/api/train", json=form).json()
    assert kept["name"] == "trained here"
    assert client.post("/api/train", json=form).json()["name"] == "trained here"  # the same one, once
    assert encode("low", "trained here")["sides"][0]["tokens"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [({"corpus": ""}, "nothing to train on"), ({"corpus": 3}, "nothing to train on"),
     ({"corpus": "x" * 20_001}, "too many to watch"), ({"merges": -1}, "merges should be"),
     ({"merges": 1e3}, "merges should be"), ({"merges": True}, "merges should be"),
     ({"min_freq": None}, "min freq should be"), ({"pattern": "(a"}, "pattern should be one of"),
     ({"alphabet": "words"}, "alphabet should be one of"), ({"corpus": "a \ud800"}, "lone surrogate")],
)  # fmt: skip
def test_wrong_training(client, change: dict, says: str) -> None:
    answer = client.post("/api/train", content=json.dumps(lessons.examples()[0] | change))
    assert answer.status_code == 400
    assert says in answer.json()["error"]


# ---- files that are dropped ----


def test_a_file_of_each_kind_is_read_from_its_bytes(client, encode, low, tmp_path: Path) -> None:
    for form, file in (("bytepair", "a.json"), ("huggingface", "tokenizer.json"), ("minbpe", "m.model")):
        low.save(tmp_path / file, format=form) if form != "minbpe" else bytepair.train(
            "low low lower", num_merges=2, specials=(), layout="bytes-first"
        ).save(tmp_path / file, format=form)
        data = (tmp_path / file).read_bytes()
        kept = client.post("/api/tokenizers", params={"name": file}, content=data).json()
        assert kept["name"] == file
        assert encode("low", file)["sides"][0]["tokens"] >= 1


def test_a_file_that_does_not_say_its_pattern(client, low, tmp_path: Path) -> None:
    plain = bytepair.train("low low lower lowest", num_merges=4, specials=(), layout="bytes-first", pattern="al1")
    with pytest.warns(bytepair.BytepairNotice, match="the pattern is not in the file"):
        plain.save(tmp_path / "ranks.tiktoken", format="tiktoken")
    data = (tmp_path / "ranks.tiktoken").read_bytes()
    answer = client.post("/api/tokenizers?name=ranks.tiktoken", content=data)
    assert answer.status_code == 400
    assert "pattern" in answer.json()["error"]
    query = {"name": "ranks.tiktoken", "pattern": "al1"}
    assert client.post("/api/tokenizers", params=query, content=data).json()["name"] == "ranks.tiktoken"


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"{}", b"[" * 100_000, b"\x00" * 100, b'{"format":"bytepair"}', b"\x1f\x8b\x08\x00xx"]
)
def test_a_file_that_is_none(client, data: bytes) -> None:
    answer = client.post("/api/tokenizers?name=x", content=data)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_file_that_is_too_large(client, monkeypatch) -> None:
    monkeypatch.setattr(routes, "LARGEST_FILE", 10)
    answer = client.post("/api/tokenizers?name=x", content=b"x" * 11)
    assert (answer.status_code, answer.json()) == (413, {"error": "a file may have up to 10 bytes here"})


def test_names_are_plain_and_never_twice(low) -> None:
    held = shelf.Shelf({"low.json": low})
    other = bytepair.train("abab", num_merges=1)
    assert held.add("gpt2", other).name == "gpt2 (2)"
    assert held.add("low.json", other).name == "low.json (2)"
    assert held.add("a\u202eb\n" + "x" * 99, other).name.startswith("a\\u202eb x")
    assert len(held.add("y" * 500, other).name) == 60
    assert held.add("", other).name == "unnamed"
    for number in range(shelf.DROPPED):
        held.add(f"n{number}", bytepair.train("abab" + "c" * number, num_merges=1, min_freq=1))
    dropped = [one["name"] for one in held.names() if one["kind"] == "dropped"]
    assert dropped == [f"n{number}" for number in range(shelf.DROPPED)]
    assert held.get("low.json").tokenizer == low


def test_a_very_long_token_is_cut_where_a_character_ends() -> None:
    piece = showing.Piece("é".encode() * 1000 + b"x", False, False)
    assert answers.parts(piece) == ["é" * 150, "⟨1,701 more bytes⟩"]


# ---- whatever is sent ----

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FORMS = st.fixed_dictionaries(
    {},
    optional={
        "tokenizer": st.sampled_from(["low.json", "gpt2", "", "nobody"]) | JSON,
        "ids": st.from_regex(r"[\d ,\[\]-]{0,12}") | JSON,
        "corpus": st.text(max_size=30) | JSON,
        "alphabet": st.sampled_from(["bytes", "characters"]) | JSON,
        "pattern": st.sampled_from(["gpt2", "al1", "none", "(", ""]) | JSON,
        "merges": st.integers(-1, 12) | JSON,
        "min_freq": st.integers(0, 3) | JSON,
        "keep": st.booleans() | JSON,
    },
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["/api/ids", "/api/train"]), FORMS | JSON)
def test_every_form_has_an_answer(client, path: str, form: object) -> None:
    # The client raises what the application does not catch.
    answer = client.post(path, content=json.dumps(form))
    assert answer.status_code in (200, 400)
    assert ("error" in answer.json()) is (answer.status_code == 400)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["encode", "tokenizers", "block", "steps", "why", "tree.svg"]),
    st.binary(max_size=40),
    st.dictionaries(
        st.sampled_from(["tokenizer", "id", "text", "block", "place", "beside", "specials", "name", "pattern"]),
        st.sampled_from(["low.json", "262", "0", "1", "-1", "²", "9" * 20, "", "gpt2", "(", "\x00", "\U0001f44b"]),
    ),
)
def test_every_question_has_an_answer(client, path: str, body: bytes, query: dict[str, str]) -> None:
    key = client.post("/api/encode?tokenizer=low.json", content=b"low lower").json()["text"]
    query = query | ({"text": key} if query.get("text") == "1" else {})
    method = "POST" if path in ("encode", "tokenizers") else "GET"
    answer = client.request(method, f"/api/{path}", params=query, content=body if method == "POST" else None)
    assert answer.status_code in (200, 400, 410)
    if answer.status_code != 200:
        assert answer.json()["error"]
