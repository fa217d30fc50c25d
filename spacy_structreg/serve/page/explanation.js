// The panel that tells why something was decided.

import { find, make } from "./dom.js";

const KINDS = {
  boundary: "words",
  words: "words",
  tags: "tags",
  heads: "heads",
  constituents: "constituents",
  entities: "entities",
  categories: "categories",
};
const PART_TITLES = {
  words: "Words",
  tags: "Tags",
  heads: "Dependencies",
  constituents: "Phrases",
  entities: "Entities",
  categories: "Categories",
};
const N_BARS = 12;

/** The part of the pipeline that decides a kind of thing; the first that explains at all if none. */
export function partFor(pipeline, kind) {
  const parts = pipeline.parts.filter((part) => part.explains);
  // The last to write it has the last word.
  return parts.findLast((part) => (part.annotates ?? []).includes(KINDS[kind])) ?? parts[0];
}

function titleOf(part) {
  const titles = (part.annotates ?? []).map((kind) => PART_TITLES[kind]).filter(Boolean);
  return titles.length ? titles.join(", ") : part.name;
}

function bars(rows, unit) {
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
          place ? make("small", { textContent: `at ${place}` }) : null,
          needed ? make("strong", { textContent: "would have to change" }) : null,
        ),
        make("span", { className: "track both", "aria-hidden": "true" }, bar),
        make("span", {
          className: "number",
          textContent: `${score < 0 ? "−" : "+"}${Math.abs(score).toFixed(2)}`,
          "aria-label": `${score.toFixed(2)} ${unit}`,
        }),
      );
    }),
  );
}

function limited(rows, unit) {
  if (rows.length <= N_BARS) return [bars(rows, unit)];
  return [
    bars(rows.slice(0, N_BARS), unit),
    make(
      "details",
      {},
      make("summary", { textContent: `${rows.length - N_BARS} weaker ones` }),
      bars(rows.slice(N_BARS), unit),
    ),
  ];
}

function body(decision) {
  const parts = [];
  if (decision.runner_up !== null) {
    const rows = decision.differences.map((each) => ({
      name: each.template,
      value: each.value,
      place: each.place,
      score: each.chosen - each.runner_up,
      needed: each.needed,
      title: each.source,
    }));
    parts.push(
      make(
        "p",
        { className: "sides" },
        make("span", { textContent: `◂ ${decision.runner_up}` }),
        make("b", { textContent: `${decision.chosen} ▸` }),
      ),
      ...(rows.length
        ? limited(rows, `for ${decision.chosen}`)
        : [make("p", { className: "muted", textContent: "Nothing tells the two apart." })]),
    );
  } else parts.push(make("p", { className: "muted", textContent: "There was no other choice." }));
  if (decision.contributions.length) {
    const rows = decision.contributions.map((each) => ({
      name: each.template,
      value: each.value,
      score: each.score,
      title: each.source,
    }));
    const n = decision.n_contributions ?? rows.length;
    parts.push(
      make(
        "details",
        {},
        make("summary", { textContent: `All features of this decision (${n})` }),
        ...limited(rows, "points"),
      ),
    );
  }
  return parts;
}

function decisionItem(decision, isOpen) {
  const other = decision.runner_up === null ? "no other choice" : `runner-up: ${decision.runner_up}`;
  const item = make(
    "details",
    { className: "decision", open: isOpen },
    make(
      "summary",
      {},
      make("span", { className: "place", textContent: decision.place }),
      make("b", { textContent: decision.chosen }),
      make("span", { className: "muted", textContent: other }),
      decision.margin === null
        ? null
        : make("span", {
            className: "number",
            title: "margin: how far the runner-up is behind",
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
 * request(component): the answer of /v1/explain. close(): what the close button does.
 */
export async function explain(pipeline, target, request, close) {
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
        "Why ",
        make("span", { textContent: target.word, lang: pipeline.lang }),
        "?",
      ),
      make("button", {
        type: "button",
        className: "plain",
        textContent: "✕",
        "aria-label": "Close the explanation",
        onclick: close,
      }),
    ),
    ...(parts.length > 1 ? [make("label", { className: "row" }, "Decisions about ", choice)] : []),
    content,
  );
  panel.hidden = false;
  const show = async () => {
    content.replaceChildren(make("p", { className: "muted", textContent: "…" }));
    const chosen = choice.value;
    try {
      const found = await request(chosen);
      if (choice.value === chosen) content.replaceChildren(...explained(found, target));
    } catch (error) {
      if (error?.name === "AbortError") return;
      content.replaceChildren(make("p", { className: "error", textContent: error.message }));
    }
  };
  choice.onchange = show;
  if (!parts.length) {
    content.append(make("p", { textContent: "No part of this pipeline can explain itself." }));
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
    parts.push(make("p", { className: "muted", textContent: "No decision is about this alone." }));
  }
  if (rest.length) {
    const others = make("details", { className: "others" });
    const title = `All other decisions of the sentence (${rest.length})`;
    others.append(make("summary", { textContent: title }));
    others.addEventListener("toggle", () => {
      if (others.open && others.childElementCount === 1) others.append(...list(rest, false));
    });
    parts.push(others);
  }
  return parts;
}
