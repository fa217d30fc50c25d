// Elements, and texts by code points. Text goes into a page by textContent alone.

/** Make an element: properties by name, `data-` and `aria-` attributes and `role` as attributes. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const find = (id) => document.getElementById(id);

/** A text whose parts are taken by the server's offsets, which count code points. */
export class Characters {
  constructor(text) {
    this.all = Array.from(text);
  }

  slice(begin, end) {
    return this.all.slice(begin, end).join("");
  }
}

const SPACE = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/;

/** True for a text of white space alone; of the same characters as on the server. */
export const isSpace = (text) => SPACE.test(text);

/**
 * Append what `items` give to a parent, some milliseconds at a time: a long text never stops the
 * page. Ends early when the signal is aborted.
 */
export async function append(parent, items, draw, signal) {
  let started = performance.now();
  for (const item of items) {
    if (signal.aborted) return;
    parent.append(draw(item));
    if (performance.now() - started > 12) {
      await new Promise((resume) => setTimeout(resume));
      started = performance.now();
    }
  }
}

/** Give a file to the browser to save. */
export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Read or write a value of local storage; null where the browser forbids it. */
export function stored(key, value) {
  try {
    if (value === undefined) return JSON.parse(localStorage.getItem(`structreg.${key}`));
    localStorage.setItem(`structreg.${key}`, JSON.stringify(value));
  } catch {
    // Forbidden, full, or written by something else: the page works without it.
  }
  return null;
}
