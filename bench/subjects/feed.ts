import { readdirSync, statSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { seedFeed } from "#bench/fixtures/filled-feed.ts";
import { brotliSize } from "#bench/rig/brotli.ts";
import { edgeBrotliQuality } from "#bench/rig/compressing-proxy.ts";
import { isMeasured, runRowsBench } from "#bench/rig/count-rows.ts";
import { buildProduct, clientFolder } from "#bench/rig/product.ts";
import { findRuntimePid, readCpuMs } from "#bench/rig/runtime.ts";
import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import type { PageTimes } from "#bench/rows/report.ts";
import { postPageBytes } from "#contract/limits/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { startServer } from "#tests/support/server/server.ts";
import { toCostSection } from "./row-costs.ts";

const posts = 1_000_000;
const people = 200;
const rounds = 25;
const roundMs = 500;
const concurrentRequests = 16;

const isPageTimes = (reported: unknown): reported is PageTimes =>
  typeof reported === "object" && reported !== null && "byOffset" in reported;

/** Rows per action, and paging by number compared with paging by offset. */
async function measureDirectory(): Promise<Section[]> {
  const reported = await runRowsBench("feed");
  const rows = reported
    .filter(isPageTimes)
    .map(({ page, rowsByNumber, rowsByOffset, byNumber, byBareNumber, byOffset }) => {
      const { ratio, low, high } = computeRatio(byNumber, byOffset);
      return [
        `page ${page.toLocaleString("en")}`,
        String(rowsByNumber),
        String(rowsByOffset),
        formatMilliseconds(median(byNumber)),
        formatMilliseconds(median(byBareNumber)),
        formatMilliseconds(median(byOffset)),
        `${formatRatio(ratio)} (${low.toFixed(2)}–${high.toFixed(2)})`,
      ];
    });
  return [
    toCostSection("A feed of 1,000,000 statuses: rows", reported.filter(isMeasured), [
      "All of a request's rows are in it, one of them the caller's session; a publication's bucket of its limit too.",
    ]),
    {
      title: "A feed of 1,000,000 statuses: a page that is kept nowhere",
      columns: ["", "rows", "rows, OFFSET = floor", "time", "bare", "OFFSET = floor", "time / floor"],
      rows,
      notes: ["Both ask the same local D1 from inside the runtime, by turns. OFFSET looks up only the names it shows."],
    },
  ];
}

type RequestKind = { name: string; path: string; headers: (asker: Person) => Record<string, string>; expected: number };
type Figures = { rate: number[]; computed: number[]; p50: number[]; p99: number[] };

/** Repeats one request on keep-alive connections for `ms`. */
async function driveRequests(
  origin: string,
  askers: readonly Person[],
  kind: RequestKind,
  ms: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrentRequests });
  const durations: number[] = [];
  const until = performance.now() + ms;
  const send = (asker: Person): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = performance.now();
      request(origin + kind.path, { agent, headers: kind.headers(asker) }, (answer) => {
        answer.resume();
        answer.once("error", reject).once("end", () => {
          if (answer.statusCode !== kind.expected) reject(new Error(`${kind.name}: ${answer.statusCode}`));
          durations.push(performance.now() - started);
          resolve();
        });
      })
        .once("error", reject)
        .end();
    });
  const sendRepeatedly = async (first: number): Promise<void> => {
    for (let i = first; performance.now() < until; i += concurrentRequests) {
      const asker = askers[i % askers.length];
      if (asker) await send(asker);
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrentRequests }, (_, i) => sendRepeatedly(i)));
  } finally {
    agent.destroy();
  }
  return durations;
}

/** Built script whose size is closest to `bytes`. */
function findFileOfSize(bytes: number): string {
  const sizes = readdirSync(join(clientFolder, "assets"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({ name, far: Math.abs(statSync(join(clientFolder, "assets", name)).size - bytes) }));
  const [nearest] = sizes.sort((a, b) => a.far - b.far);
  if (!nearest) throw new Error("The client is not built");
  return `/assets/${nearest.name}`;
}

async function compareRequests(
  origin: string,
  runtime: string,
  askers: readonly Person[],
  kinds: readonly RequestKind[],
): Promise<Figures[]> {
  const figures = kinds.map((): Figures => ({ rate: [], computed: [], p50: [], p99: [] }));
  for (let round = -1; round < rounds; round++) {
    for (const [i, kind] of kinds.entries()) {
      const [computed, started] = [readCpuMs(runtime), performance.now()];
      const durations = await driveRequests(origin, askers, kind, roundMs);
      const seconds = (performance.now() - started) / 1_000;
      const figuresOfKind = figures[i];
      if (round < 0 || !figuresOfKind) continue; // the first round warms up
      figuresOfKind.rate.push(durations.length / seconds);
      figuresOfKind.computed.push((readCpuMs(runtime) - computed) / durations.length);
      figuresOfKind.p50.push(percentile(durations, 0.5));
      figuresOfKind.p99.push(percentile(durations, 0.99));
    }
  }
  return figures;
}

const toAuthHeaders = ({ token }: Person): Record<string, string> => ({ authorization: `Bearer ${token}` });
const computeEdgeSize = (bytes: Buffer): number =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: edgeBrotliQuality } }).length;

/** Bytes of a page, and feed openings per second of one runtime. */
async function measureServing(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  try {
    const askers = await seedFeed(server, people, posts);
    const runtime = findRuntimePid(server.port);
    if (!runtime) throw new Error("CPU time is read from Linux's /proc, which is missing");
    const { origin } = server;
    const answer = await fetch(`${origin}/api/tala`, { headers: toAuthHeaders(askers[0]) });
    const page = Buffer.from(await answer.arrayBuffer());
    const etag = answer.headers.get("etag") ?? "";
    const file = findFileOfSize(page.length);
    const kinds: RequestKind[] = [
      {
        name: `a static file of the same Worker (${file.slice(8)}) = floor`,
        path: file,
        headers: () => ({}),
        expected: 200,
      },
      { name: "the first page", path: "/api/tala", headers: toAuthHeaders, expected: 200 },
      {
        name: "the first page, unchanged (304)",
        path: "/api/tala",
        headers: (asker) => ({ ...toAuthHeaders(asker), "if-none-match": etag }),
        expected: 304,
      },
      { name: "for comparison: who am I, one row", path: "/api/auth/user", headers: toAuthHeaders, expected: 200 },
      // Signed in as well: the limits for visitors of one address are lower.
      { name: "for comparison: an answer of no rows", path: "/api/health", headers: toAuthHeaders, expected: 200 },
    ];
    const figures = await compareRequests(origin, runtime, askers, kinds);
    const formatRatioRange = (figuresOfKind: number[], floor: number[]): string => {
      const { ratio, low, high } = computeRatio(figuresOfKind, floor);
      return `${formatRatio(ratio)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    };
    const [floor] = figures;
    return [
      {
        title: "A page of the feed: bytes",
        columns: ["", "raw", "as the edge compresses it", "at brotli's best"],
        rows: [
          [
            `20 statuses of ${new Set((JSON.parse(page.toString()) as { authors: unknown[] }).authors.map(String)).size} authors, all with pictures`,
            String(page.length),
            String(computeEdgeSize(page)),
            String(brotliSize(page)),
          ],
          ["aim", String(postPageBytes), "", ""],
        ],
        notes: ["French statuses of 40 to 110 characters; ids, keys and thumbhashes are random, as they are."],
      },
      {
        title: "Openings a second of one runtime, 1,000,000 statuses stored",
        columns: ["", "a second", "of the floor", "computed", "of the floor", "median", "99 %"],
        rows: kinds.flatMap(({ name }, i) => {
          const figuresOfKind = figures[i];
          if (!figuresOfKind || !floor) return [];
          return [
            [
              name,
              median(figuresOfKind.rate).toFixed(0),
              formatRatioRange(figuresOfKind.rate, floor.rate),
              formatMilliseconds(median(figuresOfKind.computed)),
              formatRatioRange(figuresOfKind.computed, floor.computed),
              formatMilliseconds(median(figuresOfKind.p50)),
              formatMilliseconds(median(figuresOfKind.p99)),
            ],
          ];
        }),
        notes: [
          `${concurrentRequests} connections that stay open, ${people} people in turn, ${rounds} rounds of ${roundMs} ms of each by turns.`,
          "Computed: what the runtime's process took for each on all cores, its local D1 and its asset server included.",
          "The program that asks runs on the same machine. Every tenth second the page is read anew, as in production.",
        ],
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Tala's feed with a million statuses: rows, time, bytes and throughput of one runtime. */
export async function measureFeed(): Promise<Section[]> {
  return [...(await measureDirectory()), ...(await measureServing())];
}
