"""The page in a real browser: what a person does with it, with a mouse or without."""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

import bytepair

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(os.environ.get("BYTEPAIR_FULL") != "1", reason="drives a browser; BYTEPAIR_FULL=1 runs it"),
]

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202eevil\u202c \u200b\ufeff\x1b[31m&lt;b&gt; e\u0301"


def pane(page: Any, name: str) -> Any:
    return page.locator(".pane").filter(has=page.locator(f"h2[title={json.dumps(name)}]"))


LOW = bytepair.train("low low lower lowest", num_merges=4, pattern="al1")
"""What the server has as low.json."""


def total(page: Any, name: str, tokens: int) -> None:
    """Wait until a vocabulary has that many tokens."""
    page.wait_for_function(
        "([name, wanted]) => document.querySelector(`h2[title='${name}']`)?.closest('.pane')"
        ".querySelector('.totals strong')?.textContent === wanted",
        arg=[name, f"{tokens:,}"],
    )


def paste(page: Any, text: str) -> None:
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.setData('text/plain', text);
          const field = document.getElementById('text');
          field.focus();
          field.select();
          const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
          if (field.dispatchEvent(event)) document.execCommand('insertText', false, text);
        }""",
        text,
    )


def test_typing_shows_tokens_ids_and_bytes(page) -> None:
    page.fill("#text", "")
    page.locator("#text").press_sequentially("low lowest", delay=15)
    total(page, "low.json", 4)
    tokens = pane(page, "low.json").locator(".token")
    assert tokens.all_text_contents() == ["low", " lowe", "s", "t"]
    ids = [int(i) for i in tokens.evaluate_all("found => found.map((one) => one.dataset.id)")]
    assert ids == LOW.encode("low lowest")
    page.locator("label", has_text="with bytes").click()
    shown = tokens.first.evaluate("one => getComputedStyle(one, '::after').content")
    assert shown == '"6C 6F 77"'


def test_a_later_answer_never_gives_way_to_an_earlier_one(page) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        if not held:
            held.append(route)  # the first answer comes late
        else:
            route.continue_()

    page.route("**/api/encode*", hold)
    page.fill("#text", "low")
    page.wait_for_timeout(400)
    page.fill("#text", "low low low")
    total(page, "low.json", 3)
    assert held
    page.wait_for_timeout(300)
    total(page, "low.json", 3)


def test_side_by_side(page) -> None:
    page.fill("#text", "it's 1234567")
    page.select_option("#add", "cl100k_base")
    total(page, "cl100k_base", 6)
    assert pane(page, "cl100k_base").locator(".token.differs").count() >= 1
    assert page.locator("#legend").is_visible()
    assert page.locator(".pane").count() == 3
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('cl100k_base: 6 tokens')")
    pane(page, "low.json").locator(".cross").click()
    page.wait_for_function("() => document.querySelectorAll('.pane').length === 2")


def test_a_click_shows_the_tree_and_a_part_can_be_asked_about(page) -> None:
    page.fill("#text", "lower")
    total(page, "low.json", 3)
    pane(page, "low.json").locator(".token").first.click()
    page.wait_for_selector("#why dl")
    assert "Token 263" in page.locator("#why").text_content()
    assert "the pair came 4 times when it won" in page.locator("#why").text_content()
    page.wait_for_function("() => document.querySelector('#why img')?.naturalWidth > 50")
    page.wait_for_selector("#why .steps li")
    assert page.locator("#why .steps li").count() == 3
    page.locator("#why dd button").first.click()
    page.wait_for_function("() => document.querySelector('#why h2').textContent === 'Token 262'")
    page.locator("#why header button", has_text="Back").click()
    page.wait_for_function("() => document.querySelector('#why h2').textContent === 'Token 263'")


def test_ids_say_what_they_are(page) -> None:
    page.click("#tab-ids")
    page.select_option("#ids-tokenizer", "low.json")
    page.fill("#ids", "[114, 117, 201]")
    page.wait_for_selector("#ids-answer .bad")
    assert page.locator("#ids-table tbody tr").count() == 3
    assert "waits for more: C3" in page.locator("#ids-table").text_content()
    page.fill("#ids", "263 264")
    page.wait_for_selector("#ids-answer .good")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#ids-answer button", has_text="Copy the text").click()
    page.wait_for_selector("#ids-answer button:text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == "low low"
    page.fill("#ids", "263 x")
    page.wait_for_selector("#ids-answer .error")
    assert "'x' at character 4" in page.locator("#ids-answer").text_content()


def test_training_step_by_step(page) -> None:
    page.click("#tab-training")
    page.locator("#examples button").nth(1).click()
    page.wait_for_selector("#pairs li.won")
    assert page.locator("#step").get_attribute("max") == "10"
    winner = page.locator("#winner")
    assert "Merge 1 of 10" in winner.text_content()
    page.focus("#step")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "Merge 4 of 10" in winner.text_content()
    assert page.locator("#words li.changed").count() == 2
    page.focus("#forth")
    page.keyboard.press("ArrowLeft")
    assert "Merge 3 of 10" in winner.text_content()
    page.focus("#step")
    page.keyboard.press("End")
    assert "The end, after 10 merges" in winner.text_content()
    assert page.locator("#learned li").count() == 10
    page.fill("#corpus", "ababab <b>ab</b>")
    page.select_option("#alphabet", "bytes")
    page.click("#train")
    page.wait_for_function("() => document.querySelector('#winner').textContent.includes('Merge 1 of')")
    page.click("#keep")
    page.wait_for_selector("h2[title='trained here']")


def drop(page: Any, name: str, data: bytes) -> None:
    page.evaluate(
        """([name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
          for (const kind of ['dragenter', 'dragover', 'drop'])
            document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        [name, b64encode(data).decode()],
    )


def test_files_are_dropped(page, tmp_path: Path) -> None:
    bytepair.train("abab abab", num_merges=2).save(tmp_path / "mine.json")
    drop(page, "mine.json", (tmp_path / "mine.json").read_bytes())
    page.wait_for_selector("h2[title='mine.json']")
    page.fill("#text", "abab")
    total(page, "mine.json", 1)
    drop(page, "<b>bad</b>.json", b"{<script>alert(1)</script>")
    page.wait_for_selector("#alert p")
    assert page.locator("#alert b, #alert script").count() == 0
    assert page.locator("#alert").text_content().startswith("<b>bad</b>.json: ")
    page.set_input_files("#file", tmp_path / "mine.json")
    page.wait_for_function("() => !document.querySelector('#alert p')")


def test_a_link_has_the_state(page, address: str, browser) -> None:
    text = "déjà vu \n\t<b>low</b> \U0001f44b"
    page.fill("#text", text)
    page.select_option("#add", "o200k_base")
    page.locator("label", has_text="with ids").click()
    page.wait_for_function("() => location.hash.length > 30")
    page.wait_for_timeout(900)
    link = page.url
    context = browser.new_context()
    other = context.new_page()
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(link)
    other.wait_for_selector("h2[title='o200k_base']")
    assert other.input_value("#text") == text
    assert other.is_checked("input[value=ids]")
    assert other.locator(".pane").count() == 3
    assert not any("#" in url.partition("/api")[2] for url in asked)
    for bad in ("#1.%%%", "#1.AAAA", "#1." + "A" * 9999, "#nonsense"):
        other.goto("about:blank")
        other.goto(address + bad)
        other.wait_for_selector("body[data-ready] .flow .token")
    context.close()


def fragment(state: dict[str, Any]) -> str:
    """A state as the address has it."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return "#1." + urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_link_to_a_file_that_is_not_here(page, address: str, tmp_path: Path) -> None:
    page.goto("about:blank")
    page.goto(address + fragment({"text": "abab", "names": ["mine.json", 3], "view": "nowhere"}))
    page.wait_for_selector("h2[title='gpt2']")  # names that are none are nothing
    page.goto("about:blank")
    page.goto(address + fragment({"text": "abab", "names": ["gone.json", "gpt2"]}))
    page.wait_for_selector(".pane .error")
    assert "there is no tokenizer 'gone.json' here" in pane(page, "gone.json").text_content()
    bytepair.train("abab abab", num_merges=2).save(tmp_path / "gone.json")
    page.set_input_files("#file", tmp_path / "gone.json")
    total(page, "gone.json", 1)


def test_without_a_mouse(page) -> None:
    page.fill("#text", "low lowest\nlower low")
    total(page, "low.json", LOW.count("low lowest\nlower low"))
    page.click("h1")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    reached: list[str] = []
    while not (reached and reached[-1].endswith("-flow")):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name || 'cross'"))
        # What has the focus can be seen to have it; a choice among several shows it on its label.
        where = "document.activeElement" + (".nextElementSibling" if reached[-1] == "show" else "")
        assert page.evaluate(f"getComputedStyle({where}).outlineStyle") != "none", reached
        assert len(reached) < 30
    assert {"tab-text", "share", "text", "add", "open", "specials"} <= set(reached)
    flow = page.evaluate("document.activeElement.id")
    active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).ariaLabel"
    assert page.evaluate(active) == "low, id 263"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(active) == " lowe, id 265"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(active) != " lowe, id 265"
    page.keyboard.press("End")
    assert page.evaluate(active) == " low, id 264"
    page.keyboard.press("Enter")
    page.wait_for_selector("#why dl")
    assert page.evaluate("document.activeElement.id") == "why-title"
    page.keyboard.press("Escape")
    assert page.locator("#why").is_hidden()
    assert page.evaluate("document.activeElement.id") == flow
    page.focus("#tab-text")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-ids"
    assert page.locator("#panel-ids").is_visible()
    page.wait_for_function("() => document.querySelector('#status').textContent.includes('low.json: ')")


def test_every_control_has_a_name(page) -> None:
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea, [role=listbox], [role=region]')]
          .filter((one) => !one.closest('[hidden]'))
          .filter((one) => !(one.ariaLabel || one.textContent.trim() || one.labels?.length ||
                             one.getAttribute('aria-labelledby')))
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


LUMINANCE = """(found) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(found);
  let ground = found;
  while (/, 0\\)|transparent/.test(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
  const [a, b] = [light(style.color), light(getComputedStyle(ground).backgroundColor)].sort();
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@pytest.mark.parametrize("options", [{"color_scheme": "light"}, {"color_scheme": "dark"}], ids=["light", "dark"])
def test_light_and_dark_can_be_read(page, options) -> None:
    page.fill("#text", "low \x01 <eos> lower")
    page.check("#specials")
    page.wait_for_selector(".token.special")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(252, 251, 248)"
    assert dark is (options["color_scheme"] == "dark")
    for selector in (
        ".token.a",
        ".token.b",
        ".token.special",
        ".sign",
        ".faint",
        ".totals strong",
        "#tab-ids",
        ".hint",
    ):
        assert page.locator(selector).first.evaluate(LUMINANCE) >= 4.5, selector


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}}], ids=["narrow"])
def test_a_narrow_screen_scrolls_one_way_only(page, options) -> None:
    page.fill("#text", "x" * 300 + " 1234567 " + "\u4f60\u597d" * 50)
    page.wait_for_timeout(500)
    for tab in ("text", "ids", "training"):
        page.click(f"#tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab


@pytest.mark.parametrize("options", [{"reduced_motion": "reduce"}], ids=["reduced"])
def test_nothing_moves_where_that_is_not_wanted(page, options) -> None:
    page.click("#tab-training")
    page.locator("#examples button").first.click()
    page.wait_for_selector(".bar")
    assert page.locator(".bar").first.evaluate("one => getComputedStyle(one).transitionDuration") in ("0s", "0ms")


def test_hostile_text_is_shown_harmlessly(page) -> None:
    page.fill("#text", HOSTILE)
    page.wait_for_function("() => document.querySelector('.flow').textContent.includes('onerror')")
    flow = pane(page, "gpt2").locator(".flow")
    shown = flow.text_content()
    assert "<script>alert(2)</script>" in shown
    for hidden in ("\u202e", "\u202c", "\u200b", "\ufeff", "\x1b"):
        assert hidden not in shown
    assert flow.locator("img, script, b").count() == 0
    for at in range(0, 12, 3):
        flow.locator(".token").nth(at).click()
        page.wait_for_selector("#why dl")
    page.click("#tab-training")
    page.fill("#corpus", HOSTILE * 2)
    page.click("#train")
    page.wait_for_selector("#pairs li")
    assert page.locator("#replay script, #replay img").count() == 0


WATCHED = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
  }).observe({ entryTypes: ['longtask'] });
}"""


def words(size: int) -> str:
    line = "It was the best of times, it was the worst of times; 1234 naïve résumés.\n"
    return "".join(f"{n} {line}" for n in range(size // len(line)))


def test_a_megabyte_stays_responsive(page) -> None:
    """The page's own work on a megabyte is at most a few times its work on a twentieth of that."""
    small, large = words(50_000), words(1_000_000)
    gpt2 = bytepair.load("gpt2")
    page.evaluate(WATCHED)
    longest = []
    for text in (small, large):
        page.evaluate("window.longest = 0")
        paste(page, text)
        total(page, "gpt2", gpt2.count(text))
        page.wait_for_timeout(300)
        longest.append(page.evaluate("window.longest"))
    assert longest[1] < 4 * longest[0] + 500, longest
    assert page.locator("#kept").is_visible()
    assert page.locator(".token").count() < 20_000  # of some 600,000
    # In the middle and at the end the tokens come when they are looked at.
    flow = pane(page, "gpt2").locator(".flow")
    flow.evaluate("one => { one.scrollTop = one.scrollHeight / 2; }")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.pane')].at(-1).querySelectorAll('.block:not(:empty)').length > 1"
    )
    flow.focus()
    page.keyboard.press("End")
    last = gpt2.encode(large)[-1]
    page.wait_for_function(
        "wanted => document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        "?.dataset.id === wanted",
        arg=str(last),
    )
    # Input is still handled at once: a frame after a key the field has it, and the tokens follow.
    page.click("#clear")
    page.locator("#text").press_sequentially("low")
    total(page, "low.json", 1)


def test_ten_megabytes_are_shown_or_refused_in_words(page) -> None:
    text = "<b>\u202e lower\n" * (9_000_000 // 14)
    paste(page, text)
    page.wait_for_function(
        "() => Number(document.querySelector('.totals strong')?.textContent.replaceAll(',', '')) > 1000000",
        timeout=240_000,
    )
    paste(page, "x" * (11 << 20))
    page.wait_for_selector(".pane .error")
    assert "are encoded here" in page.locator(".pane .error").first.text_content()
    page.click("#clear")
    page.fill("#text", "low")
    total(page, "low.json", 1)
