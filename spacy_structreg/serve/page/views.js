// The views of a result: each draws a document into a panel.
//
// A view has `title` (a key of strings.js), `has(pipeline, found)`: whether there is something to see, `wants`: what the
// server is asked for, and `draw(panel, scene)`. A scene: `pipeline`, `found` (the document),
// `characters` of its text, `state`, `signal` (aborted when something else is drawn), `pictures`
// (asks for the documents of some sentences, with pictures), `change` (asks anew, as the state says),
// `discard` (forgets corrections), `faultOf` (says what an error is). Elements with `data-kind` are
// decisions: page.js explains them when they are clicked.

import { entitiesOf, nCorrections } from "./corrections.js";
import { append, Characters, isSpace, make, save } from "./dom.js";
import { MEANINGS } from "./labels.js";
import { language, say } from "./strings.js";

const CLASSES = {
  noun: ["NOUN", "PRON"],
  name: ["PROPN"],
  verb: ["VERB", "AUX"],
  modifier: ["ADJ", "ADV", "DET"],
  number: ["NUM"],
  function: ["ADP", "CCONJ", "SCONJ", "PART"],
};
const CLASS_OF = Object.fromEntries(
  Object.entries(CLASSES).flatMap(([name, tags]) => tags.map((tag) => [tag, name])),
);
// What is less sure than this, as a probability or by its margin, has its number beside it.
const SURE = 0.9;
const SURE_MARGIN = 3;

const percent = (value) => `${(100 * value).toFixed(value > 0.995 && value < 1 ? 1 : 0)} %`;

/** The tag that a word is shown with. */
const tagOf = (token) => token.tag || token.pos || "";

/** A color: of the word class, or, where there is none, of the label. */
function hueOf({ pipeline }, label, wordClass) {
  return (wordClass ? CLASS_OF[wordClass] : pipeline.fills[label]) ?? "other";
}

export function meaning({ pipeline }, label) {
  const own = language === "zh" && Object.hasOwn(MEANINGS, label) ? MEANINGS[label] : null;
  const known = own ?? pipeline.labels[label];
  return known && known !== label ? known : "";
}

const named = (scene, label) => [label, meaning(scene, label)].filter(Boolean).join(", ");

function legend(scene, hues) {
  const entries = [...hues]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([label, hue]) =>
      make(
        "div",
        {},
        make("dt", { "data-hue": hue, textContent: label }),
        make("dd", { textContent: meaning(scene, label) || "–" }),
      ),
    );
  return make(
    "details",
    { className: "legend", open: innerWidth > 700 },
    make("summary", { textContent: say("legend") }),
    make("dl", {}, ...entries),
  );
}

/** How sure the server is of a token: {text, doubt}, doubt from 0 (sure) to 1. */
function confidenceOf(scene, i) {
  const { confidence = {}, margins = {} } = scene.found;
  const kinds = ["words", "tags"];
  const sure = kinds.map((kind) => confidence[kind]?.[i]).filter((each) => each != null);
  if (sure.length) {
    const least = Math.min(...sure);
    return { text: percent(least), doubt: 1 - least, unsure: least < SURE };
  }
  const leads = kinds.map((kind) => margins[kind]?.[i]).filter((each) => each != null);
  if (!leads.length) return null;
  const least = Math.min(...leads);
  return { text: `+${least.toFixed(1)}`, doubt: 1 / (1 + Math.max(0, least)), unsure: least < SURE_MARGIN };
}

function wordButton(scene, i, sentence) {
  const { found, characters, state } = scene;
  const token = found.tokens[i];
  const word = characters.slice(token.start, token.end);
  if (isSpace(word)) {
    return make("span", { className: "space", textContent: word.includes("\n") ? "⏎" : "␣" });
  }
  const tag = tagOf(token);
  const sure = state.confidence ? confidenceOf(scene, i) : null;
  const button = make(
    "button",
    {
      type: "button",
      className: "token",
      tabIndex: -1,
      "data-kind": "words",
      "data-token": i,
      "data-sentence": sentence,
      "data-hue": hueOf(scene, tag, token.pos),
      "aria-label": [word, named(scene, tag), sure && say("confidence", sure.text)]
        .filter(Boolean)
        .join(", "),
      title: named(scene, tag),
    },
    make("span", { className: "word", textContent: word, lang: scene.pipeline.lang }),
    tag ? make("span", { className: "tag", textContent: tag, "data-kind": "tags" }) : null,
  );
  if (sure) {
    button.style.setProperty("--doubt", `${Math.round(100 * sure.doubt)}%`);
    button.classList.toggle("unsure", sure.unsure);
    button.append(make("span", { className: "sure", textContent: sure.text }));
  }
  return button;
}

function confidenceSwitch({ pipeline, state, change }) {
  const box = make("input", {
    type: "checkbox",
    id: "confidence",
    checked: state.confidence,
    "data-focus": "confidence",
    onchange: () => {
      state.confidence = box.checked;
      change();
    },
  });
  const hint = say(pipeline.calibrated ? "certaintyCalibrated" : "certaintyMargins");
  return [
    make("label", { className: "row" }, box, say("certainty")),
    state.confidence ? make("p", { className: "hint", textContent: hint }) : "",
  ];
}

async function drawWords(panel, scene) {
  const { found } = scene;
  const list = make("div", { className: "words", role: "group", "aria-label": say("words") });
  list.classList.toggle("rated", scene.state.confidence);
  const hues = new Map();
  for (const token of found.tokens) {
    if (tagOf(token)) hues.set(tagOf(token), hueOf(scene, tagOf(token), token.pos));
  }
  if (scene.pipeline.confidence.length) panel.append(...confidenceSwitch(scene));
  panel.append(list);
  if (hues.size) panel.append(legend(scene, hues));
  await append(
    list,
    found.sentences.entries(),
    ([number, sentence]) => {
      const line = make("p", { className: "sentence" });
      for (let i = sentence.start; i < sentence.end; i += 1) {
        if (i > sentence.start) {
          line.append(
            make("span", {
              className: "boundary",
              "data-kind": "boundary",
              "data-token": i,
              "data-sentence": number,
              title: say("whyBoundary"),
            }),
          );
        }
        line.append(wordButton(scene, i, number));
      }
      if (number === 0) line.querySelector("button")?.setAttribute("tabindex", "0");
      return line;
    },
    scene.signal,
  );
}

/** A picture of the server as an element: only SVG, and nothing in it that could run. */
export function parsePicture(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const known = new Set(["svg", "g", "path", "text", "rect", "line", "circle", "title"]);
  const elements = [parsed, ...parsed.querySelectorAll("*")];
  const safe = elements.every(
    (each) =>
      each.namespaceURI === "http://www.w3.org/2000/svg" &&
      known.has(each.localName) &&
      [...each.attributes].every(({ name }) => !/^on|href|style/i.test(name)),
  );
  if (parsed.localName !== "svg" || !safe) throw new Error("this is no picture");
  return document.importNode(parsed, true);
}

/**
 * Make the words, arcs and phrases of a picture decisions that can be clicked and focused.
 *
 * Pictures count the words, and the phrases, from their first token on; white space is no word.
 */
function bindPicture(scene, svg, { found, characters }, { sentence: number, start }) {
  const sentence = found.sentences[number];
  const wordOf = (i) => characters.slice(found.tokens[i].start, found.tokens[i].end);
  const words = [];
  for (let i = start; i < sentence.end; i += 1) if (!isSpace(wordOf(i))) words.push(i);
  const constituents = sentence.constituents ?? [];
  const nBefore = constituents.filter((each) => each.start < start).length;
  for (const element of svg.querySelectorAll("[data-token], [data-phrase]")) {
    const data = element.dataset;
    let label;
    if (data.phrase !== undefined) {
      data.phrase = nBefore + Number(data.phrase);
      const phrase = constituents[data.phrase];
      const [first, last] = [found.tokens[phrase.start], found.tokens[phrase.end - 1]];
      data.kind = "constituents";
      label = `${named(scene, phrase.label)}: ${characters.slice(first.start, last.end)}`;
    } else {
      const i = words[data.token];
      data.token = i;
      const token = found.tokens[i];
      const word = wordOf(i);
      if (data.arc === undefined) {
        data.kind = "words";
        label = `${word}, ${named(scene, tagOf(token))}`;
        element.lang = scene.pipeline.lang;
      } else {
        data.kind = "heads";
        const head = token.head === i ? "" : wordOf(token.head);
        label = say("arc", word, named(scene, token.dep ?? ""), head);
      }
    }
    data.sentence = number;
    if (element.localName !== "text") continue;
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", label);
  }
  // What points at an arc need not hit its line.
  for (const path of svg.querySelectorAll("path[data-arc]")) {
    const wide = path.cloneNode();
    wide.classList.add("wide");
    path.before(wide);
  }
}

const STYLES = { dep: "styleDep", tree: "styleTree", span: "styleSpan" };
const ZOOMS = [0.25, 0.35, 0.5, 0.65, 0.8, 1, 1.25, 1.5, 2, 3];
// Where letters can still be read: what does not fit then is scrolled to.
const LEAST_FIT = 0.5;
// As wide as the page, and no larger than it was drawn, if null.
let zoom = null;
let chosenStyle = null;

const sizeOf = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);

/** How large a picture is drawn: as chosen, or as its frame is wide. */
function scaleOf(svg) {
  if (zoom !== null) return zoom;
  const room = svg.parentElement.clientWidth - 8;
  return Math.min(1, Math.max(LEAST_FIT, room / sizeOf(svg)[0]));
}

function sizePicture(svg) {
  const [width, height] = sizeOf(svg);
  const scale = scaleOf(svg);
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
}

/** Draw the pictures of a document that is one sentence, seldom more. */
function drawPictures(figure, scene, drawn, showStyles) {
  const frame = figure.querySelector(".frame");
  showStyles(drawn.found.pictures);
  const pictures = drawn.found.pictures.filter((each) => each.style === chosenStyle);
  if (!pictures.length) {
    frame.replaceChildren(make("p", { className: "muted", textContent: say("nothingToDraw") }));
    return;
  }
  figure.drawn = drawn;
  frame.replaceChildren(
    ...pictures.map((picture) => {
      const element = parsePicture(picture.svg);
      bindPicture(scene, element, drawn, picture);
      return element;
    }),
  );
  for (const svg of frame.children) sizePicture(svg);
  const button = figure.querySelector("button");
  const name = `sentence-${Number(figure.dataset.number) + 1}-${chosenStyle}`;
  button.hidden = false;
  button.onclick = () => {
    for (const { sentence, svg } of pictures) {
      save(`${name}${sentence ? `-${sentence + 1}` : ""}.svg`, svg, "image/svg+xml");
    }
  };
}

const PICTURES_AT_ONCE = 8;

async function drawTrees(panel, scene) {
  const { found, characters } = scene;
  const styles = make("div", { className: "choice", role: "group", "aria-label": say("pictures") });
  const scale = make("output", {});
  const resize = () => {
    const svgs = [...panel.querySelectorAll("svg")];
    svgs.forEach(sizePicture);
    scale.textContent = svgs.length ? percent(scaleOf(svgs[0])) : "";
    fit.setAttribute("aria-pressed", String(zoom === null));
  };
  const step = (by) => {
    const svg = panel.querySelector("svg");
    if (!svg) return;
    const now = scaleOf(svg);
    const next = by > 0 ? ZOOMS.find((each) => each > now) : ZOOMS.findLast((each) => each < now);
    zoom = next ?? now;
    resize();
  };
  const zoomButton = (sign, by, name) =>
    make("button", {
      type: "button",
      textContent: sign,
      "aria-label": name,
      id: by > 0 ? "larger" : "smaller",
      onclick: () => step(by),
    });
  const fit = make("button", {
    type: "button",
    textContent: say("fit"),
    id: "fit",
    onclick: () => {
      zoom = null;
      resize();
    },
  });
  const zooms = make(
    "div",
    { className: "choice", role: "group", "aria-label": say("size") },
    fit,
    zoomButton("−", -1, say("smaller")),
    scale,
    zoomButton("+", 1, say("larger")),
  );
  const list = make("div", { className: "trees" });
  panel.append(make("div", { className: "bar" }, styles, zooms), list);

  const textOf = ({ start, end }) =>
    characters.slice(found.tokens[start].start, found.tokens[end - 1].end);
  // Some sentences in one request, and only those that are seen.
  const asked = new Map();
  const atOnce = Math.min(PICTURES_AT_ONCE, scene.pipeline.limits.texts);
  const drawnOf = async (number) => {
    const begin = number - (number % atOnce);
    if (!asked.has(begin)) {
      const texts = found.sentences.slice(begin, begin + atOnce).map(textOf);
      const answer = scene.pictures(texts, scene.signal);
      answer.catch(() => asked.delete(begin));
      asked.set(begin, answer);
    }
    const document = (await asked.get(begin))[number - begin];
    return { found: document, characters: new Characters(document.text) };
  };
  const showStyles = (pictures) => {
    const names = [...new Set(pictures.map((each) => each.style))];
    if (names.length <= styles.children.length) return;
    if (!names.includes(chosenStyle)) chosenStyle = names[0];
    styles.replaceChildren(
      ...names.map((name) =>
        make("button", {
          type: "button",
          textContent: name in STYLES ? say(STYLES[name]) : name[0].toUpperCase() + name.slice(1),
          "data-style": name,
          "aria-pressed": String(name === chosenStyle),
          onclick: () => {
            chosenStyle = name;
            for (const each of styles.children) {
              each.setAttribute("aria-pressed", String(each.dataset.style === name));
            }
            for (const figure of list.querySelectorAll("figure.seen")) see(figure);
          },
        }),
      ),
    );
  };
  const see = async (figure) => {
    const number = Number(figure.dataset.number);
    figure.classList.add("seen");
    try {
      const drawn = await drawnOf(number);
      if (scene.signal.aborted) return;
      drawPictures(figure, scene, drawn, showStyles);
      resize();
    } catch (error) {
      if (scene.signal.aborted) return;
      const text = scene.faultOf(error);
      figure.querySelector(".frame").replaceChildren(make("p", { textContent: text }));
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        see(target);
      }
    },
    { rootMargin: "400px" },
  );
  const widths = new ResizeObserver(resize);
  widths.observe(list);
  scene.signal.addEventListener("abort", () => {
    observer.disconnect();
    widths.disconnect();
  });
  await append(
    list,
    found.sentences.entries(),
    ([number, sentence]) => {
      const figure = make(
        "figure",
        { "data-number": number },
        make(
          "figcaption",
          {},
          make("span", { textContent: textOf(sentence).trim(), lang: scene.pipeline.lang }),
          make("button", {
            type: "button",
            hidden: true,
            textContent: "SVG",
            "aria-label": say("downloadPicture", number + 1),
          }),
        ),
        make("div", {
          className: "frame",
          tabIndex: 0,
          role: "group",
          "aria-label": say("picture", number + 1),
        }),
      );
      observer.observe(figure);
      return figure;
    },
    scene.signal,
  );
}

let chosenSpans = "entities";

/** The spans of a group in a sentence, as `entitiesOf`; only entities can be corrected. */
function spansOf(scene, number) {
  if (chosenSpans === "entities") return entitiesOf(scene, number);
  const { tokens, sentences, spans } = scene.found;
  const { start, end } = sentences[number];
  const offset = tokens[start].start;
  const found = spans[chosenSpans]
    .filter((each) => each.start >= start && each.start < end)
    .sort((one, other) => one.start - other.start || other.end - one.end)
    .map((each) => [
      tokens[each.start].start - offset,
      tokens[Math.min(each.end, end) - 1].end - offset,
      each.label,
    ]);
  return { spans: found, isCorrected: false };
}

/** A sentence with its spans; of those that overlap, the text stands there once, with the first. */
function markedSentence(scene, number, hues) {
  const { spans, isCorrected } = spansOf(scene, number);
  const { tokens, sentences } = scene.found;
  const { start, end } = sentences[number];
  const line = make("span", { className: isCorrected ? "corrected" : "", "data-sentence": number });
  const offset = tokens[start].start;
  const kind = chosenSpans === "entities" ? "entities" : undefined;
  let at = offset;
  for (let i = start; i < end; i += 1) {
    const token = tokens[i];
    if (token.end <= at) continue;
    line.append(scene.characters.slice(at, token.start));
    const span = spans.find((each) => each[0] + offset <= token.start && token.start < each[1] + offset);
    const stop = span ? span[1] + offset : token.end;
    const text = scene.characters.slice(token.start, stop);
    at = stop;
    if (!span && (isSpace(text) || !kind)) {
      line.append(text);
      continue;
    }
    let last = i;
    while (last + 1 < end && tokens[last + 1].start < stop) last += 1;
    const data = {
      type: "button",
      "data-kind": kind,
      "data-token": i,
      "data-last": last,
      "data-sentence": number,
    };
    const word = make("span", { className: "word", textContent: text });
    if (!span) {
      line.append(make("button", { ...data, className: "outside", tabIndex: -1 }, word));
      continue;
    }
    const [, , label] = span;
    hues.set(label, hueOf(scene, label));
    const marked = make(
      "button",
      { ...data, className: "entity", "data-hue": hueOf(scene, label), title: meaning(scene, label) },
      word,
      make("span", { className: "tag", lang: "en", textContent: label }),
    );
    line.append(marked);
  }
  const next = sentences[number + 1];
  line.append(scene.characters.slice(at, next ? tokens[next.start].start : undefined));
  if (isCorrected) line.append(make("small", { textContent: `✓ ${say("corrected")}` }));
  return line;
}

function drawEntities(panel, scene) {
  const groups = ["entities", ...Object.keys(scene.found.spans ?? {})];
  if (!groups.includes(chosenSpans)) chosenSpans = "entities";
  const content = make("div");
  const show = async () => {
    const box = make("div", { className: "marked", lang: scene.pipeline.lang });
    const hues = new Map();
    content.replaceChildren();
    if (chosenSpans === "entities") {
      content.append(make("p", { className: "hint", textContent: say("correctHint") }));
      if (nCorrections()) {
        const button = { type: "button", textContent: say("discard"), onclick: scene.discard };
        const told = say("nCorrected", nCorrections());
        content.append(make("p", { className: "row corrections" }, told, make("button", button)));
      }
    }
    content.append(box);
    const number = scene.found.sentences.keys();
    await append(box, number, (each) => markedSentence(scene, each, hues), scene.signal);
    if (scene.signal.aborted || !box.isConnected) return;
    if (hues.size) content.append(legend(scene, hues));
    else box.after(make("p", { className: "muted", textContent: say("noEntities") }));
  };
  if (groups.length > 1) {
    const choice = make("select", {
      onchange: () => {
        chosenSpans = choice.value;
        show();
      },
    });
    const titleOf = (name) => (name === "entities" ? say("entities") : name);
    choice.append(...groups.map((name) => make("option", { value: name, textContent: titleOf(name) })));
    choice.value = chosenSpans;
    panel.append(make("label", { className: "row" }, say("spans"), " ", choice));
  }
  panel.append(content);
  show();
}

function drawCategories(panel, scene) {
  const sorted = Object.entries(scene.found.categories).sort((one, other) => other[1] - one[1]);
  panel.append(
    make(
      "ol",
      { className: "bars" },
      ...sorted.map(([label, score]) => {
        const bar = make("span", { className: "bar-of" });
        bar.style.width = `${100 * Math.max(0, Math.min(1, score))}%`;
        return make(
          "li",
          {},
          make("button", { type: "button", "data-kind": "categories", textContent: label }),
          make("span", { className: "track", "aria-hidden": "true" }, bar),
          make("span", { className: "number", textContent: score === null ? "–" : percent(score) }),
        );
      }),
    ),
  );
}

/** What is in an analysis, one key for each decision, so that two can be compared. */
const PARTS_OF = {
  words(of) {
    let at = 0;
    return of.map((item) => {
      const [word, tag] = Array.isArray(item) ? item : [item, ""];
      const key = `${at} ${word} ${tag}`;
      at += Array.from(word).length;
      return { key, text: word, tag };
    });
  },
  tags: (of, word, start) =>
    of.map((tag, i) => ({ key: `${i} ${tag}`, text: word(start + i), tag })),
  heads: (of, word, start) =>
    of.map(([head, label], i) => ({
      key: `${i} ${head} ${label}`,
      text: head === start + i ? word(head) : `${word(start + i)} ← ${word(head)}`,
      tag: label,
    })),
  constituents: (of, word) =>
    of.map(([label, start, end]) => ({
      key: `${label} ${start} ${end}`,
      text: Array.from({ length: end - start }, (_, i) => word(start + i)).join(""),
      tag: label,
    })),
};
// Of these, what differs is shown alone: they have no places in the text of their own.
const SHORT = new Set(["heads", "constituents"]);
// Words that are shown on either side of what differs.
const CONTEXT = 2;

/**
 * What is shown of an analysis beside the best one, as [element, part]: `mark` for what it has
 * instead, `del` for what the best one has there, `span` for what both have, "…" for more of that.
 */
function compared(parts, best, isShort) {
  const [known, kept] = [best, parts].map((all) => new Set(all.map(({ key }) => key)));
  const own = (part) => !known.has(part.key);
  const lost = best.filter(({ key }) => !kept.has(key));
  if (isShort) {
    return [...lost.map((part) => ["del", part]), ...parts.filter(own).map((part) => ["mark", part])];
  }
  const row = [];
  let at = 0;
  let marks = [];
  const differ = (end) => {
    row.push(...best.slice(at, end).map((part) => ["del", part]), ...marks);
    marks = [];
  };
  for (const part of parts) {
    if (own(part)) marks.push(["mark", part]);
    else {
      // What both have comes in the same order in both.
      const place = best.findIndex(({ key }, i) => i >= at && key === part.key);
      differ(place);
      row.push(["span", part]);
      at = place + 1;
    }
  }
  differ();
  const isNear = (i) => row.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(([name]) => name !== "span");
  return row
    .map((each, i) => (isNear(i) ? each : ["…"]))
    .filter(([name], i, all) => name !== "…" || all[i - 1]?.[0] !== "…");
}

function analysisRow(scene, parts, best, score, lead, kind, isAlone) {
  const isBest = parts === best;
  const isShort = SHORT.has(kind);
  const item = ([name, part]) =>
    name === "…"
      ? "…"
      : make(
          name,
          { className: "part" },
          make("span", { textContent: part.text, lang: scene.pipeline.lang }),
          part.tag ? make("span", { className: "tag", textContent: part.tag }) : null,
        );
  let items = isBest && !isShort ? parts.map((part) => ["span", part]) : compared(parts, best, isShort);
  items = items.map(item);
  if (isAlone) items.push(make("small", { textContent: say("only") }));
  else if (!items.some((each) => each !== "…")) items = [isBest ? say("drawn") : say("same")];
  const behind = isBest ? say("best") : `−${lead.toFixed(2)}`;
  const title = say("score", score.toFixed(3));
  return make(
    "li",
    {},
    make("span", { className: "number", title, textContent: behind }),
    make("span", { className: "parts" }, ...items),
  );
}

async function drawAlternatives(panel, scene) {
  const { found, characters } = scene;
  const word = (i) => characters.slice(found.tokens[i].start, found.tokens[i].end);
  panel.append(make("p", { className: "hint", textContent: say("alternativesHint") }));
  for (const [kind, sentences] of Object.entries(found.alternatives ?? {})) {
    if (!(kind in PARTS_OF)) continue;
    const section = make("section", {}, make("h2", { textContent: say(kind) }));
    panel.append(section);
    await append(
      section,
      sentences,
      (analyses) => {
        const parts = analyses.map((each) => PARTS_OF[kind](each.of, word, each.start));
        const isAlone = analyses.length === 1;
        return make(
          "ol",
          { className: "analyses" },
          ...analyses.map(({ score }, i) =>
            analysisRow(scene, parts[i], parts[0], score, analyses[0].score - score, kind, isAlone),
          ),
        );
      },
      scene.signal,
    );
  }
}

export const VIEWS = {
  words: { title: "viewWords", has: () => true, draw: drawWords },
  trees: {
    title: "viewTrees",
    has: ({ annotates }) => annotates.includes("heads") || annotates.includes("constituents"),
    draw: drawTrees,
  },
  entities: {
    title: "viewEntities",
    has: ({ annotates }, found) =>
      annotates.includes("entities") || Object.keys(found?.spans ?? {}).length > 0,
    draw: drawEntities,
  },
  categories: {
    title: "viewCategories",
    has: ({ annotates }) => annotates.includes("categories"),
    draw: drawCategories,
  },
  alternatives: {
    title: "viewAlternatives",
    has: ({ alternatives }) => alternatives.length > 0,
    wants: (pipeline) => ({ alternatives: Math.min(5, pipeline.limits.alternatives) }),
    draw: drawAlternatives,
  },
};
