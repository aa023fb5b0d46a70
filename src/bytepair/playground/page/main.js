// The page: tabs, files that are dropped, messages, and the state in the address.

import { Refused, ask } from "./api.js";
import { $, el, quietly, size } from "./dom.js";
import * as ids from "./ids.js";
import { pack, unpack } from "./share.js";
import * as text from "./text.js";
import * as training from "./training.js";
import * as why from "./why.js";

const VIEWS = ["text", "ids", "training"];
const SHOWS = ["text", "ids", "bytes"];
const FIRST_TEXT = "Tokenization isn’t reading: 1234567 unbelievable résumés, naïvely split.\n\tfor i in range(10): print('👋🏽')\n";

const page = { changed, said, fail, shelved };

/** What a state from outside may hold, with anything else put right. */
function checked(found) {
  const state = { view: "text", text: FIRST_TEXT, names: page.first, specials: false, show: "text", ids: "", idsName: "", lesson: null, trained: false, step: 0 };
  if (!found) return state;
  const strings = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");
  if (VIEWS.includes(found.view)) state.view = found.view;
  if (SHOWS.includes(found.show)) state.show = found.show;
  for (const name of ["text", "ids", "idsName"]) if (typeof found[name] === "string") state[name] = found[name];
  if (strings(found.names)) state.names = [...new Set(found.names)].slice(0, page.limits.sides);
  state.specials = found.specials === true;
  state.trained = found.trained === true;
  if (Number.isInteger(found.step)) state.step = found.step;
  if (found.lesson && typeof found.lesson === "object") state.lesson = found.lesson;
  return state;
}

async function begin() {
  let told;
  try {
    told = await ask("api/state");
  } catch (error) {
    fail(error.message);
    return;
  }
  Object.assign(page, told);
  page.state = checked(await unpack(location.hash));
  for (const part of [text, ids, training]) part.begin(page);
  restore();
  document.body.dataset.ready = "yes";
}

function restore() {
  select(page.state.view);
  for (const part of [text, ids, training]) part.restore();
}

// ---- tabs ----

function select(view) {
  page.state.view = view;
  for (const name of VIEWS) {
    $(`tab-${name}`).setAttribute("aria-selected", String(name === view));
    $(`tab-${name}`).tabIndex = name === view ? 0 : -1;
    $(`panel-${name}`).hidden = name !== view;
  }
}

for (const name of VIEWS) {
  $(`tab-${name}`).addEventListener("click", () => { why.close(); select(name); changed(); });
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    const at = VIEWS.indexOf(name);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: VIEWS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = VIEWS[(to + VIEWS.length) % VIEWS.length];
    select(next);
    changed();
    $(`tab-${next}`).focus();
  });
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") why.close(); });
$("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });

// ---- messages ----

/** Shows what went wrong; nothing takes it away again. */
function fail(message, ...more) {
  $("alert").replaceChildren();
  if (!message) return;
  const gone = el("button", { class: "cross", "aria-label": "Dismiss", onclick: () => fail("") }, "×");
  $("alert").append(el("div", { class: "alert" }, el("p", {}, message), ...more, gone));
}

const saidLater = quietly((message) => { $("status").textContent = message; });

/** Says something to who does not see it, once typing pauses. */
function said(message) {
  saidLater(700, message);
}

// ---- files ----

function shelved(kept) {
  page.tokenizers = kept.tokenizers;
  text.named();
  text.add(kept.name);
  ids.named();
  select("text");
  said(`${kept.name} was added`);
}

async function opened(file, pattern = "") {
  fail("");
  if (file.size > page.limits.file) {
    fail(`${file.name}: ${size(file.size)} are too many; a file may have ${size(page.limits.file)}`);
    return;
  }
  said(`reading ${file.name}`);
  document.body.classList.add("reading");
  try {
    const kept = await ask("api/tokenizers", { query: { name: file.name, pattern }, method: "POST", body: file });
    shelved(kept);
    if (kept.notices.length) fail(`${kept.name}: ${kept.notices.join("; ")}`);
  } catch (error) {
    const retry = /pattern/.test(error.message) ? [patternForm(file, pattern)] : [];
    fail(`${file.name}: ${error instanceof Refused ? error.message : error}`, ...retry);
  } finally {
    document.body.classList.remove("reading");
  }
}

/** Some files do not say how text is cut; here one can. */
function patternForm(file, pattern) {
  const options = page.training.patterns.map((name) => el("option", { value: name }));
  const field = el("input", { list: "patterns", value: pattern, "aria-label": "Pattern: a preset or a regex", placeholder: "a preset, such as cl100k, or a regex" });
  const submit = (event) => { event.preventDefault(); opened(file, field.value); };
  return el("form", { class: "row", onsubmit: submit }, field, el("datalist", { id: "patterns" }, ...options), el("button", { class: "main" }, "Read it with this pattern"));
}

$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  for (const file of [...$("file").files]) await opened(file);
  $("file").value = "";
});

let inside = 0;
const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
addEventListener("dragenter", (event) => { if (hasFiles(event)) { inside += 1; $("catch").hidden = false; } });
addEventListener("dragleave", (event) => { if (hasFiles(event) && (inside -= 1) <= 0) { inside = 0; $("catch").hidden = true; } });
addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
addEventListener("drop", async (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  inside = 0;
  $("catch").hidden = true;
  for (const file of [...event.dataTransfer.files]) await opened(file);
});

// ---- the address ----

let own = ""; // the fragment that we wrote ourselves

async function write() {
  const fragment = await pack(page.state);
  own = fragment ?? "";
  history.replaceState(null, "", fragment ?? location.pathname);
  return fragment;
}

const writeLater = quietly(write);

function changed() {
  writeLater(400);
}

addEventListener("hashchange", async () => {
  if (location.hash === own) return;
  const found = await unpack(location.hash);
  if (!found) return;
  page.state = checked(found);
  why.close();
  restore();
});

$("share").addEventListener("click", async () => {
  const fragment = await write();
  if (!fragment) {
    fail("this text is too long for an address; share it as a file");
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
  } catch {
    $("share").textContent = "It is in the address bar";
  }
  said("the link is copied");
  setTimeout(() => { $("share").textContent = "Copy link"; }, 2500);
});

begin();
