import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findShellBeside } from "#scripts/local/chromium.mjs";

const folders: string[] = [];

/** Registry of Playwright's browsers with these files. */
const makeRegistry = (...files: string[]): string => {
  const registry = mkdtempSync(join(tmpdir(), "lisolo-browsers-"));
  folders.push(registry);
  for (const file of files) {
    mkdirSync(join(registry, file, ".."), { recursive: true });
    writeFileSync(join(registry, file), "");
  }
  return registry;
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const shell = "chromium_headless_shell-1255/chrome-headless-shell-linux64/chrome-headless-shell";

test("the headless shell is found beside the Chromium of the same revision, on each system", () => {
  const marker = "chromium_headless_shell-1255/INSTALLATION_COMPLETE";
  const linux = makeRegistry(shell, marker);
  expect(findShellBeside(join(linux, "chromium-1255/chrome-linux64/chrome"))).toBe(join(linux, shell));

  const windowsShell = "chromium_headless_shell-1255/chrome-headless-shell-win64/chrome-headless-shell.exe";
  const windows = makeRegistry(windowsShell, marker);
  expect(findShellBeside(join(windows, "chromium-1255/chrome-win64/chrome.exe"))).toBe(join(windows, windowsShell));

  const macShell = "chromium_headless_shell-1255/chrome-headless-shell-mac-arm64/chrome-headless-shell";
  const mac = makeRegistry(macShell, marker);
  const app = "chromium-1255/chrome-mac-arm64/Chromium.app/Contents/MacOS/Chromium";
  expect(findShellBeside(join(mac, app))).toBe(join(mac, macShell));
});

test("no headless shell is found if none is installed, or only that of another revision or a part of one", () => {
  const registry = makeRegistry(shell, "chromium_headless_shell-1256/INSTALLATION_COMPLETE");
  expect(findShellBeside(join(registry, "chromium-1254/chrome-linux64/chrome"))).toBeUndefined();
  expect(findShellBeside(join(registry, "chromium-1256/chrome-linux64/chrome"))).toBeUndefined();
  expect(findShellBeside("/usr/bin/chromium")).toBeUndefined();
});
