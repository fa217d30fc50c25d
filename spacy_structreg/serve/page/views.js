// The views of a result: each draws a document into a panel.
//
// A view has `title`, `has(pipeline, found)`: whether there is something to see, `wants`: what the
// server is asked for, and `draw(panel, scene)`. A scene: `pipeline`, `found` (the document),
// `characters` of its text, `state`, `signal` (aborted when something else is drawn), `pictures`
// (asks for the documents of some sentences, with pictures). Elements with `data-kind` are
// decisions: page.js explains them when they are clicked.

import { append, Characters, isSpace, make, save } from "./dom.js";

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

function meaning(scene, label) {
  const known = scene.pipeline.labels[label];
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
    make("summary", { textContent: "What the labels mean" }),
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
      "aria-label": [word, named(scene, tag), sure && `confidence ${sure.text}`]
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

async function drawWords(panel, scene) {
  const { found } = scene;
  const list = make("div", { className: "words", role: "group", "aria-label": "Words" });
  list.classList.toggle("rated", scene.state.confidence);
  const hues = new Map();
  for (const token of found.tokens) {
    if (tagOf(token)) hues.set(tagOf(token), hueOf(scene, tagOf(token), token.pos));
  }
  if (scene.pipeline.confidence.length) panel.append(scene.confidenceSwitch());
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
              title: "Why a boundary here?",
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
        const of = token.head === i ? "" : ` of ${wordOf(token.head)}`;
        label = `${word}: ${named(scene, token.dep ?? "")}${of}`;
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

const STYLE_TITLES = { dep: "Dependencies", tree: "Phrases", span: "Bars" };
const ZOOMS = [0.5, 0.65, 0.8, 1, 1.25, 1.5, 2, 3];
let zoom = 3;
let chosenStyle = null;

function sizePicture(svg) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  svg.setAttribute("width", width * ZOOMS[zoom]);
  svg.setAttribute("height", height * ZOOMS[zoom]);
}

/** Draw the pictures of a document that is one sentence, seldom more. */
function drawPictures(figure, scene, drawn, showStyles) {
  const frame = figure.querySelector(".frame");
  showStyles(drawn.found.pictures);
  const pictures = drawn.found.pictures.filter((each) => each.style === chosenStyle);
  if (!pictures.length) {
    frame.replaceChildren(make("p", { className: "muted", textContent: "Nothing to draw." }));
    return;
  }
  figure.drawn = drawn;
  frame.replaceChildren(
    ...pictures.map((picture) => {
      const element = parsePicture(picture.svg);
      bindPicture(scene, element, drawn, picture);
      sizePicture(element);
      return element;
    }),
  );
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
  const styles = make("div", { className: "choice", role: "group", "aria-label": "Pictures" });
  const scale = make("output", { textContent: percent(ZOOMS[zoom]) });
  const step = (by) => {
    zoom = Math.min(ZOOMS.length - 1, Math.max(0, zoom + by));
    scale.textContent = percent(ZOOMS[zoom]);
    for (const svg of panel.querySelectorAll("svg")) sizePicture(svg);
  };
  const zoomButton = (sign, by, name) =>
    make("button", {
      type: "button",
      textContent: sign,
      "aria-label": name,
      id: by > 0 ? "larger" : "smaller",
      onclick: () => step(by),
    });
  const zooms = make(
    "div",
    { className: "choice", role: "group", "aria-label": "Size" },
    zoomButton("−", -1, "Smaller"),
    scale,
    zoomButton("+", 1, "Larger"),
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
          textContent: STYLE_TITLES[name] ?? name[0].toUpperCase() + name.slice(1),
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
      if (!scene.signal.aborted) drawPictures(figure, scene, drawn, showStyles);
    } catch (error) {
      if (scene.signal.aborted) return;
      const text = `No picture: ${error.message}`;
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
  scene.signal.addEventListener("abort", () => observer.disconnect());
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
            "aria-label": `Download the picture of sentence ${number + 1} as SVG`,
          }),
        ),
        make("div", {
          className: "frame",
          tabIndex: 0,
          role: "group",
          "aria-label": `Picture of sentence ${number + 1}`,
        }),
      );
      observer.observe(figure);
      return figure;
    },
    scene.signal,
  );
}

let chosenSpans = "entities";

function drawEntities(panel, scene) {
  const { found, characters } = scene;
  const groups = { entities: found.entities ?? [], ...found.spans };
  if (!(chosenSpans in groups)) chosenSpans = "entities";
  const names = Object.keys(groups);
  const show = () => {
    for (const old of panel.querySelectorAll(".marked, .legend")) old.remove();
    const spans = [...groups[chosenSpans]].sort((a, b) => a.start - b.start || b.end - a.end);
    const box = make("div", { className: "marked", lang: scene.pipeline.lang });
    const hues = new Map();
    let at = 0;
    for (const { label, start, end } of spans) {
      const [begin, stop] = [found.tokens[start].start, found.tokens[end - 1].end];
      // Of spans that overlap, the text stands there once, with the first of them.
      if (begin < at) continue;
      hues.set(label, hueOf(scene, label));
      box.append(characters.slice(at, begin));
      box.append(
        make(
          "button",
          {
            type: "button",
            className: "entity",
            "data-kind": "entities",
            "data-token": start,
            "data-last": end - 1,
            "data-sentence": found.sentences.findIndex((each) => each.end > start),
            "data-hue": hueOf(scene, label),
            title: meaning(scene, label),
          },
          make("span", { className: "word", textContent: characters.slice(begin, stop) }),
          make("span", { className: "tag", lang: "en", textContent: label }),
        ),
      );
      at = stop;
    }
    box.append(characters.slice(at));
    panel.append(box);
    if (!spans.length) {
      box.append(make("p", { className: "muted", textContent: "None were found in this text." }));
    } else panel.append(legend(scene, hues));
  };
  if (names.length > 1) {
    const choice = make("select", {
      onchange: () => {
        chosenSpans = choice.value;
        show();
      },
    });
    choice.append(...names.map((name) => make("option", { value: name, textContent: name })));
    choice.value = chosenSpans;
    panel.append(make("label", { className: "row" }, "Spans ", choice));
  }
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
// Of these only what differs from the best analysis is shown.
const SHORT = new Set(["heads", "constituents"]);
const KIND_TITLES = {
  words: "Words",
  tags: "Tags",
  heads: "Dependencies",
  constituents: "Phrases",
};

function analysisRow(scene, parts, best, score, lead, kind) {
  const isBest = parts === best;
  const known = new Set(best.map(({ key }) => key));
  const item = (name, { text, tag }) =>
    make(
      name,
      { className: "part" },
      make("span", { textContent: text, lang: scene.pipeline.lang }),
      tag ? make("span", { className: "tag", textContent: tag }) : null,
    );
  const differing = parts.filter(({ key }) => !known.has(key));
  const items = SHORT.has(kind)
    ? differing.map((part) => item("mark", part))
    : parts.map((part) => item(known.has(part.key) ? "span" : "mark", part));
  if (SHORT.has(kind)) {
    const kept = new Set(parts.map(({ key }) => key));
    items.push(...best.filter(({ key }) => !kept.has(key)).map((part) => item("del", part)));
  }
  if (!items.length) items.push(isBest ? "the analysis that is drawn" : "the same");
  const behind = isBest ? "best" : `−${lead.toFixed(2)}`;
  return make(
    "li",
    {},
    make("span", { className: "number", title: `score ${score.toFixed(3)}`, textContent: behind }),
    make("span", { className: "parts" }, ...items),
  );
}

async function drawAlternatives(panel, scene) {
  const { found, characters } = scene;
  const word = (i) => characters.slice(found.tokens[i].start, found.tokens[i].end);
  panel.append(
    make("p", {
      className: "muted",
      textContent: "The best analyses, and how far their scores are behind. What the best one does not "
        + "have is marked; of trees, what it has instead is struck out. Where the model weighed no other, "
        + "the best one stands alone.",
    }),
  );
  for (const [kind, sentences] of Object.entries(found.alternatives ?? {})) {
    if (!(kind in PARTS_OF)) continue;
    const section = make("section", {}, make("h2", { textContent: KIND_TITLES[kind] }));
    panel.append(section);
    await append(
      section,
      sentences,
      (analyses) => {
        const parts = analyses.map((each) => PARTS_OF[kind](each.of, word, each.start));
        return make(
          "ol",
          { className: "analyses" },
          ...analyses.map(({ score }, i) =>
            analysisRow(scene, parts[i], parts[0], score, analyses[0].score - score, kind),
          ),
        );
      },
      scene.signal,
    );
  }
}

export const VIEWS = {
  words: { title: "Words", has: () => true, draw: drawWords },
  trees: {
    title: "Trees",
    has: ({ annotates }) => annotates.includes("heads") || annotates.includes("constituents"),
    draw: drawTrees,
  },
  entities: {
    title: "Entities",
    has: ({ annotates }, found) =>
      annotates.includes("entities") || Object.keys(found?.spans ?? {}).length > 0,
    draw: drawEntities,
  },
  categories: {
    title: "Categories",
    has: ({ annotates }) => annotates.includes("categories"),
    draw: drawCategories,
  },
  alternatives: {
    title: "Alternatives",
    has: ({ alternatives }) => alternatives.length > 0,
    wants: (pipeline) => ({ alternatives: Math.min(5, pipeline.limits.alternatives) }),
    draw: drawAlternatives,
  },
};
