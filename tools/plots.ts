import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { calibrationBins, countAbove, type Outcome, ranksOf, wilsonInterval } from "../src/cli/eval/metrics.ts";

const SIZE = 320;
const MARGIN = { left: 60, right: 28, top: 64, bottom: 48 };
const PANEL = { width: MARGIN.left + SIZE + MARGIN.right, height: MARGIN.top + SIZE + MARGIN.bottom };

/** Colours for light and dark mode. The contrast of data is at least 4.5 (WCAG 2.2, 1.4.3). */
export const STYLE = `:root { color-scheme: light dark; --ground: #ffffff; --ink: #1b1f24; --faint: #d0d7de; --data: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --faint: #30363d; --data: #79c0ff; } }
.ground { fill: var(--ground); }
text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.heading { font-weight: 600; font-size: 13px; }
.grid { stroke: var(--faint); }
.chance { stroke: var(--ink); stroke-dasharray: 4 4; fill: none; }
.curve { stroke: var(--data); stroke-width: 2; fill: none; }
.interval { stroke: var(--data); }
.dot { fill: var(--data); }`;

type Scale = ScaleContinuousNumeric<number, number>;

interface Panel {
  heading: string;
  x: Scale;
  y: Scale;
  xTitle: string;
  yTitle: string;
  xTicks: readonly number[];
  content: string;
}

/** A point of a ROC curve: the shares of harmless texts and of positives above a threshold. */
export interface RocPoint {
  falsePositives: number;
  recall: number;
}

/** The ROC curve from (0, 0) to (1, 1), with a point at each turn; empty if all texts are of one class. */
export function rocCurve(outcomes: readonly Outcome[]): RocPoint[] {
  const harmless = ranksOf(outcomes, false);
  const ranks = ranksOf(outcomes, true);
  if (harmless.length === 0 || ranks.length === 0) return [];
  const levels = [...new Set([...harmless, ...ranks])].sort((a, b) => b - a);
  const points = [...levels, Number.NEGATIVE_INFINITY].map((threshold) => ({
    falsePositives: countAbove(harmless, threshold) / harmless.length,
    recall: countAbove(ranks, threshold) / ranks.length,
  }));
  return points.filter((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    const straight = (key: keyof RocPoint) => before?.[key] === point[key] && after?.[key] === point[key];
    return !straight("falsePositives") && !straight("recall");
  });
}

/**
 * Draws the ROC curve as SVG: over all rates of false positives, and on a logarithmic axis for low rates, at which scanners operate.
 *
 * @returns undefined if all texts are of one class.
 */
export function rocPlot(name: string, outcomes: readonly Outcome[], auc: number): string | undefined {
  const points = rocCurve(outcomes);
  if (points.length === 0) return undefined;
  const harmless = ranksOf(outcomes, false).length;
  const y = scaleLinear([0, 1], [SIZE, 0]);
  const linear = scaleLinear([0, 1], [0, SIZE]);
  const lowest = Math.min(0.1, 1 / harmless);
  const log = scaleLog([lowest, 1], [0, SIZE]).clamp(true);
  const curve = (x: Scale) =>
    `<path class="curve" d="${path(points.map((at) => [x(at.falsePositives), y(at.recall)]))}"/>`;
  const diagonal = line()([linear, linear].map((x, end) => [x(end), y(end)])) ?? "";
  const shared = { y, xTitle: "false positives", yTitle: "recall" };
  const panels: Panel[] = [
    {
      ...shared,
      heading: "All rates",
      x: linear,
      xTicks: linear.ticks(5),
      content: `<path class="chance" d="${diagonal}"/>${curve(linear)}`,
    },
    {
      ...shared,
      heading: "Low rates",
      x: log,
      // Only powers of ten: there is no room for other labels.
      xTicks: log.ticks().filter((tick) => Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6)),
      content: curve(log),
    },
  ];
  const title = `ROC curve of ${name}`;
  const positives = outcomes.length - harmless;
  const desc = `Recall on ${positives} texts that should fail, by the rate of false positives on ${harmless} that should not. The area under the curve is ${percent(auc)}.`;
  return svg(title, desc, panels);
}

/**
 * Draws the reliability diagram as SVG: the share of texts with similar probabilities that should fail, with 95 % confidence intervals
 * (Wilson). The points of a calibrated scanner lie on the diagonal.
 *
 * @returns undefined if the scanner has no probability.
 */
export function reliabilityPlot(name: string, outcomes: readonly Outcome[], error: number): string | undefined {
  const bins = calibrationBins(outcomes);
  if (bins.length === 0) return undefined;
  const [x, y] = [scaleLinear([0, 1], [0, SIZE]), scaleLinear([0, 1], [SIZE, 0])];
  const dots = bins.map(({ from, to, rows, probability, positives }) => {
    const [low, high] = wilsonInterval(Math.round(positives * rows), rows);
    const at = coordinate(x(probability));
    const tip = `${rows} texts from ${from} to ${to}: mean ${percent(probability)}, ${percent(positives)} should fail`;
    return (
      `<g><title>${tip}</title>` +
      `<line class="interval" x1="${at}" x2="${at}" y1="${coordinate(y(low))}" y2="${coordinate(y(high))}"/>` +
      `<circle class="dot" cx="${at}" cy="${coordinate(y(positives))}" r="4"/></g>`
    );
  });
  const curve = path(bins.map(({ probability, positives }) => [x(probability), y(positives)]));
  const diagonal = path([0, 1].map((end) => [x(end), y(end)]));
  const title = `Reliability diagram of ${name}`;
  const desc = `The share of texts that should fail, by the probability that the scanner gives them, of ${outcomes.length} texts. The expected calibration error is ${percent(error)}.`;
  return svg(title, desc, [
    {
      heading: `Expected calibration error ${percent(error)}`,
      x,
      y,
      xTitle: "probability",
      yTitle: "share that should fail",
      xTicks: x.ticks(5),
      content: `<path class="chance" d="${diagonal}"/><path class="curve" d="${curve}"/>${dots.join("")}`,
    },
  ]);
}

function svg(title: string, desc: string, panels: readonly Panel[]): string {
  const [width, height] = [panels.length * PANEL.width, PANEL.height];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escapeHtml(title)}</title>
<desc id="desc">${escapeHtml(desc)}</desc>
<style>${STYLE}</style>
<rect class="ground" width="${width}" height="${height}"/>
<text class="heading" x="${MARGIN.left}" y="22">${escapeHtml(title)}</text>
${panels.map((panel, index) => drawPanel(panel, index * PANEL.width + MARGIN.left, MARGIN.top)).join("\n")}
</svg>
`;
}

function drawPanel({ heading, x, y, xTitle, yTitle, xTicks, content }: Panel, left: number, top: number): string {
  const middle = SIZE / 2;
  const vertical = xTicks.map((tick) => {
    const at = coordinate(x(tick));
    return `<line class="grid" x1="${at}" x2="${at}" y1="0" y2="${SIZE}"/><text x="${at}" y="${SIZE + 18}" text-anchor="middle">${tickLabel(tick)}</text>`;
  });
  const horizontal = y.ticks(5).map((tick) => {
    const at = coordinate(y(tick));
    return `<line class="grid" x1="0" x2="${SIZE}" y1="${at}" y2="${at}"/><text x="-8" y="${at}" dy="4" text-anchor="end">${tickLabel(tick)}</text>`;
  });
  return `<g transform="translate(${left} ${top})">
<text x="0" y="-10">${escapeHtml(heading)}</text>
${[...vertical, ...horizontal].join("\n")}
${content}
<text x="${middle}" y="${SIZE + 38}" text-anchor="middle">${xTitle}</text>
<text transform="translate(-44 ${middle}) rotate(-90)" text-anchor="middle">${yTitle}</text>
</g>`;
}

/** The `d` attribute of a path through points. */
export function path(points: readonly [number, number][]): string {
  return line().digits(2)(points as [number, number][]) ?? "";
}

/** Rounds a coordinate to two decimals, to keep files small. */
export function coordinate(value: number): number {
  return Math.round(value * 100) / 100;
}

function tickLabel(value: number): string {
  return `${Number((value * 100).toPrecision(6))} %`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(2)} %`;
}

/** Escapes a text for SVG or HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
