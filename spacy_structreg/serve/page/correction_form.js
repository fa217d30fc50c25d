// The form that puts right what was found, or missed, as an entity.

import { correct, entitiesOf, sentenceOf, undo } from "./corrections.js";
import { make } from "./dom.js";
import { say } from "./strings.js";
import { meaning } from "./views.js";

/**
 * Make the form for a span of a sentence: {number, begin, end}, by code points of the sentence.
 *
 * changed(): called when something has been corrected.
 */
export function correctionForm(scene, { number, begin, end }, changed) {
  const { pipeline } = scene;
  const { words } = sentenceOf(scene, number);
  const { spans, isCorrected } = entitiesOf(scene, number);
  const old = spans.find((each) => each[0] <= begin && begin < each[1]) ?? null;
  const known = new Set(pipeline.parts.flatMap(({ annotates, labels }) =>
    annotates.includes("entities") ? labels : []));
  if (old) known.add(old[2]);

  const type = make("select", { id: "entity-type", required: true });
  // Nothing is chosen for a word that is no entity yet.
  if (!old) type.append(make("option", { value: "" }));
  for (const label of [...known].sort()) {
    const textContent = [label, meaning(scene, label)].filter(Boolean).join(" · ");
    type.append(make("option", { value: label, textContent }));
  }
  type.value = old?.[2] ?? "";

  const options = (place) =>
    words.map((each) => make("option", { value: each[place], textContent: each[2] }));
  const from = make("select", { id: "entity-from", lang: pipeline.lang }, ...options(0));
  const to = make("select", { id: "entity-to", lang: pipeline.lang }, ...options(1));
  const [first, last] = old ?? [begin, end];
  from.value = words.findLast((each) => each[0] <= first)?.[0];
  to.value = words.find((each) => each[1] >= last)?.[1];
  // The end never comes before the begin.
  from.onchange = () => {
    if (Number(to.value) <= Number(from.value)) to.selectedIndex = from.selectedIndex;
  };
  to.onchange = () => {
    if (Number(to.value) <= Number(from.value)) from.selectedIndex = to.selectedIndex;
  };

  const button = (key, onclick) =>
    make("button", { type: "button", textContent: say(key), onclick });
  return make(
    "form",
    {
      className: "correction",
      "aria-label": say("correction"),
      onsubmit: (event) => {
        event.preventDefault();
        correct(scene, number, old, [Number(from.value), Number(to.value), type.value]);
        changed();
      },
    },
    make("label", {}, make("span", { textContent: say("type") }), type),
    make("label", {}, make("span", { textContent: say("from") }), from),
    make("label", {}, make("span", { textContent: say("to") }), to),
    make(
      "div",
      { className: "row" },
      make("button", { type: "submit", textContent: say("save") }),
      old
        ? button("notAnEntity", () => {
            correct(scene, number, old, null);
            changed();
          })
        : null,
      isCorrected
        ? button("undo", () => {
            undo(scene, number);
            changed();
          })
        : null,
    ),
  );
}
