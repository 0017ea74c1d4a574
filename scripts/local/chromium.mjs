// Finds the Chromium for the browser tests, or installs one.
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bin, run } from "../run.mjs";

const isRoot = process.getuid?.() === 0;

/**
 * Features turned off. Each window of a full Chromium opens two more pages for its address bar, which cost as much as
 * the window. Only the last such list counts, so Playwright's own list is repeated here.
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

/**
 * Flags for a Chromium without background activity and with a fake camera and microphone; root cannot use the sandbox.
 */
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

/** Path of a Chromium on this machine, or undefined. */
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
 * Path of the headless shell that Playwright installed beside its full Chromium, or undefined. Playwright tells only
 * the latter's path: `…/chromium-1255/…`, and the shell's is `…/chromium_headless_shell-1255/chrome-headless-shell-linux64/…`.
 */
export function findShellBeside(chromiumPath) {
  const [, registry, revision] = /^(.*)chromium-(\d+)/.exec(chromiumPath) ?? [];
  const folder = `${registry}chromium_headless_shell-${revision}`;
  if (!existsSync(folder)) return undefined;
  const paths = readdirSync(folder).flatMap((name) =>
    ["chrome-headless-shell", "chrome-headless-shell.exe"].map((file) => join(folder, name, file)),
  );
  return paths.find((path) => existsSync(path));
}

/**
 * Path of the headless shell if installed: most tests need no window, and take two thirds of the time with it. It does
 * not remember device choices between pages.
 */
export async function findQuickChromium() {
  const { chromium } = await import("@playwright/test");
  const { PLAYWRIGHT_CHROMIUM_PATH } = process.env;
  const shells = PLAYWRIGHT_CHROMIUM_PATH
    ? [PLAYWRIGHT_CHROMIUM_PATH]
    : [findShellBeside(chromium.executablePath()), "/usr/bin/chromium-headless-shell"];
  return shells.find((path) => path && existsSync(path)) ?? (await findChromium());
}

/** Like `findChromium`, but tries Playwright's installer and then, as root, Debian's packages. */
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
