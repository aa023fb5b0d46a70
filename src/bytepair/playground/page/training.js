// A training on a small corpus, watched: one merge at a time, with the arrow keys or the slider.

import { post } from "./api.js";
import { $, chip, el, many, number } from "./dom.js";

let page;
let seen = null; // the frames

const FIELDS = { corpus: "corpus", alphabet: "alphabet", pattern: "pattern", convention: "convention", merges: "merges", min_freq: "min-freq" };
const NUMBERS = new Set(["merges", "min_freq"]);

export function begin(shared) {
  page = shared;
  const { patterns, conventions, examples, most_merges: most } = page.training;
  $("pattern").append(...patterns.map((name) => el("option", { value: name }, name)));
  $("convention").append(...conventions.map((name) => el("option", { value: name }, name)));
  $("convention-field").hidden = conventions.length < 2;
  $("merges").max = most;
  for (const example of examples) {
    const press = () => { fill(example); train(); };
    $("examples").append(el("button", { class: "quiet", type: "button", onclick: press }, example.title), " ");
  }
  $("lesson").addEventListener("submit", (event) => { event.preventDefault(); train(); });
  $("lesson").addEventListener("input", () => { read(); page.changed(); });
  $("step").addEventListener("input", () => go(Number($("step").value)));
  $("back").addEventListener("click", () => go(page.state.step - 1));
  $("forth").addEventListener("click", () => go(page.state.step + 1));
  $("keep").addEventListener("click", keep);
  $("panel-training").addEventListener("keydown", (event) => {
    const field = event.target.matches("input, textarea, select");
    if (field || !seen || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way) { event.preventDefault(); go(page.state.step + way); }
  });
}

export function restore() {
  const { lesson } = page.state;
  if (!lesson) { fill(page.training.examples[0]); return; }
  fill(lesson);
  if (page.state.trained) train(page.state.step);
}

function fill(lesson) {
  for (const [name, id] of Object.entries(FIELDS)) if (lesson[name] !== undefined) $(id).value = lesson[name];
  read();
}

function read() {
  page.state.lesson = Object.fromEntries(Object.entries(FIELDS).map(([name, id]) =>
    [name, NUMBERS.has(name) ? Math.trunc(Number($(id).value)) : $(id).value]));
  $("pattern-field").hidden = $("alphabet").value !== "bytes";
}

async function train(step = 0) {
  read();
  $("train").disabled = true;
  try {
    const found = await post("api/train", page.state.lesson, { kind: "train" });
    if (!found) return;
    seen = found;
    page.fail("");
  } catch (error) {
    page.fail(error.message);
    return;
  } finally {
    $("train").disabled = false;
  }
  page.state.trained = true;
  $("replay").hidden = false;
  $("step").max = seen.frames.length - 1;
  go(step);
}

async function keep() {
  try {
    const kept = await post("api/train", { ...page.state.lesson, keep: true });
    page.shelved(kept);
  } catch (error) {
    page.fail(error.message);
  }
}

const token = (id, at) => chip(seen.tokens[id], at);

/** Shows the frame before a merge. */
function go(wanted) {
  const step = Math.max(0, Math.min(seen.frames.length - 1, wanted));
  const frame = seen.frames[step];
  page.state.step = step;
  page.changed();
  const [left, right, made, count] = frame.winner ?? [];
  $("step").value = step;
  $("step").setAttribute("aria-valuetext", frame.winner ? `merge ${step + 1} of ${seen.frames.length - 1}` : "the end");
  $("back").disabled = step === 0;
  $("forth").disabled = step === seen.frames.length - 1;
  if (frame.winner) {
    $("winner").replaceChildren(
      el("span", { class: "faint" }, `Merge ${step + 1} of ${seen.frames.length - 1}: `), token(left, 0), " + ", token(right, 1), " → ",
      token(made, 0), el("span", { class: "faint" }, ` id ${made}, ${many(count, "time")}`));
    $("tied").textContent = frame.n_tied
      ? `${frame.n_tied} pairs share this count; the one that stands first in the corpus wins.` : "No other pair is as frequent.";
  } else {
    $("winner").replaceChildren(el("span", {}, `The end, after ${many(step, "merge")}: `), el("span", { class: "faint" }, seen.stopped));
    $("tied").textContent = "";
  }
  words(frame);
  pairs(frame);
  const learned = seen.frames.slice(0, step).map((one, at) => el("li", {},
    el("button", { class: "row-button", type: "button", onclick: () => go(at), "aria-label": `Go to merge ${at + 1}` },
      token(one.winner[2], 0), el("span", { class: "faint" }, ` ${one.winner[2]}`))));
  $("learned").replaceChildren(...learned);
  $("learned-head").textContent = `Learned so far (${number(step)})`;
}

function words(frame) {
  $("words-head").textContent = `The corpus: ${many(frame.length, "token")} before this`;
  if (!frame.winner) $("words-head").textContent = `The corpus: ${many(frame.length, "token")}`;
  const rows = frame.words.map(([before, after, count]) => {
    const row = el("li", {}, el("span", { class: "times faint" }, `${number(count)} ×`), el("span", { class: "chips" }, ...before.map(token)));
    if (before.join() !== after.join()) {
      row.classList.add("changed");
      row.append(el("span", { class: "arrow", "aria-label": "becomes" }, "→"), el("span", { class: "chips" }, ...after.map(token)));
    }
    return row;
  });
  if (frame.n_words > rows.length) rows.push(el("li", { class: "faint" }, `and ${number(frame.n_words - rows.length)} more`));
  $("words").replaceChildren(...rows);
}

function pairs(frame) {
  const most = frame.pairs[0]?.[2] ?? 1;
  const tied = new Set(frame.tied.map((pair) => pair.join()));
  const rows = frame.pairs.map(([left, right, count]) => {
    const won = frame.winner && frame.winner[0] === left && frame.winner[1] === right;
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${(100 * count) / most}%`;
    const note = won ? "wins" : tied.has(`${left},${right}`) ? "tied" : "";
    return el("li", { class: won ? "won" : "" }, el("span", { class: "pair" }, token(left, 0), token(right, 1)),
      el("span", { class: "count" }, number(count)), el("span", { class: "track" }, bar), el("span", { class: "faint" }, note));
  });
  if (frame.n_pairs > rows.length) rows.push(el("li", { class: "faint more" }, `and ${number(frame.n_pairs - rows.length)} more`));
  if (!rows.length) rows.push(el("li", { class: "faint more" }, "none: no two tokens stand side by side"));
  $("pairs").replaceChildren(...rows);
}
