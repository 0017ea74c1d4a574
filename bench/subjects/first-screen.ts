import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareHtml, buildBareReact, serveFolder, servePage } from "#bench/floors/bare-pages.ts";
import { launchBrowser, newPhone } from "#bench/rig/browser.ts";
import { type EdgeProxy, edgeBrotliQuality, startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { measureOpening, type PageOpening } from "#bench/rig/opening.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { computeRatio, median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const rounds = 5;

export async function measureFirstScreen(): Promise<Section[]> {
  buildProduct();
  const folder = mkdtempSync(join(tmpdir(), "lisolo-bench-"));
  const stops: (() => Promise<void>)[] = [];
  const browser = await launchBrowser();
  try {
    const server = await startServer();
    stops.push(() => server.stop());
    await buildBareReact(folder);
    const reactServer = await serveFolder(folder);
    const htmlServer = await servePage(bareHtml);
    stops.push(reactServer.stop, htmlServer.stop);
    const proxies: EdgeProxy[] = [];
    for (const upstream of [htmlServer.origin, reactServer.origin, server.origin]) {
      const proxy = await startCompressingProxy(upstream);
      proxies.push(proxy);
      stops.push(proxy.stop);
    }
    const names = ["bare HTML page", "bare React page", "Lisolo /login"];
    const openings = names.map((): PageOpening[] => []);
    for (let round = -1; round < rounds; round++) {
      for (const [i, proxy] of proxies.entries()) {
        const context = await newPhone(browser);
        const opening = await measureOpening(context, `${proxy.origin}/login`, "input");
        await context.close();
        if (round >= 0) openings[i]?.push(opening);
      }
    }
    const getTimes = (i: number, key: "painted" | "typeable") => (openings[i] ?? []).map((opening) => opening[key]);
    const rows = names.map((name, i) => [
      name,
      formatMilliseconds(median(getTimes(i, "painted"))),
      formatRatio(computeRatio(getTimes(i, "painted"), getTimes(1, "painted")).ratio),
      formatRatio(computeRatio(getTimes(i, "painted"), getTimes(0, "painted")).ratio),
      formatMilliseconds(median(getTimes(i, "typeable"))),
      formatRatio(computeRatio(getTimes(i, "typeable"), getTimes(1, "typeable")).ratio),
      (openings[i] ?? []).every((opening) => opening.isKept) ? "yes" : "no",
    ]);
    const section: Section = {
      title: "First screen on slow 3G (400 kbit/s, 400 ms a request, processor 6× slower)",
      columns: ["", "first paint", "to React", "to HTML", "typeable", "to React", "typed text kept"],
      rows,
      notes: [
        `Medians of ${rounds} rounds taken in turn, each in a fresh browser context. "Typeable": the first input takes a real key, pressed every 30 ms.`,
        `All three stand behind the same proxy, which compresses as Cloudflare's edge does (brotli ${edgeBrotliQuality}) because Wrangler's development server does not. HTTP/1.1 without TLS for all three. Aim: at most 1.0 s.`,
      ],
    };
    return [section];
  } finally {
    await browser.close();
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
