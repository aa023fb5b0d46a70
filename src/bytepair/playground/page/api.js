// Asking the server. A new question of a kind breaks off the one before, so that answers never come out of order.

export class Refused extends Error {
  constructor(message, gone = false) {
    super(message);
    this.gone = gone;
  }
}

const running = new Map();

/** The JSON answer to a request, or null where a newer one of the same kind has taken its place. */
export async function ask(path, { kind = "", query = [], ...options } = {}) {
  const controller = new AbortController();
  if (kind) {
    running.get(kind)?.abort();
    running.set(kind, controller);
  }
  const search = new URLSearchParams(query).toString();
  try {
    const answer = await fetch(search ? `${path}?${search}` : path, { ...options, signal: controller.signal });
    const found = await answer.json();
    if (kind && running.get(kind) !== controller) return null;
    if (!answer.ok) throw new Refused(found.error ?? `the server answered ${answer.status}`, found.gone);
    return found;
  } catch (error) {
    if (controller.signal.aborted) return null;
    if (error instanceof Refused) throw error;
    throw new Refused("the server does not answer; is bytepair serve still running?");
  }
}

/** Breaks off what is running of a kind. */
export function drop(kind) {
  running.get(kind)?.abort();
  running.delete(kind);
}

export const post = (path, value, options = {}) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value), ...options });
