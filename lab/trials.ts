import { loadavg } from "node:os";
import { setTimeout } from "node:timers/promises";
import { buildProduct } from "#bench/rig/product.ts";
import { kilobytes, printSection } from "#bench/rig/table.ts";
import { textsOf } from "#tests/support/browser/phone.ts";
import { ringBare } from "./bare-call.ts";
import { type Meeting, meetBare, meetInProduct, openFirefox } from "./firefox-call.ts";
import { inCall, measureAccept, measureFall, measureSwitch, measureTalk, pathOf, pause } from "./measures.ts";
import { listLacking } from "./needs.ts";
import type { Shape } from "./network/network.ts";
import { startProduct } from "./product-call.ts";
import { makeCertificate } from "./programs/certificate.ts";
import { type Relay, startRelay } from "./programs/coturn.ts";
import { type MakeCall, openScene, relayAddress, type Scene, serverAddress, serverPort } from "./scene.ts";

/** One thing that was tried, and whether it is as promised; what is only there to compare with promises nothing. */
type Finding = { what: string; found: string; wanted?: string; isKept?: boolean };

const failureMaxMs = 20_000;
const gapMaxMs = 3_500;
const voiceMaxShare = 0.06;
const lateMaxBytes = 5_000;

const seconds = (ms: number | undefined): string => (ms === undefined ? "never" : `${(ms / 1000).toFixed(2)} s`);
const share = (value: number): string => `${(value * 100).toFixed(1)} %`;
const each = <T>(values: readonly T[], show: (value: T) => string): string => values.map(show).join(" / ");

/** Does it with two bare pages, then with the product, told of a relay or of none. */
async function withBoth(
  relay: Relay | undefined,
  deed: (name: string, make: MakeCall) => Promise<Finding[]>,
): Promise<Finding[]> {
  const findings = await deed("bare pages", ringBare);
  const product = await startProduct(relay);
  try {
    findings.push(...(await deed("Lisolo", product.ring)));
  } finally {
    await product.stop();
  }
  return findings.map((finding) =>
    finding.what.startsWith("bare") ? { what: finding.what, found: finding.found } : finding,
  );
}

/** What each network lets through; the pages come by their port. */
const relayWays: Record<"udp" | "tcp" | "tls", Shape> = {
  udp: {},
  tcp: { udp: false },
  tls: { udp: false, tcpPorts: [443, serverPort] },
};

const overRelay = (scene: Scene, relay: Relay, wanted: keyof typeof relayWays) =>
  withBoth(relay, async (name, make) => {
    const { heard, totals } = await measureAccept(scene, make, { relay }, relayWays[wanted]);
    const ways = totals.map(({ localWay, relayProtocol }) => `${localWay} ${relayProtocol}`);
    const isKept = ways.every((way) => way === `relay ${wanted}`) && !heard.includes(undefined);
    return [
      {
        what: `${name}: taken, then heard by caller / callee`,
        found: `${each(heard, seconds)}, ${each(ways, String)}`,
        wanted: `relay ${wanted}`,
        isKept,
      },
    ];
  });

/** Credentials that no relay takes: whoever calls must be told, and not wait for ever. */
async function withFalseRelay(scene: Scene, relay: Relay): Promise<Finding[]> {
  const product = await startProduct({ ...relay, secret: "another-secret" });
  try {
    return await inCall(scene, product.ring, {}, async (call) => {
      await call.ring();
      const at = await call.accept();
      const ends = await Promise.all(call.pages.map((page) => findEnd(page, at)));
      return [
        {
          what: "Lisolo: a secret that the relay does not take, told to caller / callee",
          found: each(ends, seconds),
          wanted: `≤ ${failureMaxMs / 1000} s`,
          isKept: ends.every((ms) => ms !== undefined && ms <= failureMaxMs),
        },
      ];
    });
  } finally {
    await product.stop();
  }
}

type LabPage = Parameters<Parameters<typeof inCall>[3]>[0]["pages"][number];

/** How long after `at` the page said that the call failed. */
async function findEnd(page: LabPage, at: number): Promise<number | undefined> {
  const said = page.getByText(textsOf.fr.calls.say.failed, { exact: true }).first();
  const isSaid = await said.waitFor({ timeout: 2 * failureMaxMs }).then(
    () => true,
    () => false,
  );
  return isSaid ? Date.now() - at : undefined;
}

const leastFramesASecond = 5;

function judgeMeeting(what: string, { heardMs, totals, seconds: lasted }: Meeting): Finding {
  const pictures = totals.map(({ frames }) => frames / lasted);
  return {
    what,
    found: `heard after ${each(heardMs, seconds)}, ${each(pictures, (rate) => rate.toFixed(1))} pictures a second`,
    wanted: "both heard and seen",
    isKept: !heardMs.includes(undefined) && pictures.every((rate) => rate >= leastFramesASecond),
  };
}

async function withFirefox(scene: Scene): Promise<Finding[]> {
  const firefox = await openFirefox(scene);
  try {
    const plain = [await meetBare(scene, firefox, false), await meetBare(scene, firefox, true)];
    const [fromChromium, fromFirefox] = await meetInProduct(scene, firefox);
    return [
      ...plain.map((meeting, n) => judgeMeeting(`bare pages: ${n === 0 ? "Chromium" : "Firefox"} calls`, meeting)),
      judgeMeeting("Lisolo: Chromium calls Firefox", fromChromium),
      judgeMeeting("Lisolo: Firefox calls Chromium", fromFirefox),
    ];
  } finally {
    firefox.close();
  }
}

const trials: Record<string, (scene: Scene, relay: Relay) => Promise<Finding[]>> = {
  relay: async (scene, relay) => [...(await overRelay(scene, relay, "udp")), ...(await withFalseRelay(scene, relay))],
  "udp-blocked": (scene, relay) => overRelay(scene, relay, "tcp"),
  "relay-tls": (scene, relay) => overRelay(scene, relay, "tls"),
  switch: (scene) =>
    withBoth(undefined, async (name, make) => {
      const { gaps, isOneWay } = await measureSwitch(scene, make, pathOf({ roundTrip: 300 }));
      return [
        {
          what: `${name}: silence at caller / callee when the callee's address changes`,
          found: `${each(gaps, seconds)}${isOneWay ? ", one way" : ""}`,
          wanted: `≤ ${gapMaxMs / 1000} s, both ways`,
          isKept: !isOneWay && Math.max(...gaps) <= gapMaxMs,
        },
      ];
    }),
  loss: (scene) =>
    withBoth(undefined, async (name, make) => {
      const talk = await measureTalk(scene, make, pathOf({ loss: 0.2, rate: 100 }));
      const fall = await measureFall(scene, make, 48);
      const late = fall.lateBytes === undefined ? "–" : kilobytes(fall.lateBytes);
      return [
        {
          what: `${name}: 20 % lost on 100 kbit/s, made up for at caller / callee`,
          found: `${each(talk.concealment, share)} at ${each(talk.loss, share)} lost`,
          wanted: `≤ ${share(voiceMaxShare)}, heard`,
          isKept: Math.max(...talk.concealment) <= voiceMaxShare && Math.min(...talk.energy) > 0,
        },
        {
          what: `${name}: video call falls to 48 kbit/s: no picture sent after, voice clean after, old pictures sent again`,
          found: `${fall.hadVideo ? seconds(fall.videoOffMs) : "had no picture"}, ${seconds(fall.cleanMs)}, ${late}`,
          wanted: "≤ 2 s, ≤ 10 s, ≤ 5 kB",
          isKept:
            (fall.videoOffMs ?? Infinity) <= 2_000 &&
            (fall.cleanMs ?? Infinity) <= 10_000 &&
            (fall.lateBytes ?? Infinity) <= lateMaxBytes,
        },
      ];
    }),
  firefox: withFirefox,
};

const trialMaxMs = 600_000;
const giveUp = async (): Promise<Finding[]> => {
  await setTimeout(trialMaxMs, undefined, { ref: false });
  throw new Error(`not done after ${trialMaxMs / 60_000} minutes`);
};

export async function runTrials(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(trials, name));
  const lacking = listLacking();
  if (unknown.length > 0 || lacking.length > 0) {
    if (unknown.length > 0)
      console.error(`Unknown: ${unknown.join(", ")}. There are: ${Object.keys(trials).join(", ")}.`);
    for (const what of lacking) console.error(`The laboratory needs ${what}.`);
    process.exitCode = 1;
    return;
  }
  buildProduct();
  for (const name of names.length > 0 ? names : Object.keys(trials)) {
    const load = loadavg()[0] ?? 0;
    const certificate = name === "relay-tls" ? makeCertificate(relayAddress) : undefined;
    const scene = await openScene("always", certificate);
    try {
      const relay = certificate
        ? await startRelay(await scene.network.addEnd("relay", { wire: relayAddress }), relayAddress, certificate)
        : await startRelay(scene.server, serverAddress);
      const findings = await Promise.race([trials[name]?.(scene, relay) ?? [], giveUp()]);
      const rows = findings.map(({ what, found, wanted = "", isKept }) => [
        what,
        found,
        wanted,
        isKept === undefined ? "" : isKept ? "✓" : "✗",
      ]);
      printSection({
        title: `${name} (load of this machine before: ${load.toFixed(1)}, each once)`,
        columns: ["", "found", "wanted", ""],
        rows,
        notes: [],
      });
      if (findings.some(({ isKept }) => isKept === false)) process.exitCode = 1;
    } catch (error) {
      console.error(`${name}: ${String(error)}`);
      process.exitCode = 1;
    } finally {
      await scene.stop();
    }
    await pause(500);
  }
}
