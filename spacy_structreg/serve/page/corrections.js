// Sentences whose entities were put right: kept in this browser, until they are downloaded.
//
// By the text of the sentence: {words: [[begin, end, word, tag]], spans: [[begin, end, label]]}, by
// code points of it.

import { isSpace, stored } from "./dom.js";

const isRow = (each) =>
  Array.isArray(each) && each.slice(0, 2).every(Number.isInteger)
  && each.length > 2 && each.slice(2).every((part) => typeof part === "string");
const areRows = (rows) => Array.isArray(rows) && rows.every(isRow);

/** Only what can be drawn: old storage may hold other shapes. */
function checked(found) {
  if (found === null || typeof found !== "object") return new Map();
  return new Map(
    Object.entries(found).filter(([, each]) => areRows(each?.words) && areRows(each.spans)),
  );
}

const corrections = checked(stored("corrections"));

const keep = () => stored("corrections", Object.fromEntries(corrections));

export const nCorrections = () => corrections.size;

/** A sentence of a document: its text, where it begins, and its words as they are kept. */
export function sentenceOf({ found, characters }, number) {
  const { start, end } = found.sentences[number];
  const tokens = found.tokens.slice(start, end);
  const offset = tokens[0].start;
  const words = tokens
    .map(({ start: begin, end: stop, tag = "" }) =>
      [begin - offset, stop - offset, characters.slice(begin, stop), tag])
    .filter(([, , word]) => !isSpace(word));
  return { text: characters.slice(offset, tokens.at(-1).end), offset, words };
}

/** The entities of a sentence, corrected or as they were found: [begin, end, label], in order. */
export function entitiesOf(scene, number) {
  const { text, offset } = sentenceOf(scene, number);
  const corrected = corrections.get(text);
  if (corrected) return { spans: corrected.spans, isCorrected: true };
  const { tokens, sentences, entities = [] } = scene.found;
  const { start, end } = sentences[number];
  const spans = entities
    .filter((each) => each.start >= start && each.start < end)
    .map((each) => [
      tokens[each.start].start - offset,
      tokens[Math.min(each.end, end) - 1].end - offset,
      each.label,
    ]);
  return { spans: spans.sort((one, other) => one[0] - other[0]), isCorrected: false };
}

/** Let a sentence have a span in place of another one, and of all that it overlaps; null for none. */
export function correct(scene, number, old, span) {
  const { text, words } = sentenceOf(scene, number);
  const clears = (each, by) => !by || each[1] <= by[0] || each[0] >= by[1];
  const spans = entitiesOf(scene, number).spans.filter((each) => clears(each, old) && clears(each, span));
  if (span) spans.push(span);
  spans.sort((one, other) => one[0] - other[0]);
  corrections.set(text, { words, spans });
  keep();
}

/** Take the words of the sentences as they are now, where the spans fit: user words change them. */
export function refresh(scene) {
  if (!nCorrections()) return;
  for (const number of scene.found.sentences.keys()) {
    const { text, words } = sentenceOf(scene, number);
    const known = corrections.get(text);
    const begins = new Set(words.map(([begin]) => begin));
    const ends = new Set(words.map(([, end]) => end));
    const fits = known?.spans.every(([begin, end]) => begins.has(begin) && ends.has(end));
    if (fits) known.words = words;
  }
  keep();
}

export function undo(scene, number) {
  corrections.delete(sentenceOf(scene, number).text);
  keep();
}

export function discard() {
  corrections.clear();
  keep();
}

/** The corrected sentences in columns, as `structreg convert` reads them: {columns, text}. */
export function asColumns() {
  const all = [...corrections.values()];
  const isTagged = all.every(({ words }) => words.every(([, , , tag]) => tag));
  const labelOf = (spans, begin) => {
    const span = spans.find((each) => each[0] <= begin && begin < each[1]);
    return span ? `${span[0] === begin ? "B" : "I"}-${span[2]}` : "O";
  };
  const sentences = all.map(({ words, spans }) =>
    words
      .map(([begin, , word, tag]) =>
        [word.replace(/[\t\n\r\0]/g, " "), ...(isTagged ? [tag] : []), labelOf(spans, begin)].join("\t"))
      .join("\n"),
  );
  return { columns: isTagged ? "word,tag,label" : "word,label", text: `${sentences.join("\n\n")}\n` };
}
