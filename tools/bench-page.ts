import { readFile, writeFile } from "node:fs/promises";
import { scaleLinear, scalePoint } from "d3-scale";
import type { BenchReport, ClockRow, ThroughputRow } from "../src/cli/bench/report.ts";
import { benchTables, MEMORY_POINTS, type Table } from "../src/cli/bench/tables.ts";
import { formatMilliseconds } from "../src/cli/bench/timing.ts";
import { type Command, parse, UsageError } from "../src/cli/command.ts";
import { megabytes } from "../src/cli/system.ts";
import { coordinate, escapeHtml, path, STYLE } from "./plots.ts";

/** Sizes of the charts, in pixels. */
const [LABELS, BARS, VALUES, LINE] = [220, 380, 120, 22];
const [PLOT_WIDTH, PLOT_HEIGHT, EXIT_DELAY_MS, TOP, BOTTOM] = [260, 180, 64, 24, 44];

const PAGE_STYLE = `${STYLE}
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--faint); text-align: left; white-space: nowrap; }
.right { text-align: right; }`;

/** Writes a report of `guard-scan bench --json` as a page of HTML. */
export const benchPage: Command = {
  name: "bench-page",
  summary: "Makes a page with tables and charts from the JSON of guard-scan bench.",
  usage: "npm run bench:page -- REPORT.json PAGE.html",
  options: {},
  async run(args) {
    const [report, page, more] = parse({}, args).positionals;
    if (report === undefined || page === undefined || more !== undefined) {
      throw new UsageError("expected two files: REPORT.json PAGE.html");
    }
    await writeFile(page, benchHtml(JSON.parse(await readFile(report, "utf8"))));
    return 0;
  },
};

/** The report as a page of HTML without scripts and without files from elsewhere. It has the number of texts, not the texts. */
export function benchHtml(report: BenchReport): string {
  const { guard, date, machine, subject, seconds, texts, clocks, throughput, memory } = report;
  const [clockTable, throughputTable] = benchTables(report) as [Table, Table];
  const counts = texts.map(
    ({ texts, count, characters }) =>
      `${count} ${texts}${count === 1 ? "" : "s"}${characters === undefined ? "" : ` (${characters} characters)`}`,
  );
  const on = [machine.system, `${machine.processors} processors`, machine.model, `Node.js ${machine.node}`];
  const lists = [...new Set(throughput.map(({ texts }) => texts))];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>guard-scan bench: ${escapeHtml(subject)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<h1>guard-scan bench: ${escapeHtml(subject)}</h1>
<p>guard ${escapeHtml(guard)}, ${escapeHtml(date)}, on ${escapeHtml(on.filter(Boolean).join(", "))}. Each row was measured for ${seconds} s, on ${escapeHtml(counts.join(", "))}.</p>
<h2>${escapeHtml(clockTable.heading)}</h2>
<p>Wall: from the call to its result. CPU: processor time of all threads. Engine: time of models, with the medians of waiting for a thread, tokenizing, and inference. The bars show the median wall time.</p>
${lists.map((kind) => `<h3>${escapeHtml(kind)}s</h3>\n${clockBars(clocks.filter(({ texts }) => texts === kind))}`).join("\n")}
${htmlTable(clockTable)}
<h2>${escapeHtml(throughputTable.heading)}</h2>
${lists.map((kind) => `<h3>${escapeHtml(kind)}s</h3>\n${throughputCharts(throughput.filter(({ texts }) => texts === kind))}`).join("\n")}
${htmlTable(throughputTable)}
${
  memory === undefined
    ? ""
    : `<h2>Resident memory</h2>\n${bars(
        "Resident memory",
        MEMORY_POINTS.map(([point, title]) => [title, memory[point], megabytes(memory[point])]),
      )}\n`
}</body>
</html>
`;
}

function clockBars(rows: readonly ClockRow[]): string {
  return bars(
    "Median wall time per text",
    rows.map(({ name, wall }) => [name, wall.p50, `${formatMilliseconds(wall.p50)} ms`]),
  );
}

function bars(title: string, items: readonly (readonly [name: string, value: number, label: string])[]): string {
  const x = scaleLinear([0, Math.max(...items.map(([, value]) => value), Number.MIN_VALUE)], [0, BARS]);
  const [width, height] = [LABELS + BARS + VALUES, items.length * LINE];
  const lines = items.map(([name, value, label], index) => {
    const y = index * LINE;
    const long = coordinate(x(value));
    return `<text x="${LABELS - 8}" y="${y + 15}" text-anchor="end">${escapeHtml(truncateName(name))}</text><rect class="dot" x="${LABELS}" y="${y + 4}" width="${long}" height="${LINE - 8}"/><text x="${LABELS + long + 6}" y="${y + 15}">${escapeHtml(label)}</text>`;
  });
  return svgElement(title, width, height, lines.join("\n"));
}

/** The maximum length of a name beside a bar. The table has the full name. */
const MAX_NAME = 32;

function truncateName(name: string): string {
  const characters = [...name];
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join("")}…` : name;
}

/** Charts of the scans per second and of the latency by concurrency. */
function throughputCharts(rows: readonly ThroughputRow[]): string {
  const plots: readonly (readonly [title: string, lines: readonly (readonly number[])[]])[] = [
    ["scans per second", [rows.map(({ perSecond }) => perSecond)]],
    ["milliseconds, p50 and p99 (dashed)", [rows.map(({ p50 }) => p50), rows.map(({ p99 }) => p99)]],
  ];
  const each = EXIT_DELAY_MS + PLOT_WIDTH + 40;
  const x = scalePoint(
    rows.map(({ concurrency }) => concurrency),
    [0, PLOT_WIDTH],
  ).padding(0.3);
  const xOf = (row: ThroughputRow) => x(row.concurrency) ?? 0;
  const content = plots.map(([title, lines], index) => {
    const y = scaleLinear([0, Math.max(...lines.flat(), Number.MIN_VALUE)], [PLOT_HEIGHT, 0]).nice(4);
    const grid = y.ticks(4).map((tick) => {
      const at = coordinate(y(tick));
      return `<line class="grid" x1="0" x2="${PLOT_WIDTH}" y1="${at}" y2="${at}"/><text x="-8" y="${at}" dy="4" text-anchor="end">${tick}</text>`;
    });
    const ticks = rows.map(
      (row) =>
        `<text x="${coordinate(xOf(row))}" y="${PLOT_HEIGHT + 18}" text-anchor="middle">${row.concurrency}</text>`,
    );
    const curves = lines.map((values, line) => {
      const points = values.map((value, index): [number, number] => [xOf(rows[index] as ThroughputRow), y(value)]);
      const dots = points.map(
        ([cx, cy]) => `<circle class="dot" cx="${coordinate(cx)}" cy="${coordinate(cy)}" r="3"/>`,
      );
      return `<path class="curve"${line === 0 ? "" : ' stroke-dasharray="4 4"'} d="${path(points)}"/>${dots.join("")}`;
    });
    return `<g transform="translate(${index * each + EXIT_DELAY_MS} ${TOP})">
<text class="heading" y="-10">${title}</text>
${[...grid, ...ticks, ...curves].join("\n")}
<text x="${PLOT_WIDTH / 2}" y="${PLOT_HEIGHT + 36}" text-anchor="middle">concurrent scans</text>
</g>`;
  });
  return svgElement("Throughput and latency", plots.length * each, TOP + PLOT_HEIGHT + BOTTOM, content.join("\n"));
}

function svgElement(title: string, width: number, height: number, content: string): string {
  return `<div class="wide"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeHtml(title)}</title>
${content}
</svg></div>`;
}

function htmlTable({ titles, rows, right }: Table): string {
  const line = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell, index) => `<${tag}${right.includes(index) ? ' class="right"' : ""}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<div class="wide"><table>\n${[line("th", titles), ...rows.map((cells) => line("td", cells))].join("\n")}\n</table></div>`;
}
