import { existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** The program of an installed Chromium: `GUARD_CHROMIUM`, or one in a usual folder. */
export const chromiumPath = process.env.GUARD_CHROMIUM || PLACES.find(existsSync);

/** Why the tests in a browser cannot run on this machine; undefined if they can. */
export const noChromium = chromiumPath
  ? undefined
  : `There is no Chromium at ${PLACES.join(", ")}: install one (Debian: apt-get install chromium), or name its program in GUARD_CHROMIUM.`;

// A developer's machine may leave these tests out, but must say so. In CI they have to run.
if (noChromium && !process.env.CI) console.warn(`The tests of the page are skipped. ${noChromium}`);

/** Whether the tests in a browser are skipped. In CI they fail without a browser. */
export const skipsBrowser = noChromium !== undefined && !process.env.CI;
