import fc from "fast-check";

const ODD = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "\0",
  "\ud800",
  "__proto__",
  "constructor",
  [],
  {},
  [[]],
  { type: "text" },
  "{",
  "[1]",
];

/** Any value, including those that programs often handle wrongly. */
const others = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary" }));

/** One of the JSON values `values`, with up to four parts replaced, removed, doubled, wrapped or renamed. */
export function mutatedJson(values) {
  const changes = fc.array(
    fc.tuple(fc.constantFrom("replace", "remove", "double", "wrap", "rename"), fc.nat(), others),
    {
      maxLength: 4,
    },
  );
  return fc.tuple(fc.constantFrom(...values), changes).map(([value, list]) => {
    const holder = { root: structuredClone(value) };
    for (const change of list) mutate(holder, change);
    return holder.root;
  });
}

function mutate(holder, [kind, pick, other]) {
  const places = [];
  const collect = (object) => {
    for (const key of Object.keys(object)) {
      places.push([object, key]);
      if (typeof object[key] === "object" && object[key] !== null) collect(object[key]);
    }
  };
  collect(holder);
  const [object, key] = places[pick % places.length];
  if (kind === "replace") object[key] = structuredClone(other);
  else if (kind === "wrap") object[key] = [object[key]];
  else if (object === holder) return;
  else if (Array.isArray(object))
    object.splice(Number(key), 1, ...(kind === "remove" ? [] : [object[key], structuredClone(object[key])]));
  else if (kind === "remove") delete object[key];
  else if (kind === "rename") object[nameOf(other).slice(0, 20)] = object[key];
}

/** A value as a field name. `String` would call methods of objects, which a generated object may have as fields. */
function nameOf(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** One of the texts `texts`, with up to six pieces replaced, removed or repeated. */
export function mutatedText(texts) {
  const pieces = fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom(
      "\n",
      "  ",
      ": ",
      "- ",
      "&a ",
      "*a",
      "!!binary ",
      "${",
      "}",
      '"',
      "'",
      "{",
      "[",
      "<<: ",
      "\t",
      "%",
      "1e999",
    ),
  );
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(40), pieces), { minLength: 1, maxLength: 6 });
  return fc.tuple(fc.constantFrom(...texts), changes).map(([text, list]) =>
    list.reduce((now, [at, length, piece]) => {
      const start = at % (now.length + 1);
      if (length > 30) return now.slice(0, start) + now.slice(start, start + 20) + now.slice(start);
      return now.slice(0, start) + piece + now.slice(start + (length > 15 ? length : 0));
    }, text),
  );
}
