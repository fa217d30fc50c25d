// The state of the page: what a link holds, and the user's words in local storage.

import { stored } from "./dom.js";

/** How user words may count; as in the API. */
export const MODES = ["force", "bonus", "prefer"];

export const state = { text: "", words: [], view: "words", confidence: false };

// Those of `state.words` that are a link's: they are in effect, but never stored.
let linked = new Set();

const storedWords = () => checked(stored("words"));

/** Only what can be sent: words of other shapes may come from links and old storage. */
function checked(words) {
  if (!Array.isArray(words)) return [];
  return words
    .filter((each) => typeof each?.word === "string" && each.word && MODES.includes(each.mode))
    .filter(({ mode, bonus }) => mode !== "bonus" || Number.isFinite(bonus))
    .map(({ word, tag, mode, bonus }) => ({
      word,
      tag: typeof tag === "string" ? tag : null,
      mode,
      bonus: mode === "bonus" ? bonus : null,
    }));
}

/** Take the state from the address; false if it has none. Words of a link replace the user's own. */
export function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  state.words = storedWords();
  linked = new Set();
  if (!link.has("text")) return false;
  state.text = link.get("text");
  state.view = link.get("view") || "words";
  state.confidence = link.has("confidence");
  if (link.has("words")) {
    try {
      state.words = checked(JSON.parse(link.get("words")));
      linked = new Set(state.words);
    } catch {
      // Not a link of this page: the stored words stay.
    }
  }
  return true;
}

/** The address of the page as it is now. */
export function link() {
  const parts = new URLSearchParams({ text: state.text, view: state.view });
  if (state.confidence) parts.set("confidence", "1");
  parts.set("words", JSON.stringify(state.words));
  const address = new URL(location.href);
  address.hash = parts.toString();
  return address.href;
}

const without = (words, { word }) => words.filter((each) => each.word !== word);

/** Add a word, in place of what it was before, and store it with the user's own. */
export function putWord(added) {
  state.words = [...without(state.words, added), added];
  stored("words", [...without(storedWords(), added), added]);
}

/** Remove one of the words, also from those that are stored, unless it is a link's. */
export function removeWord(removed) {
  state.words = without(state.words, removed);
  if (!linked.has(removed)) stored("words", without(storedWords(), removed));
}
