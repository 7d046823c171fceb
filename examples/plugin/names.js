// A NER model that knows only a few names. A real one loads a model, or calls a service.

const KNOWN = new Map([
  ["Ada Lovelace", "PER"],
  ["Grace Hopper", "PER"],
  ["Globex", "ORG"],
]);

/** @type {import("guard-scan").CustomNerModel} */
export const names = {
  types: ["PER", "ORG"],
  find(text) {
    return [...KNOWN].flatMap(([name, type]) =>
      [...text.matchAll(new RegExp(`\\b${name}\\b`, "g"))].map(({ index }) => ({
        start: index,
        end: index + name.length,
        type,
        score: 0.95,
      })),
    );
  },
};
