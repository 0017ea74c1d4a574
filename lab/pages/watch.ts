import type { BrowserContext, Page } from "@playwright/test";

/** What a page has heard and seen of the other side so far, all its connections together. */
export type Totals = {
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
  pictureBytes: number;
  /** Of the pair in use. */
  localWay: string;
  localAddress: string;
  relayProtocol: string;
  roundTripMs: number;
};

type Watcher = {
  connections: RTCPeerConnection[];
  /** Since the epoch, in milliseconds, every 20 ms in which sound came. */
  heard: number[];
  /** The same of pictures. */
  seen: number[];
  clicks: number[];
};
declare global {
  var labWatcher: Watcher;
}

/** Runs in a page before its own scripts: it keeps every connection that is made and notes when sound is played and a picture is shown. */
function watch(): void {
  const lookEveryMs = 20;
  const audible = 0.005;
  const watcher: Watcher = { connections: [], heard: [], seen: [], clicks: [] };
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
  await context.addInitScript(watch);
}
/** For a browser that takes scripts as text. */
export const watcherText = `(${watch.toString()})()`;

/** A page of any browser, as far as measuring goes. */
export type Measured = Pick<Page, "evaluate">;

export const totalsOf = (page: Measured): Promise<Totals> =>
  page.evaluate(async () => {
    const totals = {
      ...{ at: Date.now(), packets: 0, lost: 0, samples: 0, concealed: 0, energy: 0, frames: 0, framesSent: 0 },
      pictureBytes: 0,
      ...{ localWay: "none", localAddress: "", relayProtocol: "", roundTripMs: Number.NaN },
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
          totals.pictureBytes += read("bytesSent") + read("headerBytesSent");
        }
        if (type !== "transport") continue;
        const pair = report.get(String(one["selectedCandidatePairId"])) as Record<string, string> | undefined;
        const local = pair && (report.get(String(pair["localCandidateId"])) as Record<string, string> | undefined);
        if (!pair || !local) continue;
        totals.localWay = String(local["candidateType"]);
        totals.localAddress = String(local["address"] ?? local["ip"] ?? "");
        totals.relayProtocol = String(local["relayProtocol"] ?? "");
        totals.roundTripMs = Number(pair["currentRoundTripTime"] ?? Number.NaN) * 1000;
      }
    }
    return totals;
  });

/** When the page heard or saw something first at or after `since`; waits for it, and is undefined when it never comes. */
async function firstOf(
  page: Measured,
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

export const firstHeard = (page: Measured, since: number, patienceMs: number) =>
  firstOf(page, "heard", since, patienceMs);
export const firstSeen = (page: Measured, since: number, patienceMs: number) =>
  firstOf(page, "seen", since, patienceMs);

/** Every silence of more than `leastMs` between two moments, until `until` when nothing came after it. */
export async function silencesOf(
  page: Measured,
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
export const concealmentOf = (before: Totals, after: Totals): number =>
  (after.concealed - before.concealed) / Math.max(1, after.samples - before.samples);
export const lossOf = (before: Totals, after: Totals): number =>
  (after.lost - before.lost) / Math.max(1, after.packets - before.packets + after.lost - before.lost);
