import type { BrowserContext, Page } from "@playwright/test";

/** Media received by a page so far, summed over its connections. */
export type MediaTotals = {
  at: number;
  packets: number;
  lost: number;
  samples: number;
  /** Samples concealed for missing packets, except those of silence. */
  concealed: number;
  energy: number;
  frames: number;
  framesSent: number;
  /** Bytes of video including retransmissions and padding. */
  videoBytesSent: number;
  /** Type of the local candidate in use. */
  localCandidateType: string;
  localAddress: string;
  relayProtocol: string;
  roundTripMs: number;
};

type MediaWatcher = {
  connections: RTCPeerConnection[];
  /** Epoch milliseconds, every 20 ms in which sound arrived. */
  heard: number[];
  /** Same for video. */
  seen: number[];
  clicks: number[];
};
declare global {
  var labWatcher: MediaWatcher;
}

/** Runs in a page before its own scripts: collects all peer connections and records when sound and video are played. */
function installWatcher(): void {
  const sampleIntervalMs = 20;
  const audibleLevel = 0.005;
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
        // Without the audio level header, as the product sends it, all playback counts as heard.
        for (const { timestamp, audioLevel = 1 } of receiver.getSynchronizationSources()) {
          if (timestamp <= last[kind] || (kind === "audio" && audioLevel < audibleLevel)) continue;
          last[kind] = timestamp;
          watcher[kind === "audio" ? "heard" : "seen"].push(Date.now());
        }
      }
    }
  }, sampleIntervalMs);
}

export async function watchPages(context: BrowserContext): Promise<void> {
  await context.addInitScript(installWatcher);
}
/** For browsers that take scripts as text. */
export const watcherScript = `(${installWatcher.toString()})()`;

/** Page of any browser that can be measured. */
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

/** Time of the first sound or picture at or after `since`; undefined if none arrives in time. */
async function waitForFirst(
  page: MeasuredPage,
  kind: "heard" | "seen",
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
    [kind, since, patienceMs] as const,
  );
  return first ?? undefined;
}

export const waitForSound = (page: MeasuredPage, since: number, patienceMs: number) =>
  waitForFirst(page, "heard", since, patienceMs);
export const waitForVideo = (page: MeasuredPage, since: number, patienceMs: number) =>
  waitForFirst(page, "seen", since, patienceMs);

/** Silences longer than `minMs` between two times; the last one may extend to `until`. */
export async function listSilences(
  page: MeasuredPage,
  since: number,
  until: number,
  minMs: number,
): Promise<[number, number][]> {
  const heard = await page.evaluate(() => labWatcher.heard);
  const moments = [since, ...heard.filter((at) => at > since && at < until), until];
  return moments
    .slice(1)
    .map((at, n): [number, number] => [moments[n] ?? since, at])
    .filter(([from, to]) => to - from > minMs);
}

/** Share of the samples played between two readings that was concealed. */
export const computeConcealment = (before: MediaTotals, after: MediaTotals): number =>
  (after.concealed - before.concealed) / Math.max(1, after.samples - before.samples);
export const computeLoss = (before: MediaTotals, after: MediaTotals): number =>
  (after.lost - before.lost) / Math.max(1, after.packets - before.packets + after.lost - before.lost);
