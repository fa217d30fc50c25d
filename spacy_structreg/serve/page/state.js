// The state of the page: what a link holds, and the user's words in local storage.

import { stored } from "./dom.js";

const MODES = ["force", "bonus", "prefer"];

export const state = { text: "", words: [], view: "words", confidence: false };

/** Only what can be sent: words of other shapes may come from links and old storage. */
function checked(words) {
  if (!Array.isArray(words)) return [];
  return words
    .filter((each) => typeof each?.word === "string" && each.word && MODES.includes(each.mode))
    .map(({ word, tag, mode }) => ({ word, tag: typeof tag === "string" ? tag : null, mode }));
}

/** Take the state from the address; false if it has none. Words of a link are not stored. */
export function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  state.words = checked(stored("words"));
  if (!link.has("text")) return false;
  state.text = link.get("text");
  state.view = link.get("view") || "words";
  state.confidence = link.has("confidence");
  if (link.has("words")) {
    try {
      state.words = checked(JSON.parse(link.get("words")));
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

/** Change the user's words, and store them for the next visit. */
export function setWords(words) {
  state.words = words;
  stored("words", words);
}
