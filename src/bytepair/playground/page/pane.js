// The tokens of a text as one vocabulary cuts it. Only blocks near what is in sight are asked for and in the page.

import { ask } from "./api.js";
import { el, number, shown, spoken } from "./dom.js";

let panes = 0;

export class Pane {
  /** `open(pane, index)` is called for a token that is clicked, `remove(pane)` for the pane's own cross. */
  constructor(name, { open, remove, gone }) {
    this.name = name;
    this.id = `pane${panes++}`;
    this.gone = gone;
    this.open = open;
    this.head = el("h2", { id: `${this.id}-name`, title: name }, name);
    this.totals = el("p", { class: "totals" });
    this.facts = el("p", { class: "faint facts" });
    this.flow = el("div", {
      class: "flow", role: "listbox", tabindex: "0", id: `${this.id}-flow`, "aria-labelledby": `${this.id}-name`,
      "aria-orientation": "horizontal",
      onclick: (event) => this.clicked(event), onkeydown: (event) => this.pressed(event), onfocus: () => this.focused(),
    });
    this.cross = el("button", { class: "cross", "aria-label": `Remove ${name}`, onclick: () => remove(this) }, "×");
    this.element = el("article", { class: "pane" }, el("header", {}, this.head, this.cross), this.totals, this.facts, this.flow);
    this.sight = new IntersectionObserver((seen) => this.seen(seen), { root: this.flow, rootMargin: "800px 0px" });
    this.tokens = new Map(); // id -> what is shown for it
    this.query = [];
    this.borders = [0];
    this.blocks = [];
    this.active = 0;
  }

  /** Puts up what the server made of a text. */
  update(side, query) {
    this.turn = {}; // answers to what was asked before are not for this text
    this.side = side;
    this.query = query;
    this.sight.disconnect();
    this.element.classList.toggle("failed", Boolean(side.error));
    if (side.error) {
      this.totals.replaceChildren();
      this.facts.textContent = "";
      this.borders = [0];
      this.blocks = [];
      this.flow.replaceChildren(el("p", { class: "error" }, side.error));
      return;
    }
    const perToken = side.tokens ? side.bytes / side.tokens : 0;
    const numbers = [`${number(side.distinct)} distinct`, side.tokens ? `${perToken.toFixed(2)} bytes each` : ""];
    if (side.differs) numbers.push(`${number(side.differs)} cut differently`);
    this.totals.replaceChildren(
      el("strong", {}, number(side.tokens)), side.tokens === 1 ? " token" : " tokens",
      el("span", { class: "faint" }, ` · ${numbers.filter(Boolean).join(" · ")}`),
    );
    const { facts } = side;
    this.facts.textContent = [
      `${number(facts.tokens)} in the vocabulary`, `${facts.rule.slice(0, -1)} rule`, facts.lossless ? "lossless" : "changes texts",
    ].join(" · ");
    this.borders = side.blocks;
    this.tokens = new Map();
    this.blocks = this.borders.slice(1).map((end, at) => ({ at, start: this.borders[at], end, ids: null }));
    this.active = Math.min(this.active, Math.max(0, side.tokens - 1));
    const made = this.blocks.map((block) => {
      block.element = el("div", { class: "block", role: "presentation", "data-block": block.at });
      return block.element;
    });
    this.flow.replaceChildren(...made);
    if (this.blocks.length) this.fill(this.blocks[0], side.first);
    if (this.blocks.length > 1) {
      // Blocks that were never seen get the height that the first one lets expect.
      const first = this.blocks[0];
      const high = first.element.getBoundingClientRect().height / (first.end - first.start);
      for (const block of this.blocks.slice(1)) this.reserve(block, high * (block.end - block.start));
      for (const block of this.blocks) this.sight.observe(block.element);
    }
    this.mark();
  }

  reserve(block, height) {
    block.element.style.height = `${Math.max(20, Math.round(height))}px`;
  }

  seen(changes) {
    for (const change of changes) {
      const block = this.blocks[Number(change.target.dataset.block)];
      if (!block || block.element !== change.target) continue;
      block.inSight = change.isIntersecting;
      if (change.isIntersecting) this.load(block);
      else if (block.ids && !this.holds(block)) this.empty(block);
    }
  }

  holds(block) {
    return this.active >= block.start && this.active < block.end;
  }

  empty(block) {
    this.reserve(block, block.element.getBoundingClientRect().height);
    block.ids = null;
    block.element.replaceChildren();
  }

  async load(block) {
    if (block.ids) return true;
    block.asked ??= this.fetched(block).finally(() => { block.asked = null; });
    return block.asked;
  }

  async fetched(block) {
    const turn = this.turn;
    try {
      const found = await ask("api/block", { query: [...this.query, ["block", block.at]] });
      if (turn !== this.turn) return false;
      this.fill(block, found);
      return true;
    } catch (error) {
      if (turn !== this.turn) return false;
      if (error.gone) this.gone();
      else block.element.replaceChildren(el("p", { class: "error" }, error.message));
      return false;
    }
  }

  fill(block, found) {
    for (const [id, token] of Object.entries(found.tokens)) this.tokens.set(Number(id), token);
    const differs = new Set(found.differs);
    const fragment = document.createDocumentFragment();
    block.ids = found.ids;
    found.ids.forEach((id, at) => {
      const token = this.tokens.get(id);
      const index = block.start + at;
      let { parts } = token;
      const ends = parts.at(-1).endsWith("\n");
      if (ends) parts = [...parts.slice(0, -1), parts.at(-1).slice(0, -1)];
      const kind = token.special ? "special" : index % 2 ? "b" : "a";
      fragment.append(el("span", {
        class: `token ${kind}${differs.has(at) ? " differs" : ""}`, role: "option", id: `${this.id}-${index}`,
        "aria-selected": "false", "aria-setsize": this.side.tokens, "aria-posinset": index + 1,
        "aria-label": `${spoken(token.parts)}, id ${id}`, "data-id": id, "data-bytes": token.bytes,
      }, ...shown(parts)));
      if (ends) fragment.append("\n");
    });
    block.element.classList.toggle("cut", block.end < this.side.tokens && !fragment.lastChild?.data?.endsWith("\n"));
    block.element.style.height = "";
    block.element.replaceChildren(fragment);
    if (this.holds(block)) this.mark();
  }

  span(index) {
    return document.getElementById(`${this.id}-${index}`);
  }

  idOf(index) {
    const block = this.blockOf(index);
    return block?.ids?.[index - block.start];
  }

  blockOf(index) {
    return this.blocks.find((block) => index >= block.start && index < block.end);
  }

  mark() {
    this.flow.querySelector(".active")?.classList.remove("active");
    const span = this.span(this.active);
    if (span) {
      span.classList.add("active");
      this.flow.setAttribute("aria-activedescendant", span.id);
    } else this.flow.removeAttribute("aria-activedescendant");
    return span;
  }

  async go(index) {
    if (!this.side?.tokens) return;
    this.active = Math.max(0, Math.min(this.side.tokens - 1, index));
    const block = this.blockOf(this.active);
    if (!block.ids) {
      block.element.scrollIntoView({ block: "nearest" });
      if (!(await this.load(block))) return;
    }
    this.mark()?.scrollIntoView({ block: "nearest" });
  }

  focused() {
    this.mark();
  }

  clicked(event) {
    const span = event.target.closest(".token");
    if (!span || window.getSelection()?.type === "Range") return;
    this.active = Number(span.id.split("-")[1]);
    this.mark();
    this.open(this, this.active);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = {
      ArrowRight: () => this.go(this.active + 1),
      ArrowLeft: () => this.go(this.active - 1),
      ArrowDown: () => this.go(this.beside(1)),
      ArrowUp: () => this.go(this.beside(-1)),
      Home: () => this.go(0),
      End: () => this.go(this.side.tokens - 1),
      Enter: () => this.open(this, this.active),
      " ": () => this.open(this, this.active),
    };
    if (!this.side?.tokens || !(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]();
  }

  /** The token above or below the active one. */
  beside(way) {
    const from = this.span(this.active)?.getClientRects()[0];
    if (!from) return this.active + way;
    let best = this.active, line = null, near = Infinity;
    for (let at = this.active + way; Math.abs(at - this.active) < 2000; at += way) {
      const box = this.span(at)?.getClientRects()[0];
      if (!box) return best === this.active ? this.active + way : best;
      const beyond = way > 0 ? box.top >= from.bottom - 2 : box.bottom <= from.top + 2;
      if (!beyond) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > from.height / 2) break;
      const far = Math.abs(box.left - from.left);
      if (far < near) [best, near] = [at, far];
    }
    return best;
  }
}
