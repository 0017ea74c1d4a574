// Finds the Chromium the browser tests use, or installs one.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bin, run } from "../run.mjs";

const isRoot = process.getuid?.() === 0;

/**
 * Each window of a whole Chromium opens two pages more for its address bar, which no test looks at and which cost as
 * much as the window. The last such list wins, so the others stand here that Playwright turns off.
 */
const withoutFeatures = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];

/** Flags for a quiet Chromium with a make-believe camera and microphone; root has no sandbox to offer. */
export const chromiumFlags = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${withoutFeatures.join(",")}`,
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  ...(isRoot ? ["--no-sandbox"] : []),
];

function onPath(name) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== bin);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The path of a Chromium on this machine, or undefined. */
export async function findChromium() {
  const { chromium } = await import("@playwright/test");
  const candidates = [
    process.env.PLAYWRIGHT_CHROMIUM_PATH,
    chromium.executablePath(),
    "/usr/bin/chromium",
    onPath("google-chrome"),
  ];
  return candidates.find((path) => path && existsSync(path));
}

/**
 * The same engine without windows, where there is one: most tests look at nothing else, and take two thirds of the time.
 * It remembers no device from one page to the next.
 */
export async function findQuickChromium() {
  const shell = process.env.PLAYWRIGHT_CHROMIUM_PATH ?? "/usr/bin/chromium-headless-shell";
  return existsSync(shell) ? shell : await findChromium();
}

/** Like `findChromium`, after trying Playwright's installer and then, as root, Debian's packages. */
export async function requireChromium() {
  const found = await findChromium();
  if (found) return found;
  console.log("No Chromium found: installing one…");
  run("playwright", ["install", "chromium"], { quiet: true });
  if (isRoot && !(await findChromium())) {
    const install = ["install", "-y", "--no-install-recommends"];
    run("apt-get", ["update"], { quiet: true });
    run("apt-get", [...install, "chromium"], { quiet: true });
    run("apt-get", [...install, "chromium-headless-shell"], { quiet: true });
  }
  const installed = await findChromium();
  if (installed) return installed;
  throw new Error("Install Chromium (Debian: `apt-get install chromium`) or set PLAYWRIGHT_CHROMIUM_PATH to one.");
}
