// The page: what is typed is annotated, what is clicked is explained.

import { ask, ServerError } from "./client.js";
import { correctionForm } from "./correction_form.js";
import { asColumns, discard, nCorrections, refresh } from "./corrections.js";
import { Characters, find, isSpace, make, save, stored } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { explain } from "./explanation.js";
import { link, MODES, putWord, readLink, removeWord, state } from "./state.js";
import { language, say, sayAll, switchLanguage } from "./strings.js";
import { meaning, VIEWS } from "./views.js";

const TYPING_PAUSE = 200;
const PATIENCE = 300;
const REASONS = { gone: "gone", loading: "loading", busy: "isBusy" };
// Messages of errors, as keys of strings.js, by their codes; others have that of the server.
const FAULTS = {
  busy: "faultBusy",
  time_over: "faultTimeOver",
  texts_too_long: "faultTooLarge",
  answer_too_large: "faultTooLarge",
  body_too_large: "faultTooLarge",
  failed: "faultFailed",
};

// Elements that lead to an explanation.
const WORDS = ".token, .entity, .outside";

let pipeline = null;
// True if the server has been gone since: it may come back with another pipeline.
let isOld = false;
let said = ["", ""];
let found = null;
let characters = new Characters("");
let request = new AbortController();
let drawing = new AbortController();
let explaining = new AbortController();
let explanations = new Map();
let opener = null;
let typing = null;

const textBox = find("text");
const panel = find("panel");
const status = find("status");

function setStatus(message, kind) {
  status.textContent = message;
  status.dataset.kind = kind;
}

function tell(message, kind = "") {
  said = [message, kind];
  setStatus(message, kind);
}

// --- asking -----------------------------------------------------------------------------------

/** As `ask`; the status tells of pauses, and afterwards what it told before. */
async function asked(path, options) {
  let hasPaused = false;
  const waiting = (reason, seconds) => {
    hasPaused = true;
    if (reason === "gone") isOld = true;
    setStatus(say("tryingAgain", say(REASONS[reason]), Math.ceil(seconds)), "warning");
  };
  const patience = setTimeout(() => {
    if (hasPaused || options.signal?.aborted) return;
    hasPaused = true;
    setStatus(say("working"), "");
  }, PATIENCE);
  try {
    return await ask(path, { ...options, waiting });
  } finally {
    clearTimeout(patience);
    if (hasPaused) setStatus(...said);
  }
}

/** A word about an error, as a sentence. */
function faultOf(error) {
  if (!(error instanceof ServerError)) return error.message;
  if (error.code in FAULTS) return say(FAULTS[error.code]);
  if (error.code === "too_many_user_words") {
    return say("faultTooManyWords", pipeline.limits.user_words);
  }
  const message = error.code === "unknown" ? say("faultUnknown", error.message) : error.message;
  return sentence(say("faultOther", message));
}

/** The words that this pipeline can take: others stay in the list, without effect. */
const usable = ({ tag, mode }) =>
  pipeline.user_words.includes(mode) && (tag === null || pipeline.tags.includes(tag));
const wordsSent = () => state.words.filter(usable);

/** What is under way is overtaken: ask about the text as it is now, and draw the answer. */
async function annotate() {
  clearTimeout(typing);
  request.abort();
  request = new AbortController();
  const { signal } = request;
  panel.setAttribute("aria-busy", "true");
  try {
    if (!pipeline || isOld) await meet(signal);
    const { text, view } = state;
    explanations = new Map();
    if (!text.trim()) {
      clear(say("typeText"));
      return;
    }
    const tooLong = Array.from(text).length - pipeline.limits.text;
    if (tooLong > 0) {
      clear(say("tooLong", tooLong), "error");
      return;
    }
    const body = {
      texts: [text],
      user_words: wordsSent(),
      confidence: state.confidence,
      ...VIEWS[view].wants?.(pipeline),
    };
    const started = performance.now();
    const answer = await asked("v1/annotate", { body, signal });
    const milliseconds = performance.now() - started;
    if (isOld) await meet(signal);
    [found] = answer.documents;
    characters = new Characters(found.text);
    showResult(milliseconds);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ServerError)) throw error;
    clear(faultOf(error), "error");
  } finally {
    if (!signal.aborted) panel.removeAttribute("aria-busy");
  }
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?。！？]$/.test(text) ? "" : "."}`;

async function meet(signal) {
  pipeline = await asked("v1/pipeline", { signal });
  isOld = false;
  const { name, version, lang } = pipeline;
  find("pipeline").textContent = [name, version].filter(Boolean).join(" ");
  document.title = `structreg: ${name}`;
  textBox.lang = lang;
  find("word").lang = lang;
  drawFields();
  showLength();
}

/** Fill in what the pipeline takes and has, in the language of the page. */
function drawFields() {
  const { tags, user_words: modes } = pipeline;
  find("words").hidden = !modes.length;
  const tagOption = (value) =>
    make("option", { value, textContent: [value, meaning({ pipeline }, value)].filter(Boolean).join(" · ") });
  const chosen = [find("tag").value, find("mode").value];
  find("tag").replaceChildren(make("option", { value: "", textContent: say("anyTag") }), ...tags.map(tagOption));
  find("tag").parentElement.hidden = !tags.length;
  find("mode").replaceChildren(
    ...MODES.filter((mode) => modes.includes(mode)).map((mode) =>
      make("option", { value: mode, textContent: say(`mode${capital(mode)}`) }),
    ),
  );
  if (tags.includes(chosen[0])) find("tag").value = chosen[0];
  if (modes.includes(chosen[1])) find("mode").value = chosen[1];
  showMode();
  drawUserWords();
  drawExamples();
}

const capital = (name) => name[0].toUpperCase() + name.slice(1);

function clear(message, kind) {
  drawing.abort();
  found = null;
  panel.replaceChildren();
  closeExplanation();
  drawTabs();
  tell(message, kind);
}

// --- showing ----------------------------------------------------------------------------------

function showLength() {
  const length = Array.from(state.text).length;
  const most = pipeline?.limits.text;
  find("length").textContent = most ? say("length", length, most) : "";
}

function showResult(milliseconds) {
  const words = found.tokens.filter(({ start, end }) => !isSpace(characters.slice(start, end)));
  tell(say("found", words.length, found.sentences.length, Math.round(milliseconds)));
  refresh({ found, characters });
  drawDownloads();
  drawTabs();
  draw();
}

function drawTabs() {
  const shown = Object.entries(VIEWS).filter(([, view]) => pipeline && view.has(pipeline, found));
  if (pipeline && !shown.some(([name]) => name === state.view)) state.view = "words";
  const focused = document.activeElement?.dataset.view;
  find("tabs").replaceChildren(
    ...shown.map(([name, { title }]) =>
      make("button", {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "data-view": name,
        "aria-selected": String(name === state.view),
        "aria-controls": "panel",
        tabIndex: name === state.view ? 0 : -1,
        textContent: say(title),
        onclick: () => choose(name),
      }),
    ),
  );
  panel.setAttribute("aria-labelledby", `tab-${state.view}`);
  find("last-view").textContent = shown.length;
  if (focused) find(`tab-${state.view}`)?.focus();
}

function choose(view) {
  if (!(view in VIEWS) || view === state.view) return;
  state.view = view;
  drawTabs();
  // An alternative view needs what was not asked for yet.
  if (VIEWS[view].wants || !found) annotate();
  else draw();
}

function draw() {
  drawing.abort();
  drawing = new AbortController();
  const focused = panel.contains(document.activeElement)
    ? document.activeElement.dataset
    : undefined;
  const box = document.createElement("div");
  panel.replaceChildren(box);
  panel.dataset.view = state.view;
  VIEWS[state.view].draw(box, scene());
  if (focused?.token !== undefined) {
    panel.querySelector(`button[data-token="${focused.token}"]`)?.focus();
  } else if (focused?.focus) find(focused.focus)?.focus();
}

/** All that a view needs; as in views.js. */
const scene = () => ({
  pipeline,
  found,
  characters,
  state,
  signal: drawing.signal,
  pictures: askPictures,
  change: annotate,
  discard: () => {
    discard();
    showCorrections();
  },
  faultOf,
});

/** Draw the entities as they are now, and offer to download what has been corrected. */
function showCorrections() {
  closeExplanation();
  drawDownloads();
  draw();
}

/** The documents of some sentences, each with its pictures: a long text is never drawn as a whole. */
async function askPictures(texts, signal) {
  const body = { texts, user_words: wordsSent(), pictures: true };
  return (await asked("v1/annotate", { body, signal })).documents;
}

function drawExamples() {
  const examples = EXAMPLES[pipeline.lang] ?? {};
  find("examples").replaceChildren(
    ...Object.entries(examples).map(([name, text]) =>
      make("button", {
        type: "button",
        className: "chip",
        textContent: say(name),
        title: text,
        "data-example": name,
        onclick: () => setText(text),
      }),
    ),
    make("button", {
      type: "button",
      className: "chip",
      textContent: say("clear"),
      onclick: () => {
        setText("");
        textBox.focus();
      },
    }),
  );
}

function setText(text) {
  textBox.value = text;
  state.text = text;
  closeExplanation();
  showLength();
  annotate();
}

// --- user words -------------------------------------------------------------------------------

function drawUserWords() {
  find("user-words").replaceChildren(
    ...state.words.map((each) =>
      make(
        "li",
        pipeline && !usable(each)
          ? { className: "chip unused", title: say("unusedWord") }
          : { className: "chip" },
        make("span", { textContent: each.word, lang: pipeline?.lang ?? "" }),
        make("small", {
          textContent: [each.tag, say(`word${capital(each.mode)}`, each.bonus)]
            .filter((part) => part !== null)
            .join(" · "),
        }),
        make("button", {
          type: "button",
          className: "plain",
          textContent: "✕",
          "aria-label": say("removeWord", each.word),
          onclick: () => {
            removeWord(each);
            useWords();
            find("word").focus();
          },
        }),
      ),
    ),
  );
}

/** Show the words as they are now, and annotate with them. */
function useWords() {
  drawUserWords();
  drawDownloads();
  closeExplanation();
  annotate();
}

function addWord() {
  const word = find("word").value.trim();
  const tag = find("tag").value || null;
  if (!word) {
    find("word").focus();
    return;
  }
  const mode = find("mode").value;
  const bonus = mode === "bonus" ? find("bonus").valueAsNumber : null;
  putWord({ word, tag, mode, bonus });
  useWords();
  find("word").value = "";
  find("tag").value = "";
}

/** Take the word in focus, or else what is selected in the text, into the field of words. */
function takeWord() {
  const focused = document.activeElement.closest(WORDS)?.querySelector(".word");
  const selected = textBox.value.slice(textBox.selectionStart, textBox.selectionEnd);
  // All of the text is selected to be replaced.
  const inText = selected === textBox.value ? "" : selected;
  const word = (focused?.textContent ?? inText).trim();
  if (word && word.length <= 50 && !word.includes("\n")) find("word").value = word;
}

// --- explanations -----------------------------------------------------------------------------

/** A clicked element as what the panel explains, within its sentence; null if there is none. */
function targetOf(element) {
  const { kind } = element.dataset;
  // Pictures are of documents of their own.
  const { found: of, characters: its } = element.closest("figure")?.drawn ?? { found, characters };
  const whole = element.closest("[data-sentence]");
  const number = Number(whole?.dataset.sentence ?? 0);
  const { start, end, constituents } = of.sentences[number];
  const offset = of.tokens[start].start;
  const text = its.slice(offset, of.tokens[end - 1].end);
  if (kind === "categories") {
    const word = element.textContent;
    return { kind, word, label: word, words: [], text: of.text, begin: 0, end: its.all.length };
  }
  const phrase = constituents?.[Number(element.dataset.phrase)];
  const first = phrase?.start ?? Number(whole.dataset.token);
  const last = phrase ? phrase.end - 1 : Number(whole.dataset.last ?? first);
  const [begin, stop] = [of.tokens[first].start, of.tokens[last].end];
  const word = its.slice(begin, stop);
  const label = phrase?.label ?? (kind === "heads" ? of.tokens[first].dep : undefined);
  const tokens = of.tokens.slice(first, last + 1);
  if (kind === "heads") tokens.push(of.tokens[of.tokens[first].head]);
  const words = tokens.map((token) => its.slice(token.start, token.end));
  return { kind, word, label, words, text, begin: begin - offset, end: stop - offset };
}

/** The answer of the server about a text; only the last one that was asked for is waited for. */
function explanationOf(text, component) {
  const key = `${component}\n${text}`;
  const known = explanations;
  if (!known.has(key)) {
    explaining.abort();
    explaining = new AbortController();
    const { signal } = explaining;
    const body = { text, component, user_words: wordsSent() };
    const answer = asked("v1/explain", { body, signal });
    known.set(key, answer);
    // At once, so that nobody is given an answer that will not come.
    const forget = () => known.delete(key);
    signal.addEventListener("abort", forget);
    answer.then(
      () => signal.removeEventListener("abort", forget),
      () => {
        if (!signal.aborted) forget();
      },
    );
  }
  return known.get(key);
}

function explainElement(element) {
  const target = targetOf(element);
  opener = element.closest("button, [tabindex]") ?? opener;
  for (const old of panel.querySelectorAll(".asked")) old.classList.remove("asked");
  (element.closest(WORDS) ?? element).classList.add("asked");
  document.body.classList.add("explains");
  const request = (component) => {
    const most = pipeline.limits.explained_text;
    if (Array.from(target.text).length > most) throw new Error(say("tooLongToExplain", most));
    return explanationOf(target.text, component);
  };
  const form = target.kind === "entities" ? formFor(element, target) : null;
  explain(pipeline, target, { request, close: closeExplanation, faultOf, form });
  find("explained").focus({ preventScroll: true });
  // On phones the panel lies over the lower part of the page.
  if (innerWidth < 1000) element.scrollIntoView();
}

/** The form that corrects an entity, or a word that is none. */
function formFor(element, { begin, end }) {
  const { sentence: number, token } = element.dataset;
  return correctionForm(scene(), { number: Number(number), begin, end }, () => {
    showCorrections();
    const again = [...panel.querySelectorAll(`[data-sentence="${number}"] [data-kind]`)];
    again.findLast((each) => Number(each.dataset.token) <= Number(token))?.focus();
    tell(say("nCorrected", nCorrections()));
  });
}

function closeExplanation() {
  if (find("explanation").hidden) return;
  explaining.abort();
  const within = find("explanation").contains(document.activeElement);
  find("explanation").hidden = true;
  find("explanation").replaceChildren();
  document.body.classList.remove("explains");
  for (const old of panel.querySelectorAll(".asked")) old.classList.remove("asked");
  if (within && opener?.isConnected) opener.focus();
}

panel.addEventListener("click", (event) => {
  const element = event.target.closest("[data-kind]");
  if (element && found) explainElement(element);
});

// --- keys -------------------------------------------------------------------------------------

/** The word that a key leads to from another; null if the key leads nowhere. */
function neighbor(token, key) {
  const all = [...panel.querySelectorAll(WORDS)];
  const at = all.indexOf(token);
  if (key === "ArrowRight") return all[at + 1];
  if (key === "ArrowLeft") return all[at - 1];
  if (key === "Home") return token.parentElement.querySelector(WORDS);
  if (key === "End") return [...token.parentElement.querySelectorAll(WORDS)].at(-1);
  const way = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (!way) return null;
  const { top, left } = token.getBoundingClientRect();
  let line = null;
  let best = null;
  for (let i = at + way; i >= 0 && i < all.length; i += way) {
    const box = all[i].getBoundingClientRect();
    if (Math.abs(box.top - top) < 4) continue;
    if (line !== null && Math.abs(box.top - line) > 4) break;
    line = box.top;
    if (!best || Math.abs(box.left - left) < best.distance) {
      best = { token: all[i], distance: Math.abs(box.left - left) };
    }
  }
  return best?.token;
}

panel.addEventListener("keydown", (event) => {
  const token = event.target.closest(WORDS);
  const next = token && !event.ctrlKey && !event.metaKey && neighbor(token, event.key);
  if (next) next.focus();
  const drawn = event.target.closest("svg [tabindex]");
  if (drawn && (event.key === "Enter" || event.key === " ")) explainElement(drawn);
  if (token && event.key === "b") {
    const before = token.previousElementSibling;
    if (before?.matches(".boundary")) explainElement(before);
  }
  if (next || (drawn && event.key === " ")) event.preventDefault();
});

// One word is in the order of the Tab key: the one that had the focus last.
panel.addEventListener("focusin", (event) => {
  if (!event.target.matches(".token")) return;
  for (const old of panel.querySelectorAll('.token[tabindex="0"]')) old.tabIndex = -1;
  event.target.tabIndex = 0;
});

find("tabs").addEventListener("keydown", (event) => {
  const tabs = [...event.currentTarget.children];
  const at = tabs.findIndex((tab) => tab.dataset.view === state.view);
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  choose(tabs[(at + by + tabs.length) % tabs.length].dataset.view);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    find("download").open = false;
    closeExplanation();
    return;
  }
  const writes = event.target.closest("input, textarea, select");
  if (writes || event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
  const tab = find("tabs").children[Number(event.key) - 1];
  if (event.key === "?") find("help").showModal();
  else if (event.key === "/") textBox.focus();
  else if (event.key === "+") find("larger")?.click();
  else if (event.key === "-") find("smaller")?.click();
  else if (event.key === "0") find("fit")?.click();
  else if (event.key === "w") {
    takeWord();
    find("word").focus();
  } else if (tab) {
    choose(tab.dataset.view);
    find(`tab-${state.view}`).focus();
  } else return;
  event.preventDefault();
});

// --- the rest of the page ---------------------------------------------------------------------

textBox.addEventListener("input", () => {
  state.text = textBox.value;
  showLength();
  clearTimeout(typing);
  typing = setTimeout(annotate, TYPING_PAUSE);
});
textBox.addEventListener("select", takeWord);

function showMode() {
  const mode = find("mode").value;
  find("mode-hint").textContent = mode ? say(`mode${capital(mode)}Hint`) : "";
  find("bonus").disabled = mode !== "bonus";
  find("bonus").parentElement.hidden = mode !== "bonus";
}

find("mode").addEventListener("change", showMode);

find("words").addEventListener("submit", (event) => {
  event.preventDefault();
  addWord();
});

find("shortcuts").addEventListener("click", () => find("help").showModal());

const THEMES = ["auto", "light", "dark"];
const themeNow = () => document.documentElement.dataset.theme ?? "auto";

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").textContent = say(`colors${capital(theme)}`);
}

find("theme").addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length];
  stored("theme", next);
  setTheme(next);
});

function speak() {
  sayAll();
  find("language").lang = language === "en" ? "zh" : "en";
  setTheme(themeNow());
}

find("language").addEventListener("click", () => {
  switchLanguage();
  speak();
  closeExplanation();
  showLength();
  if (pipeline) drawFields();
  annotate();
});

find("share").addEventListener("click", async () => {
  history.replaceState(null, "", link());
  try {
    await navigator.clipboard.writeText(location.href);
    tell(say("copied"));
  } catch {
    tell(say("copyYourself"));
  }
});

/** Words and corrections are offered where there are any. */
function drawDownloads() {
  const button = (format) => find("download").querySelector(`[data-format="${format}"]`);
  button("words").hidden = !listed().length;
  button("corrections").hidden = !nCorrections();
}

// A word that is kept from being one is none of a list.
const listed = () => state.words.filter(({ bonus }) => !(bonus < 0));

const SAVED = {
  words: () => {
    const lines = listed().map(({ word, tag }) => `${tag ? `${word}\t${tag}` : word}\n`);
    save("words.txt", lines.join(""), "text/plain");
    tell(say("savedWords"));
  },
  corrections: () => {
    const { columns, text } = asColumns();
    save("corrections.col", text, "text/plain");
    tell(say("savedCorrections", columns));
  },
};

find("download").addEventListener("click", async (event) => {
  const { format } = event.target.dataset;
  if (!format) return;
  find("download").open = false;
  if (format in SAVED) {
    SAVED[format]();
    return;
  }
  if (!found) {
    tell(say("nothingToDownload"), "warning");
    return;
  }
  const body = {
    texts: [state.text],
    user_words: wordsSent(),
    confidence: state.confidence,
    ...VIEWS[state.view].wants?.(pipeline),
  };
  const accept = format === "json" ? "application/json" : "application/x-conllu";
  try {
    const answer = await asked("v1/annotate", { body, accept });
    const isText = typeof answer === "string";
    save(`annotated.${format}`, isText ? answer : JSON.stringify(answer, null, 2), accept);
  } catch (error) {
    tell(faultOf(error), "error");
  }
});

document.addEventListener("click", (event) => {
  if (!find("download").contains(event.target)) find("download").open = false;
});

function start() {
  if (!readLink()) state.text = textBox.value;
  textBox.value = state.text;
  if (!(state.view in VIEWS)) state.view = "words";
  drawUserWords();
  drawDownloads();
  showLength();
  annotate();
}

speak();
window.addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("text")) start();
});
start();
