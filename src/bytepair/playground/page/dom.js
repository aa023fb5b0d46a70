// Making elements. Data reaches the page as text nodes and checked attributes only, never as markup.

export const $ = (id) => document.getElementById(id);

/** An element with properties (class, text, on..., data-..., aria-...) and children; strings become text. */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** What is shown for a token: text and signs by turns, as the server tells them apart. */
export function shown(parts) {
  return parts.map((part, at) => (at % 2 ? el("span", { class: "sign" }, part) : part)).filter((part) => part !== "");
}

/** The same in one line, for what a screen reader says. */
export const spoken = (parts) => parts.join("").replaceAll("\n", "") || "nothing";

/** A token in a list or a sentence; with `press` it can be clicked. Spaces at its ends are seen by its ground. */
export function chip(token, place, press, label = "") {
  const names = `token ${token.special ? "special" : place % 2 ? "b" : "a"}`;
  const parts = token.parts.map((part) => part.replaceAll("\n", ""));
  if (!press) return el("span", { class: names }, ...shown(parts));
  const name = `${spoken(parts)}${label}`;
  return el("button", { class: names, type: "button", "aria-label": name, onclick: press }, ...shown(parts));
}

export const number = (value) => value.toLocaleString("en");

export const many = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

export function size(bytes) {
  for (const [unit, factor] of [["MB", 1e6], ["kB", 1e3]]) {
    if (bytes >= factor) return `${(bytes / factor).toFixed(1)} ${unit}`;
  }
  return many(bytes, "byte");
}

/** Calls a function once things have been quiet for some milliseconds. */
export function quietly(call) {
  let timer = 0;
  return (wait, ...rest) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...rest), wait);
  };
}
