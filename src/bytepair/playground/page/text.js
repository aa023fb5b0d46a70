// The text, and the vocabularies side by side under it.

import { ask, drop } from "./api.js";
import { $, el, many, number, quietly, size } from "./dom.js";
import { Pane } from "./pane.js";
import * as why from "./why.js";

// A text field of more than this is slow to type in; a longer text is kept beside the field, which shows its beginning.
const EDITED = 100_000;
const BEGINNING = 3000;

let page; // {state, limits, changed, said}
let panes = [];
let answered = null; // the last answer: its text's key, and with what it was asked

export function begin(shared) {
  page = shared;
  $("text").addEventListener("input", () => typed());
  $("text").addEventListener("paste", (event) => pasted(event, event.clipboardData));
  $("text").addEventListener("drop", (event) => {
    if (!event.dataTransfer.types.includes("Files")) pasted(event, event.dataTransfer);
  });
  $("clear").addEventListener("click", () => { put(""); $("text").focus(); });
  $("specials").addEventListener("change", () => { page.state.specials = $("specials").checked; refresh(0); });
  for (const radio of document.querySelectorAll("input[name=show]")) {
    radio.addEventListener("change", () => { page.state.show = radio.value; look(); page.changed(); });
  }
  $("add").addEventListener("change", () => { add($("add").value); $("add").value = ""; });
}

/** Puts up a state that came from outside. */
export function restore() {
  $("specials").checked = page.state.specials;
  look();
  put(page.state.text);
  named();
}

function look() {
  document.querySelector(`input[name=show][value="${page.state.show}"]`).checked = true;
  $("panes").dataset.show = page.state.show;
}

/** Another text, whatever its length. */
export function put(text) {
  const field = $("text");
  page.state.text = text;
  const long = text.length > EDITED;
  $("kept").hidden = !long;
  field.readOnly = long;
  field.value = long ? `${text.slice(0, BEGINNING)} …` : text;
  if (long) $("kept-text").textContent = `This field shows the first ${number(BEGINNING)} characters; all are encoded.`;
  refresh(0);
}

function typed() {
  const { value } = $("text");
  if (value.length > EDITED) put(value);
  else {
    page.state.text = value;
    refresh(value.length < 10_000 ? 60 : 250);
  }
}

/** A long text that is pasted never gets into the field, where laying it out would take seconds. */
function pasted(event, data) {
  const field = $("text");
  const text = data.getData("text/plain");
  const kept = field.readOnly ? 0 : field.value.length;
  if (!text || (!field.readOnly && kept + text.length <= EDITED)) return;
  event.preventDefault();
  put(field.readOnly ? text : field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd));
}

const later = quietly(() => encode());

export function refresh(wait) {
  page.changed();
  later(wait);
}

async function encode() {
  const { text, names, specials } = page.state;
  if (!names.length) {
    drop("encode");
    $("text-size").textContent = "";
    return;
  }
  const body = new Blob([text]);
  if (body.size > page.limits.text) {
    drop("encode");
    for (const pane of panes) pane.update({ error: `the text has ${size(body.size)}; up to ${size(page.limits.text)} are encoded here` }, []);
    $("text-size").textContent = "";
    return;
  }
  const query = [...names.map((name) => ["tokenizer", name]), ["specials", specials ? "1" : "0"]];
  $("panes").setAttribute("aria-busy", "true");
  let found;
  try {
    found = await ask("api/encode", { kind: "encode", query, method: "POST", body });
  } catch (error) {
    for (const pane of panes) pane.update({ error: error.message }, []);
    $("panes").removeAttribute("aria-busy");
    return;
  }
  if (!found) return;
  $("panes").removeAttribute("aria-busy");
  answered = { text: found.text, specials, short: found.bytes <= page.limits.explained };
  $("text-size").textContent = `${many(found.characters, "character")}, ${many(found.bytes, "byte")}`;
  for (const side of found.sides) {
    const beside = names.filter((name) => name !== side.tokenizer).map((name) => ["beside", name]);
    const pane = panes.find((one) => one.name === side.tokenizer);
    const asked = [["text", found.text], ["tokenizer", side.tokenizer], ["specials", specials ? "1" : "0"], ...beside];
    pane?.update({ ...side, bytes: found.bytes }, asked);
  }
  $("legend").hidden = !found.sides.some((side) => side.differs);
  page.said(found.sides.map((side) => `${side.tokenizer}: ${side.error ?? many(side.tokens, "token")}`).join("; "));
}

/** A vocabulary more. */
export function add(name) {
  if (!name) return;
  if (page.state.names.includes(name)) { // a link named it, and now it is here
    refresh(0);
    return;
  }
  if (page.state.names.length >= page.limits.sides) {
    page.fail(`${page.limits.sides} vocabularies can stand side by side; remove one first`);
    return;
  }
  page.state.names = [...page.state.names, name];
  named();
  refresh(0);
}

function remove(name) {
  page.state.names = page.state.names.filter((one) => one !== name);
  named();
  refresh(0);
  ($("panes").querySelector(".cross") ?? $("add")).focus();
}

/** Makes panes and lists agree with the chosen names. */
export function named() {
  const { names } = page.state;
  const before = new Map(panes.map((pane) => [pane.name, pane]));
  panes = names.map((name) => before.get(name) ?? new Pane(name, {
    open: (pane, place) => opened(pane, place), remove: (pane) => remove(pane.name), gone: () => refresh(0),
  }));
  // The panes that stay are left where they are, so that nothing loses its place or focus.
  const keep = new Set(panes.map((pane) => pane.element));
  for (const element of [...$("panes").children]) if (!keep.has(element)) element.remove();
  panes.forEach((pane, at) => {
    if ($("panes").children[at] !== pane.element) $("panes").insertBefore(pane.element, $("panes").children[at] ?? null);
  });
  const groups = { given: "Given", dropped: "Opened here", bundled: "Bundled" };
  $("add").replaceChildren(el("option", { value: "" }, "Add a vocabulary …"));
  for (const [kind, label] of Object.entries(groups)) {
    const free = page.tokenizers.filter((one) => one.kind === kind && !names.includes(one.name));
    if (free.length) $("add").append(el("optgroup", { label }, ...free.map((one) => el("option", { value: one.name }, one.name))));
  }
}

function opened(pane, place) {
  const id = pane.idOf(place);
  if (id === undefined || !answered) return;
  const inText = answered.short ? { text: answered.text, place, specials: answered.specials } : { note: "The merges of a word in its text are shown for shorter texts." };
  why.open({ tokenizer: pane.name, id, ...inText }, pane.flow);
}
