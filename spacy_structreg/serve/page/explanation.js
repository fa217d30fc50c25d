// The panel that tells why something was decided.

import { find, make } from "./dom.js";
import { EXPLAINED } from "./labels.js";
import { language, say } from "./strings.js";

const KINDS = {
  boundary: "words",
  words: "words",
  tags: "tags",
  heads: "heads",
  constituents: "constituents",
  entities: "entities",
  categories: "categories",
};
// Keys of strings.js that name the decisions of the parts of a pipeline.
const NAMED = new Set(Object.values(KINDS));
const N_BARS = 12;

// The longest first: one begins as another.
const NAMES = Object.keys(EXPLAINED).sort().reverse();
const EXPLAINED_NAMES = new RegExp(`(^|, )(${NAMES.join("|")})(?=$|,| )`, "g");

/** A decision, or what a feature is known from, in the language of the page. */
function told(text) {
  if (language !== "zh") return text;
  return text.replace(EXPLAINED_NAMES, (_, before, name) => before + EXPLAINED[name]);
}

/** The value of a feature; what lies beyond the ends of a sentence has a name. */
const valueOf = (value) => (language === "zh" ? value.replaceAll("(edge)", "（句外）") : value);

/** The part of the pipeline that decides a kind of thing; the first that explains at all if none. */
export function partFor(pipeline, kind) {
  const parts = pipeline.parts.filter((part) => part.explains);
  // The last to write it has the last word.
  return parts.findLast((part) => (part.annotates ?? []).includes(KINDS[kind])) ?? parts[0];
}

function titleOf(part) {
  const titles = (part.annotates ?? []).filter((kind) => NAMED.has(kind)).map((kind) => say(kind));
  return titles.length ? titles.join(", ") : part.name;
}

/** Features and their bars; named(value): a number as it is read out. */
function bars(rows, named) {
  const most = Math.max(...rows.map(({ score }) => Math.abs(score)), 1e-9);
  return make(
    "ul",
    { className: "features" },
    ...rows.map(({ name, value, place, score, needed, title }) => {
      const bar = make("span", { className: score < 0 ? "bar-of against" : "bar-of for" });
      bar.style.width = `${(50 * Math.abs(score)) / most}%`;
      return make(
        "li",
        { className: needed ? "needed" : "", title },
        make(
          "span",
          { className: "feature" },
          make("code", { textContent: name }),
          make("span", { textContent: value }),
          place ? make("small", { textContent: say("at", place) }) : null,
          needed ? make("strong", { textContent: say("needed") }) : null,
        ),
        make("span", { className: "track both", "aria-hidden": "true" }, bar),
        make("span", {
          className: "number",
          textContent: `${score < 0 ? "−" : "+"}${Math.abs(score).toFixed(2)}`,
          "aria-label": named(score.toFixed(2)),
        }),
      );
    }),
  );
}

function limited(rows, named) {
  if (rows.length <= N_BARS) return [bars(rows, named)];
  return [
    bars(rows.slice(0, N_BARS), named),
    make(
      "details",
      {},
      make("summary", { textContent: say("weaker", rows.length - N_BARS) }),
      bars(rows.slice(N_BARS), named),
    ),
  ];
}

function body(decision) {
  const parts = [];
  if (decision.runner_up !== null) {
    const rows = decision.differences.map((each) => ({
      name: each.template,
      value: valueOf(each.value),
      place: each.place,
      score: each.chosen - each.runner_up,
      needed: each.needed,
      title: told(each.source),
    }));
    parts.push(
      make(
        "p",
        { className: "sides" },
        make("span", { textContent: `◂ ${told(decision.runner_up)}` }),
        make("b", { textContent: `${told(decision.chosen)} ▸` }),
      ),
      ...(rows.length
        ? limited(rows, (value) => say("pointsFor", value, told(decision.chosen)))
        : [make("p", { className: "muted", textContent: say("nothingApart") })]),
    );
  } else parts.push(make("p", { className: "muted", textContent: say("wasNoChoice") }));
  if (decision.contributions.length) {
    const rows = decision.contributions.map((each) => ({
      name: each.template,
      value: valueOf(each.value),
      score: each.score,
      title: told(each.source),
    }));
    const n = decision.n_contributions ?? rows.length;
    parts.push(
      make(
        "details",
        {},
        make("summary", { textContent: say("allFeatures", n) }),
        ...limited(rows, (value) => say("points", value)),
      ),
    );
  }
  return parts;
}

function decisionItem(decision, isOpen) {
  const other = decision.runner_up === null ? say("noChoice") : say("runnerUp", told(decision.runner_up));
  const item = make(
    "details",
    { className: "decision", open: isOpen },
    make(
      "summary",
      {},
      make("span", { className: "place", textContent: decision.place }),
      make("b", { textContent: told(decision.chosen) }),
      make("span", { className: "muted", textContent: other }),
      decision.margin === null
        ? null
        : make("span", {
            className: "number",
            title: say("margin"),
            textContent: `${decision.margin < 0 ? "−" : "+"}${Math.abs(decision.margin).toFixed(2)}`,
          }),
    ),
  );
  // Most decisions are never opened.
  const fill = () => {
    if (item.open && item.childElementCount === 1) item.append(...body(decision));
  };
  item.addEventListener("toggle", fill);
  fill();
  return item;
}

/** The decisions about what was clicked: by their offsets, or else by their labels and words. */
function concerned(decisions, { kind, begin, end, words, label }) {
  const placed = decisions.filter(
    (each) =>
      each.start !== undefined &&
      (kind === "boundary" ? each.start === begin : each.start < end && each.end > begin),
  );
  if (placed.length) return placed;
  const labeled = decisions.filter(({ chosen }) => label && chosen.split(" ").includes(label));
  const all = labeled.length ? labeled : decisions;
  const mentioned = all.map(({ place }) => {
    const parts = new Set(place.split(" "));
    return words.filter((word) => parts.has(word)).length;
  });
  const most = Math.max(...mentioned);
  return all.filter((_, i) => mentioned[i] === most);
}

/**
 * Show the panel for a target: {kind, word, begin, end, words, label}: its text, offsets within the
 * text explained, the words that it is about, and its label if it is of trees.
 *
 * request(component): the answer of /v1/explain. close(): what the close button does. faultOf(error):
 * says what an error is. form: what corrects the target, or null.
 */
export async function explain(pipeline, target, { request, close, faultOf, form }) {
  const panel = find("explanation");
  const parts = pipeline.parts.filter((part) => part.explains);
  const content = make("div", { className: "content", "aria-live": "polite" });
  const choice = make("select", { id: "part" });
  choice.append(
    ...parts.map((part) => make("option", { value: part.name, textContent: titleOf(part) })),
  );
  panel.replaceChildren(
    make(
      "div",
      { className: "bar" },
      make(
        "h2",
        { id: "explained", tabIndex: -1 },
        say("whyBefore"),
        make("span", { textContent: target.word, lang: pipeline.lang }),
        say("whyAfter"),
      ),
      make("button", {
        type: "button",
        className: "plain",
        textContent: "✕",
        "aria-label": say("closeExplanation"),
        onclick: close,
      }),
    ),
    ...(form ? [form] : []),
    ...(parts.length > 1 ? [make("label", { className: "row" }, say("decisionsAbout"), " ", choice)] : []),
    content,
  );
  panel.hidden = false;
  const show = async () => {
    content.replaceChildren(make("p", { className: "muted", textContent: say("working") }));
    const chosen = choice.value;
    try {
      const found = await request(chosen);
      if (choice.value === chosen) content.replaceChildren(...explained(found, target));
    } catch (error) {
      if (error?.name === "AbortError") return;
      content.replaceChildren(make("p", { className: "error", textContent: faultOf(error) }));
    }
  };
  choice.onchange = show;
  if (!parts.length) {
    content.append(make("p", { textContent: say("cannotExplain") }));
    return;
  }
  choice.value = partFor(pipeline, target.kind).name;
  await show();
}

function explained(found, target) {
  const about = concerned(found.decisions, target);
  const rest = found.decisions.filter((each) => !about.includes(each));
  const list = (decisions, isOpen) =>
    decisions.map((each, i) => decisionItem(each, isOpen && i === 0));
  const parts = [...list(about, true)];
  if (!about.length) {
    parts.push(make("p", { className: "muted", textContent: say("noDecision") }));
  }
  if (rest.length) {
    const others = make("details", { className: "others" });
    const title = say("otherDecisions", rest.length);
    others.append(make("summary", { textContent: title }));
    others.addEventListener("toggle", () => {
      if (others.open && others.childElementCount === 1) others.append(...list(rest, false));
    });
    parts.push(others);
  }
  return parts;
}
