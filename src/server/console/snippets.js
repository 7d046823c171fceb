// Writes a request as code to copy. The credential is named by a variable of the environment, and never shown.

/**
 * @typedef {import("./session.js").Scheme} Scheme
 * @typedef {{ url: string, body: object, scheme: Scheme | undefined }} Request
 */

const VARIABLE = "GUARD_CREDENTIAL";

/** @param {Request} request */
export function curlOf({ url, body, scheme }) {
  const credential = scheme && `-H ${curlHeader(scheme)}`;
  const parts = [`curl -s ${quoted(url)}`, credential, "-H 'Content-Type: application/json'"];
  return [...parts.filter(Boolean), `-d ${quoted(JSON.stringify(body, null, 2))}`].join(" \\\n  ");
}

/** Quotes a text for a shell. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {Scheme} scheme */
function curlHeader(scheme) {
  switch (scheme.type) {
    case "http_bearer":
      return `"Authorization: Bearer $${VARIABLE}"`;
    case "http_basic":
      return `"Authorization: Basic $(printf %s "$${VARIABLE}" | base64 | tr -d '\\n')"`;
    case "api_key":
      return `"${scheme.header}: $${VARIABLE}"`;
  }
}

/** @param {Request} request */
export function typescriptOf({ url, body, scheme }) {
  const value = `process.env.${VARIABLE}`;
  const header = {
    none: undefined,
    http_bearer: `    authorization: \`Bearer \${${value}}\`,`,
    http_basic: `    authorization: \`Basic \${Buffer.from(${value} ?? "").toString("base64")}\`,`,
    api_key: `    ${JSON.stringify(scheme?.type === "api_key" ? scheme.header : "")}: ${value} ?? "",`,
  }[scheme?.type ?? "none"];
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    '  method: "POST",',
    "  headers: {",
    '    "content-type": "application/json",',
    ...(header ? [header] : []),
    "  },",
    `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`,
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    "const { outcome, scanners } = await response.json();",
    "console.log(outcome, scanners);",
  ].join("\n");
}

/** @param {Request} request */
export function pythonOf({ url, body, scheme }) {
  const value = `os.environ["${VARIABLE}"]`;
  const header = {
    none: undefined,
    http_bearer: `        "Authorization": "Bearer " + ${value},`,
    http_basic: `        "Authorization": "Basic " + base64.b64encode(${value}.encode()).decode(),`,
    api_key: `        ${JSON.stringify(scheme?.type === "api_key" ? scheme.header : "")}: ${value},`,
  }[scheme?.type ?? "none"];
  return [
    ...(scheme?.type === "http_basic" ? ["import base64"] : []),
    "import json",
    ...(scheme ? ["import os"] : []),
    "import urllib.request",
    "",
    `body = ${pythonValue(body)}`,
    "request = urllib.request.Request(",
    `    ${JSON.stringify(url)},`,
    "    data=json.dumps(body).encode(),",
    "    headers={",
    '        "Content-Type": "application/json",',
    ...(header ? [header] : []),
    "    },",
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    result = json.load(response)",
    'print(result["outcome"], result.get("scanners"))',
  ].join("\n");
}

/** Indents all lines but the first. @param {string} text */
function indented(text) {
  return text.replaceAll("\n", "\n  ");
}

/**
 * Writes a value of JSON in Python. The strings of JSON are strings of Python too.
 *
 * @param {unknown} value
 * @param {string} [indent]
 * @returns {string}
 */
function pythonValue(value, indent = "") {
  const inner = `${indent}    `;
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonValue(item, inner))
    : Object.entries(/** @type {object} */ (value)).map(
        ([key, item]) => `${JSON.stringify(key)}: ${pythonValue(item, inner)}`,
      );
  const [open, close] = isList ? "[]" : "{}";
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
