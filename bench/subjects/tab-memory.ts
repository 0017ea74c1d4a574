import { existsSync, readFileSync } from "node:fs";
import type { Browser } from "@playwright/test";

/** Private memory of a process in bytes (Linux). */
function readPrivateBytes(pid: number): number {
  const file = `/proc/${pid}/smaps_rollup`;
  if (!existsSync(file)) return Number.NaN;
  const lines = readFileSync(file, "utf8").matchAll(/^Private_\w+:\s+(\d+) kB$/gm);
  return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Private memory of a browser's largest renderer in bytes; NaN without Linux's /proc. */
export async function measureRendererMemory(browser: Browser): Promise<number> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  await cdp.detach();
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => readPrivateBytes(id));
  return sizes.length === 0 ? Number.NaN : Math.max(...sizes);
}
