import type { BrowserContext, Page } from "@playwright/test";

/** What a page has heard and seen of the other side so far, all its connections together. */
export type MediaTotals = {
  at: number;
  packets: number;
  lost: number;
  samples: number;
  /** Samples made up for packets that did not come, but for those of silence. */
  concealed: number;
  energy: number;
  frames: number;
  framesSent: number;
  /** Of pictures: also what was sent again, and padding. */
  videoBytesSent: number;
  /** Of the pair in use. */
  localCandidateType: string;
  localAddress: string;
  relayProtocol: string;
  roundTripMs: number;
};

type MediaWatcher = {
  connections: RTCPeerConnection[];
  /** Since the epoch, in milliseconds, every 20 ms in which sound came. */
  heard: number[];
  /** The same of pictures. */
  seen: number[];
  clicks: number[];
};
declare global {
  var labWatcher: MediaWatcher;
}

/** Runs in a page before its own scripts: it keeps every connection that is made and notes when sound is played and a picture is shown. */
function installWatcher(): void {
  const lookEveryMs = 20;
  const audible = 0.005;
  const watcher: MediaWatcher = { connections: [], heard: [], seen: [], clicks: [] };
  globalThis.labWatcher = watcher;
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      watcher.connections.push(this);
    }
  };
  addEventListener("click", () => watcher.clicks.push(Date.now()), { capture: true });
  const last = { audio: 0, video: 0 };
  setInterval(() => {
    for (const connection of watcher.connections) {
      for (const receiver of connection.getReceivers()) {
        const kind = receiver.track.kind === "audio" ? "audio" : "video";
        // Without the header that tells the level, as the product sends it, what is played counts as heard.
        for (const { timestamp, audioLevel = 1 } of receiver.getSynchronizationSources()) {
          if (timestamp <= last[kind] || (kind === "audio" && audioLevel < audible)) continue;
          last[kind] = timestamp;
          watcher[kind === "audio" ? "heard" : "seen"].push(Date.now());
        }
      }
    }
  }, lookEveryMs);
}

export async function watchPages(context: BrowserContext): Promise<void> {
  await context.addInitScript(installWatcher);
}
/** For a browser that takes scripts as text. */
export const watcherScript = `(${installWatcher.toString()})()`;

/** A page of any browser, as far as measuring goes. */
export type MeasuredPage = Pick<Page, "evaluate">;

export const readTotals = (page: MeasuredPage): Promise<MediaTotals> =>
  page.evaluate(async () => {
    const totals = {
      ...{ at: Date.now(), packets: 0, lost: 0, samples: 0, concealed: 0, energy: 0, frames: 0, framesSent: 0 },
      videoBytesSent: 0,
      ...{ localCandidateType: "none", localAddress: "", relayProtocol: "", roundTripMs: Number.NaN },
    };
    for (const connection of labWatcher.connections) {
      if (connection.connectionState === "closed") continue;
      const report = await connection.getStats();
      const all = [...report.values()] as Record<string, number & string>[];
      for (const one of all) {
        const { type, kind } = one as unknown as { type: string; kind: string };
        const read = (name: string) => Number(one[name] ?? 0);
        if (type === "inbound-rtp" && kind === "audio") {
          totals.packets += read("packetsReceived");
          totals.lost += read("packetsLost");
          totals.samples += read("totalSamplesReceived");
          totals.concealed += read("concealedSamples") - read("silentConcealedSamples");
          totals.energy += read("totalAudioEnergy");
        }
        if (type === "inbound-rtp" && kind === "video") totals.frames += read("framesDecoded");
        if (type === "outbound-rtp" && kind === "video") {
          totals.framesSent += read("framesSent");
          totals.videoBytesSent += read("bytesSent") + read("headerBytesSent");
        }
        if (type !== "transport") continue;
        const pair = report.get(String(one["selectedCandidatePairId"])) as Record<string, string> | undefined;
        const local = pair && (report.get(String(pair["localCandidateId"])) as Record<string, string> | undefined);
        if (!pair || !local) continue;
        totals.localCandidateType = String(local["candidateType"]);
        totals.localAddress = String(local["address"] ?? local["ip"] ?? "");
        totals.relayProtocol = String(local["relayProtocol"] ?? "");
        totals.roundTripMs = Number(pair["currentRoundTripTime"] ?? Number.NaN) * 1000;
      }
    }
    return totals;
  });

/** When the page heard or saw something first at or after `since`; waits for it, and is undefined when it never comes. */
async function waitForFirst(
  page: MeasuredPage,
  what: "heard" | "seen",
  since: number,
  patienceMs: number,
): Promise<number | undefined> {
  const first = await page.evaluate(
    ([noted, from, patience]) =>
      new Promise<number | null>((resolve) => {
        const deadline = Date.now() + patience;
        const timer = setInterval(() => {
          const at = labWatcher[noted].find((moment) => moment >= from);
          if (at === undefined && Date.now() < deadline) return;
          clearInterval(timer);
          resolve(at ?? null);
        }, 50);
      }),
    [what, since, patienceMs] as const,
  );
  return first ?? undefined;
}

export const waitForSound = (page: MeasuredPage, since: number, patienceMs: number) =>
  waitForFirst(page, "heard", since, patienceMs);
export const waitForVideo = (page: MeasuredPage, since: number, patienceMs: number) =>
  waitForFirst(page, "seen", since, patienceMs);

/** Every silence of more than `leastMs` between two moments, until `until` when nothing came after it. */
export async function listSilences(
  page: MeasuredPage,
  since: number,
  until: number,
  leastMs: number,
): Promise<[number, number][]> {
  const heard = await page.evaluate(() => labWatcher.heard);
  const moments = [since, ...heard.filter((at) => at > since && at < until), until];
  return moments
    .slice(1)
    .map((at, n): [number, number] => [moments[n] ?? since, at])
    .filter(([from, to]) => to - from > leastMs);
}

/** The share of what was played between two looks that had to be made up. */
export const computeConcealment = (before: MediaTotals, after: MediaTotals): number =>
  (after.concealed - before.concealed) / Math.max(1, after.samples - before.samples);
export const computeLoss = (before: MediaTotals, after: MediaTotals): number =>
  (after.lost - before.lost) / Math.max(1, after.packets - before.packets + after.lost - before.lost);
