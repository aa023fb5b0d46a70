// Ids of a model's output: what they say, where they break a character, and whether encoding would have given them.

import { drop, post } from "./api.js";
import { $, chip, el, many, number, quietly, shown } from "./dom.js";
import * as why from "./why.js";

let page;

export function begin(shared) {
  page = shared;
  $("ids").addEventListener("input", () => { page.state.ids = $("ids").value; page.changed(); later(150); });
  $("ids-tokenizer").addEventListener("change", () => { page.state.idsName = $("ids-tokenizer").value; page.changed(); later(0); });
}

export function restore() {
  $("ids").value = page.state.ids;
  named();
  later(0);
}

/** The list of vocabularies to choose from. */
export function named() {
  const names = page.tokenizers.map((one) => one.name);
  if (!names.includes(page.state.idsName)) page.state.idsName = page.state.names.find((name) => names.includes(name)) ?? names[0];
  $("ids-tokenizer").replaceChildren(...names.map((name) => el("option", { value: name }, name)));
  $("ids-tokenizer").value = page.state.idsName;
}

const later = quietly(() => explain());

function clear() {
  $("ids-flow").hidden = $("ids-table").hidden = true;
  $("ids-answer").replaceChildren();
}

async function explain() {
  const tokenizer = page.state.idsName;
  if (!page.state.ids.trim()) {
    drop("ids");
    clear();
    return;
  }
  let found;
  try {
    found = await post("api/ids", { tokenizer, ids: page.state.ids }, { kind: "ids" });
  } catch (error) {
    clear();
    $("ids-answer").replaceChildren(el("p", { class: "error" }, error.message));
    return;
  }
  if (!found) return;
  const press = (id) => (event) => why.open({ tokenizer, id }, event.currentTarget);
  const link = (id, at) => chip(found.tokens[id], at, press(id), `, id ${id}`);
  const { canonical } = found;
  const verdict = el("p", {});
  if (canonical.canonical) verdict.append(el("span", { class: "good" }, "✓ canonical"), " — encoding this text gives these ids");
  else {
    verdict.append(el("span", { class: "bad" }, "✗ not canonical"), ` — from place ${number(canonical.place)} on: `);
    verdict.append(...canonical.given.map(link), " where encoding gives ", ...canonical.expected.map(link));
  }
  const copy = el("button", { class: "quiet", type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(found.text);
      copy.textContent = "Copied";
      page.said("the text is copied");
    } catch {
      page.fail("the browser does not let this page copy");
    }
  } }, "Copy the text");
  $("ids-answer").replaceChildren(
    el("p", { class: "totals" }, el("strong", {}, number(found.count)), ` ${found.count === 1 ? "id" : "ids"}`,
      el("span", { class: "faint" }, ` · ${many(found.bytes, "byte")} `), copy), verdict);
  $("ids-flow").hidden = $("ids-table").hidden = false;
  const flow = [];
  found.ids.forEach((id, at) => {
    flow.push(link(id, at));
    if (found.tokens[id].parts.at(-1).endsWith("\n")) flow.push(el("br"));
  });
  $("ids-flow").replaceChildren(...flow);
  const head = ["place", "id", "token", "bytes", "kind", "characters", "note"];
  const rows = found.rows.map((row, at) => el("tr", {},
    el("td", { class: "right" }, number(at)), el("td", { class: "right" }, String(row.id)), el("td", {}, chip(found.tokens[row.id], at)),
    el("td", { class: "hex" }, row.bytes), el("td", {}, row.kind), el("td", {}, ...shown(row.characters)), el("td", {}, row.note)));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...rows));
  $("ids-table").replaceChildren(table);
  if (found.count > rows.length) $("ids-table").append(el("p", { class: "faint" }, `and ${number(found.count - rows.length)} more`));
}
