// What one sees, in the address: JSON, compressed, in the fragment, which browsers send nowhere.

const LONGEST = 16000; // characters of an address that survive being sent around
const LARGEST = 5e5; // characters that an address may unfold to

const asText = (bytes) => {
  let out = "";
  for (let at = 0; at < bytes.length; at += 8192) out += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(out).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const asBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

/** The fragment for a state, or null where the address would be too long. */
export async function pack(state) {
  const json = JSON.stringify(state);
  if (json.length > LARGEST) return null;
  const stream = new Blob([json]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = asText(new Uint8Array(await new Response(stream).arrayBuffer()));
  return packed.length > LONGEST ? null : `#1.${packed}`;
}

/** The state that a fragment holds; null where it holds none, or nonsense. */
export async function unpack(fragment) {
  if (!fragment.startsWith("#1.")) return null;
  try {
    const stream = new Blob([asBytes(fragment.slice(3))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let json = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      json += read.value;
      if (json.length > LARGEST) return null;
    }
    const state = JSON.parse(json);
    return state !== null && typeof state === "object" ? state : null;
  } catch {
    return null;
  }
}
