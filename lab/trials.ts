import { loadavg } from "node:os";
import { setTimeout } from "node:timers/promises";
import { buildProduct } from "#bench/rig/product.ts";
import { formatKilobytes, printSection } from "#bench/rig/table.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";
import { ringBaseline } from "./baseline-call.ts";
import { callBaseline, callInProduct, type FirefoxCallResult, openFirefox } from "./firefox-call.ts";
import {
  inCall,
  measureAccept,
  measureBandwidthDrop,
  measureSwitch,
  measureVoiceQuality,
  pause,
  toLinkShape,
} from "./measures.ts";
import type { Shape } from "./network/network.ts";
import { startProduct } from "./product-call.ts";
import { makeCertificate } from "./programs/certificate.ts";
import { type Relay, startRelay } from "./programs/coturn.ts";
import { listMissingRequirements } from "./requirements.ts";
import { type MakeCall, openScene, relayAddress, type Scene, serverAddress, serverPort } from "./scene.ts";
import { runWebKitTrial } from "./webkit-trial.ts";

/** Result of one trial and whether it meets its target; baselines for comparison have no target. */
type TrialResult = { what: string; measured: string; expected?: string; hasPassed?: boolean };

const failureMaxMs = 20_000;
const gapMaxMs = 3_500;
const voiceMaxShare = 0.06;
const lateMaxBytes = 5_000;

const seconds = (ms: number | undefined): string => (ms === undefined ? "never" : `${(ms / 1000).toFixed(2)} s`);
const share = (value: number): string => `${(value * 100).toFixed(1)} %`;
const formatEach = <T>(values: readonly T[], show: (value: T) => string): string => values.map(show).join(" / ");

/** Runs a trial with two baseline pages, then with the product, with or without a relay. */
async function runWithBoth(
  relay: Relay | undefined,
  trial: (name: string, make: MakeCall) => Promise<TrialResult[]>,
): Promise<TrialResult[]> {
  const findings = await trial("baseline", ringBaseline);
  const product = await startProduct(relay);
  try {
    findings.push(...(await trial("Lisolo", product.ring)));
  } finally {
    await product.stop();
  }
  return findings.map((finding) =>
    finding.what.startsWith("baseline") ? { what: finding.what, measured: finding.measured } : finding,
  );
}

/** Networks by the transport they leave to the relay; the pages always pass by their port. */
const relayNetworks: Record<"udp" | "tcp" | "tls", Shape> = {
  udp: {},
  tcp: { udp: false },
  tls: { udp: false, tcpPorts: [443, serverPort] },
};

const tryRelay = (scene: Scene, relay: Relay, transport: keyof typeof relayNetworks) =>
  runWithBoth(relay, async (name, make) => {
    const { heard, totals } = await measureAccept(scene, make, { relay }, relayNetworks[transport]);
    const candidates = totals.map(({ localCandidateType, relayProtocol }) => `${localCandidateType} ${relayProtocol}`);
    const hasPassed = candidates.every((candidate) => candidate === `relay ${transport}`) && !heard.includes(undefined);
    return [
      {
        what: `${name}: accepted, then heard by caller / callee`,
        measured: `${formatEach(heard, seconds)}, ${formatEach(candidates, String)}`,
        expected: `relay ${transport}`,
        hasPassed,
      },
    ];
  });

/** Credentials that the relay rejects: both people must be told within the limit. */
async function tryRejectedRelay(scene: Scene, relay: Relay): Promise<TrialResult[]> {
  const product = await startProduct({ ...relay, secret: "another-secret" });
  try {
    return await inCall(scene, product.ring, {}, async (call) => {
      await call.ring();
      const at = await call.accept();
      const failedAfterMs = await Promise.all(call.pages.map((page) => waitForFailureText(page, at)));
      return [
        {
          what: "Lisolo: time until a rejected relay secret is shown to caller / callee",
          measured: formatEach(failedAfterMs, seconds),
          expected: `≤ ${failureMaxMs / 1000} s`,
          hasPassed: failedAfterMs.every((ms) => ms !== undefined && ms <= failureMaxMs),
        },
      ];
    });
  } finally {
    await product.stop();
  }
}

type LabPage = Parameters<Parameters<typeof inCall>[3]>[0]["pages"][number];

/** Milliseconds from `at` until the page showed that the call failed. */
async function waitForFailureText(page: LabPage, at: number): Promise<number | undefined> {
  const failureText = page.getByText(textsOf.fr.calls.say.failed, { exact: true }).first();
  const isShown = await failureText.waitFor({ timeout: 2 * failureMaxMs }).then(
    () => true,
    () => false,
  );
  return isShown ? Date.now() - at : undefined;
}

const leastFramesASecond = 5;

function toTrialResult(what: string, { heardMs, totals, seconds: lasted }: FirefoxCallResult): TrialResult {
  const pictures = totals.map(({ frames }) => frames / lasted);
  return {
    what,
    measured: `heard after ${formatEach(heardMs, seconds)}, ${formatEach(pictures, (rate) => rate.toFixed(1))} frames a second`,
    expected: "both heard and seen",
    hasPassed: !heardMs.includes(undefined) && pictures.every((rate) => rate >= leastFramesASecond),
  };
}

async function tryFirefox(scene: Scene): Promise<TrialResult[]> {
  const firefox = await openFirefox(scene);
  try {
    const plain = [await callBaseline(scene, firefox, false), await callBaseline(scene, firefox, true)];
    const [fromChromium, fromFirefox] = await callInProduct(scene, firefox);
    return [
      ...plain.map((meeting, n) => toTrialResult(`baseline: ${n === 0 ? "Chromium" : "Firefox"} calls`, meeting)),
      toTrialResult("Lisolo: Chromium calls Firefox", fromChromium),
      toTrialResult("Lisolo: Firefox calls Chromium", fromFirefox),
    ];
  } finally {
    firefox.close();
  }
}

const trials: Record<string, (scene: Scene, relay: Relay) => Promise<TrialResult[]>> = {
  relay: async (scene, relay) => [...(await tryRelay(scene, relay, "udp")), ...(await tryRejectedRelay(scene, relay))],
  "udp-blocked": (scene, relay) => tryRelay(scene, relay, "tcp"),
  "relay-tls": (scene, relay) => tryRelay(scene, relay, "tls"),
  switch: (scene) =>
    runWithBoth(undefined, async (name, make) => {
      const { gaps, isOneWay } = await measureSwitch(scene, make, toLinkShape({ roundTrip: 300 }));
      return [
        {
          what: `${name}: silence at caller / callee when the callee's address changes`,
          measured: `${formatEach(gaps, seconds)}${isOneWay ? ", one way" : ""}`,
          expected: `≤ ${gapMaxMs / 1000} s, both ways`,
          hasPassed: !isOneWay && Math.max(...gaps) <= gapMaxMs,
        },
      ];
    }),
  loss: (scene) =>
    runWithBoth(undefined, async (name, make) => {
      const voiceQuality = await measureVoiceQuality(scene, make, toLinkShape({ loss: 0.2, rate: 100 }));
      const bandwidthDrop = await measureBandwidthDrop(scene, make, 48);
      const lateVideo = bandwidthDrop.lateBytes === undefined ? "–" : formatKilobytes(bandwidthDrop.lateBytes);
      return [
        {
          what: `${name}: 20 % lost on 100 kbit/s, concealed at caller / callee`,
          measured: `${formatEach(voiceQuality.concealment, share)} at ${formatEach(voiceQuality.loss, share)} lost`,
          expected: `≤ ${share(voiceMaxShare)}, heard`,
          hasPassed: Math.max(...voiceQuality.concealment) <= voiceMaxShare && Math.min(...voiceQuality.energy) > 0,
        },
        {
          what: `${name}: video call drops to 48 kbit/s: no video after, clean voice after, retransmitted video`,
          measured: `${bandwidthDrop.hadVideo ? seconds(bandwidthDrop.videoOffMs) : "had no video"}, ${seconds(bandwidthDrop.cleanMs)}, ${lateVideo}`,
          expected: "≤ 2 s, ≤ 10 s, ≤ 5 kB",
          hasPassed:
            (bandwidthDrop.videoOffMs ?? Infinity) <= 2_000 &&
            (bandwidthDrop.cleanMs ?? Infinity) <= 10_000 &&
            (bandwidthDrop.lateBytes ?? Infinity) <= lateMaxBytes,
        },
      ];
    }),
  firefox: tryFirefox,
  webkit: async (scene) =>
    (await runWebKitTrial(scene)).map(({ what, ms }) => ({
      what: `Lisolo in WebKit: ${what}`,
      measured: seconds(ms),
      expected: "done",
      hasPassed: ms !== undefined,
    })),
};

const trialNames = Object.keys(trials);

const trialMaxMs = 1_200_000;
const failAfterTimeout = async (): Promise<TrialResult[]> => {
  await setTimeout(trialMaxMs, undefined, { ref: false });
  throw new Error(`Not finished after ${trialMaxMs / 60_000} minutes`);
};

/** Reports what this machine lacks, with a failing exit code. */
function hasRequirements(): boolean {
  const missing = listMissingRequirements();
  for (const what of missing) console.error(`The laboratory needs ${what}.`);
  if (missing.length > 0) process.exitCode = 1;
  return missing.length === 0;
}

/** Prints the name of every trial, if this machine can run them. */
export function listTrials(): void {
  if (hasRequirements()) console.log(trialNames.join("\n"));
}

export async function runTrials(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(trials, name));
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(", ")}. There are: ${trialNames.join(", ")}.`);
    process.exitCode = 1;
    return;
  }
  if (!hasRequirements()) return;
  buildProduct();
  for (const name of names.length > 0 ? names : trialNames) {
    const load = loadavg()[0] ?? 0;
    const certificate = name === "relay-tls" ? makeCertificate(relayAddress) : undefined;
    const scene = await openScene("always", certificate);
    try {
      const relay = certificate
        ? await startRelay(await scene.network.addNode("relay", { wire: relayAddress }), relayAddress, certificate)
        : await startRelay(scene.server, serverAddress);
      const findings = await Promise.race([trials[name]?.(scene, relay) ?? [], failAfterTimeout()]);
      const rows = findings.map(({ what, measured, expected = "", hasPassed }) => [
        what,
        measured,
        expected,
        hasPassed === undefined ? "" : hasPassed ? "✓" : "✗",
      ]);
      printSection({
        title: `${name} (load of this machine before: ${load.toFixed(1)}, each once)`,
        columns: ["", "measured", "expected", ""],
        rows,
        notes: [],
      });
      if (findings.some(({ hasPassed }) => hasPassed === false)) process.exitCode = 1;
    } catch (error) {
      console.error(`${name}: ${String(error)}`);
      process.exitCode = 1;
    } finally {
      await scene.stop();
    }
    await pause(500);
  }
}
