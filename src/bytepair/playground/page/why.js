// Where a token comes from: facts, merge tree, and the merges of the word in which it was clicked.

import { ask, drop } from "./api.js";
import { $, chip, el, shown } from "./dom.js";

let trail = []; // what was asked before, to go back to
let opener = null; // what gets the focus back

/** Shows a token's origin. `from` = {tokenizer, id} and, of a token in a text, {text, place, specials}. */
export function open(from, element = null) {
  trail = [from];
  opener = element;
  show(from, true);
}

export function close() {
  if ($("why").hidden) return;
  drop("why");
  drop("steps");
  const inside = $("why").contains(document.activeElement);
  $("why").hidden = true;
  $("stage").classList.remove("open");
  if (inside && opener?.isConnected) opener.focus({ preventScroll: true });
}

function step(from) {
  trail.push(from);
  show(from, true);
}

async function show(from, focus) {
  const panel = $("why");
  panel.hidden = false;
  $("stage").classList.add("open");
  const head = el("header", {}, el("h2", { id: "why-title", tabindex: "-1" }, `Token ${from.id}`));
  if (trail.length > 1) {
    head.append(el("button", { class: "quiet", type: "button", onclick: () => { trail.pop(); show(trail.at(-1), true); } }, "Back"));
  }
  head.append(el("button", { class: "cross", type: "button", "aria-label": "Close", onclick: close }, "×"));
  const body = el("div", { class: "body" }, el("p", { class: "faint" }, "…"));
  panel.replaceChildren(head, el("p", { class: "faint of" }, from.tokenizer), body);
  if (focus) head.querySelector("h2").focus({ preventScroll: true });
  try {
    const found = await ask("api/why", { kind: "why", query: { tokenizer: from.tokenizer, id: from.id } });
    if (found) body.replaceChildren(...origin(from, found));
  } catch (error) {
    body.replaceChildren(el("p", { class: "error" }, error.message));
    return;
  }
  if (from.place !== undefined) steps(from, body);
  else if (from.note) body.append(el("p", { class: "faint" }, from.note));
}

function origin(from, found) {
  const ask = (id) => () => step({ tokenizer: from.tokenizer, id });
  const link = (id, at) => chip(found.tokens[id], at, ask(id), `, id ${id}`);
  const facts = el("dl", {});
  for (const fact of found.facts) {
    const value = el("dd", {});
    fact.tokens?.forEach((id, at) => value.append(link(id, at), " "));
    fact.words?.forEach((parts) => value.append(el("span", { class: "word" }, ...shown(parts)), " "));
    value.append(fact.text ?? "");
    facts.append(el("dt", {}, fact.name), value);
  }
  const out = [el("p", { class: "large" }, chip(found.tokens[found.id], 0)), facts];
  if (!found.tree) return out;
  out.push(el("h3", {}, "Merge tree"));
  if (found.picture) {
    const search = new URLSearchParams({ tokenizer: from.tokenizer, id: from.id });
    const alt = "Merge tree; it stands as text below";
    out.push(el("div", { class: "picture scroll", tabindex: "0", role: "region", "aria-label": "Merge tree, drawn" },
      el("img", { src: `api/tree.svg?${search}`, alt })));
  }
  out.push(el("details", { open: !found.picture }, el("summary", {}, "as text"), el("pre", {}, found.tree.join("\n"))));
  return out;
}

async function steps(from, body) {
  const query = { tokenizer: from.tokenizer, text: from.text, place: from.place, specials: from.specials ? "1" : "0" };
  let found;
  try {
    found = await ask("api/steps", { kind: "steps", query });
  } catch (error) {
    body.append(el("h3", {}, "In this text"), el("p", { class: "faint" }, error.message));
    return;
  }
  if (!found) return;
  const link = (id, at) => chip(found.tokens[id], at, () => step({ tokenizer: from.tokenizer, id }), `, id ${id}`);
  const row = (ids, note) => el("li", {}, el("span", { class: "chips" }, ...ids.map(link)), el("span", { class: "faint" }, note));
  const list = el("ol", { class: "steps" });
  found.states.forEach((ids, at) => {
    const merge = found.steps[at - 1];
    list.append(row(ids, merge ? `rank ${merge.rank.toLocaleString("en")}` : found.steps.length ? "before the first merge" : HOW[found.how]));
  });
  body.append(el("h3", {}, "In this text, merge by merge"), list);
  if (found.more) body.append(el("p", { class: "faint" }, `and ${found.more} more merges`));
}

const HOW = {
  merged: "no merge",
  whole: "a token as it is, taken before any merge",
  special: "a special token, named in the text",
  added: "an added token, named in the text",
};
