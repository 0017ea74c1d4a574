import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { fillChat } from "#bench/fixtures/filled-chat.ts";
import { brotliSize } from "#bench/rig/brotli.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct, clientFolder, mapsFolder } from "#bench/rig/product.ts";
import { countCharactersBySource, getPackage } from "#bench/rig/source-shares.ts";
import { formatKilobytes, type Section } from "#bench/rig/table.ts";
import { measureBuild } from "#scripts/check/byte-budget.mjs";
import { startServer } from "#tests/support/server/server.ts";

const chatMessages = 300;
const quietMs = 1_500;
const minShownBytes = 500; // smaller packages share one line

/** Sources needed only for files, voice messages, search or menus: they must be loaded on demand. */
const lazySources = new RegExp(
  [
    "src/lib/media/",
    "src/sync/(files/(uploader|upload-parts|send-files|download-cache)|store/upload-rows|outbox/multicast|drafts/voice-drafts)",
    "src/components/overlays/(camera-sheet|pan-zoom|use-pan-zoom)",
    "src/features/chat/composer/(attach-sheet|attach-preview|caption-form)",
    "src/features/chat/attachments/(image-|file-|voice-|upload-)",
    "src/features/chat/message/(forward-dialog|message-menu|receipts-sheet)",
    "src/features/chat/(search|unsent)/",
    "src/features/chat/voice/(recorder-panel|recording-preview|voice-recording)",
  ].join("|"),
);

type LoadedFile = {
  path: string;
  type: string;
  body: Buffer;
  /** Whether it was requested before the marker was shown. */
  isBefore: boolean;
  onWire: number;
  requestHead: number;
  responseHead: number;
};

/** Everything a page loads until it is idle, with the size of each response on the wire. */
async function load(
  browser: Browser,
  url: string,
  marker?: string,
  state?: Awaited<ReturnType<typeof logIn>>,
): Promise<LoadedFile[]> {
  const context = await newPhone(browser, state);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  const sizes = new Map<string, { onWire: number; requestHead: number; responseHead: number }>();
  const sizeOf = (id: string) => {
    const entry = sizes.get(id) ?? { onWire: 0, requestHead: 0, responseHead: 0 };
    sizes.set(id, entry);
    return entry;
  };
  const loaded: Promise<LoadedFile | undefined>[] = [];
  const answers = new Map<string, { url: string; type: string }>();
  const requestedBefore = new Map<string, boolean>();
  let isShown = false;
  cdp.on("Network.requestWillBeSent", ({ requestId }) => requestedBefore.set(requestId, !isShown));
  cdp.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    sizeOf(requestId).requestHead = Buffer.byteLength(lines.join(""));
  });
  cdp.on("Network.responseReceivedExtraInfo", ({ requestId, headersText }) => {
    sizeOf(requestId).responseHead = Buffer.byteLength(headersText ?? "");
  });
  cdp.on("Network.responseReceived", ({ requestId, response }) => {
    answers.set(requestId, { url: response.url, type: response.mimeType });
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    sizeOf(requestId).onWire = encodedDataLength;
    const answer = answers.get(requestId);
    if (!answer?.url.startsWith(new URL(url).origin)) return;
    const read = cdp
      .send("Network.getResponseBody", { requestId })
      .then(({ body, base64Encoded }) => Buffer.from(body, base64Encoded ? "base64" : "utf8"))
      .catch(() => Buffer.alloc(0));
    const { pathname } = new URL(answer.url);
    const isBefore = requestedBefore.get(requestId) ?? true;
    loaded.push(read.then((body) => ({ path: pathname, type: answer.type, body, isBefore, ...sizeOf(requestId) })));
  });
  await page.goto(url);
  if (marker) await page.getByText(marker).first().waitFor();
  isShown = true;
  await page.waitForTimeout(quietMs);
  const all = (await Promise.all(loaded)).filter((one) => one !== undefined);
  await context.close();
  return all;
}

const isCode = ({ type }: LoadedFile): boolean => /javascript|css/.test(type);
const sum = (list: number[]): number => list.reduce((total, value) => total + value, 0);
/** Built file from disk, or the response body if the Worker generates it. */
const readContent = ({ path, body }: LoadedFile): Buffer => {
  const file = join(clientFolder, path);
  return path !== "/" && existsSync(file) && !path.endsWith("/") && /\.\w+$/.test(path) ? readFileSync(file) : body;
};

export async function measureSize(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const proxy = await startCompressingProxy(server.origin);
  const browser = await launchBrowser();
  try {
    const { scenes } = measureBuild();
    const first: string[][] = [];
    for (const path of ["/", "/login", "/register"]) {
      const loaded = await load(browser, proxy.origin + path);
      const html = loaded.find((one) => one.type === "text/html");
      const rest = loaded.filter((one) => one !== html);
      const size = (list: LoadedFile[]) => formatKilobytes(sum(list.map((one) => brotliSize(readContent(one)))));
      const code = rest.filter(isCode);
      first.push([
        path,
        html ? size([html]) : "none",
        size(code),
        size(rest.filter((one) => !isCode(one))),
        size(loaded),
        formatKilobytes(scenes[path]?.all ?? Number.NaN),
      ]);
    }
    const pair = await makePair(proxy.origin);
    const marker = await fillChat(pair, chatMessages);
    const state = await logIn(browser, proxy.origin, pair.a);
    const chat = await load(browser, `${proxy.origin}/app/chat/${pair.b.id}`, marker, state);
    return [
      {
        title: "Brotli bytes to the first screen",
        columns: ["", "HTML", "scripts and styles", "other", "all together", "in the budget"],
        rows: first,
        notes: [
          "Brotli 11 of the built files. The HTML alone paints and takes keys, the scripts arrive after. Aim: at most 14 kB.",
          "In the budget (bench/budget.json) stand the same HTML, scripts and styles as the build's manifest has them.",
        ],
      },
      ...describeChat(chat, scenes["first text chat"]),
    ];
  } finally {
    await browser.close();
    await proxy.stop();
    await server.stop();
  }
}

type Scene = ReturnType<typeof measureBuild>["scenes"][string];

/** Difference between the files of the budget and those Chromium loaded. */
function compareFiles(chat: LoadedFile[], counted: Scene | undefined): string {
  const loaded = new Set(chat.filter(isCode).map(({ path }) => path));
  const files = new Set(counted?.files);
  const differing = [
    ...[...files].filter((file) => !loaded.has(file)).map((file) => `without ${file}`),
    ...chat.filter((one) => isCode(one) && !files.has(one.path)).map((one) => `with ${one.path}`),
  ];
  const all = formatKilobytes(counted?.all ?? Number.NaN);
  return `In the budget: ${all} of HTML, scripts and styles. Chromium loaded ${differing.length === 0 ? "the same files" : differing.join(", ")}.`;
}

function describeChat(chat: LoadedFile[], counted: Scene | undefined): Section[] {
  const compressed = new Map(chat.map((one) => [one, brotliSize(readContent(one))]));
  const getSize = (one: LoadedFile): number => compressed.get(one) ?? 0;
  const code = chat.filter(isCode);
  const byPackage = new Map<string, number>();
  for (const one of code) {
    for (const [name, share] of computePackageShares(one))
      byPackage.set(name, (byPackage.get(name) ?? 0) + share * getSize(one));
  }
  const early = chat.filter(({ isBefore }) => isBefore);
  const packages = [...byPackage].sort(([, x], [, y]) => y - x);
  const small = packages.filter(([, size]) => size < minShownBytes);
  return [
    {
      title: "A usable chat on a cold cache, file by file",
      columns: ["", "plain", "brotli 11", "asked for"],
      rows: [
        ...[...chat]
          .sort((x, y) => getSize(y) - getSize(x))
          .filter((one) => getSize(one) >= minShownBytes)
          .map((one) => toFileRow(one.path.slice(0, 60), [one], one.isBefore ? "before" : "after")),
        toFileRow(
          "smaller ones",
          chat.filter((one) => getSize(one) < minShownBytes),
        ),
        toFileRow("scripts and styles together", code),
        toFileRow("everything before the newest message shows", early),
        toFileRow("everything together", chat),
      ],
      notes: [
        `All that Chromium loads for /app/chat/<id> with ${chatMessages} messages until it is at rest; what the service worker stores for later is not in it. Aim: at most 150 kB, better 130.`,
        compareFiles(chat, counted),
        `On the wire, HTTP/1.1: ${chat.length} requests, ${formatKilobytes(sum(chat.map((one) => one.requestHead)))} of request headers, ${formatKilobytes(sum(chat.map((one) => one.responseHead)))} of response headers, ${formatKilobytes(sum(chat.map((one) => one.onWire)))} down in all with the edge's faster brotli.`,
      ],
    },
    {
      title: "The same scripts and styles by package",
      columns: ["", "brotli 11", "share"],
      rows: [
        ...packages.filter(([, size]) => size >= minShownBytes).map(([name, size]) => toRow(name, size)),
        toRow(`${small.length} smaller ones`, sum(small.map(([, size]) => size))),
      ],
      notes: ["A file's compressed bytes are shared out by how many of its characters come from each source."],
    },
    describeLater(new Set(chat.map(({ path }) => path)), early),
  ];

  function toFileRow(name: string, files: LoadedFile[], when = `${files.length} files`): string[] {
    return [
      name,
      formatKilobytes(sum(files.map((one) => readContent(one).length))),
      formatKilobytes(sum(files.map(getSize))),
      when,
    ];
  }

  function toRow(name: string, size: number): string[] {
    return [name, formatKilobytes(size), `${((100 * size) / sum(code.map(getSize))).toFixed(1)} %`];
  }
}

/** Lazily loaded scripts of the chat, and whether any of their sources was loaded too early. */
function describeLater(loaded: Set<string>, early: LoadedFile[]): Section {
  const files = readdirSync(join(clientFolder, "assets"))
    .filter((name) => name.endsWith(".js") && !loaded.has(`/assets/${name}`))
    .map((name) => ({ path: `/assets/${name}`, size: brotliSize(readFileSync(join(clientFolder, "assets", name))) }))
    .filter(({ path }) => [...readSourceShares(path).keys()].some((source) => lazySources.test(source)))
    .sort((x, y) => y.size - x.size);
  const tooEarly = early
    .filter(isCode)
    .flatMap((one) =>
      [...readSourceShares(one.path)]
        .filter(([source]) => lazySources.test(source))
        .map(
          ([source, share]) =>
            `${source.replace(/^.*src\//, "")} ${formatKilobytes(share * brotliSize(readContent(one)))}`,
        ),
    );
  return {
    title: "Loaded later: files, voice, search and menus",
    columns: ["", "brotli 11"],
    rows: [
      ...files.map(({ path, size }) => [path, formatKilobytes(size)]),
      ["together", formatKilobytes(sum(files.map(({ size }) => size)))],
    ],
    notes: [
      tooEarly.length === 0
        ? "None of their sources is in what a chat of texts loads before it shows."
        : `But a chat of texts loads these before it shows: ${tooEarly.join(", ")}.`,
    ],
  };
}

/** Share of each source in a file's characters, by its source map; a file without a map counts as one source. */
function readSourceShares(path: string): Map<string, number> {
  const [file, map] = [join(clientFolder, path), join(mapsFolder, `${path}.map`)];
  if (!existsSync(map)) return new Map([[path.replace(/^.*\//, ""), 1]]);
  const characters = countCharactersBySource(readFileSync(file, "utf8"), JSON.parse(readFileSync(map, "utf8")));
  const total = sum([...characters.values()]);
  return new Map([...characters].map(([source, count]) => [source, count / total]));
}

/** Same by package. */
function computePackageShares({ path }: LoadedFile): Map<string, number> {
  const shares = new Map<string, number>();
  for (const [source, share] of readSourceShares(path)) {
    const name = getPackage(source);
    shares.set(name, (shares.get(name) ?? 0) + share);
  }
  return shares;
}
