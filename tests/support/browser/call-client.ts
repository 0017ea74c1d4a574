import {
  type Browser,
  type BrowserContext,
  expect,
  type Locator,
  type Page,
  type WebSocketRoute,
} from "@playwright/test";
import type { CallKind } from "#contract/calls/call.ts";
import type { Language } from "#contract/language.ts";
import type { Person } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { fill, TestClient } from "./test-client.ts";

declare global {
  interface Window {
    /** Every peer connection of the page, so that a test can read the received media. */
    peerConnections: RTCPeerConnection[];
  }
}

export const callTimeoutMs = 30_000; // several clients on a machine that may be busy
/** Where a busy machine plays voice badly, video pauses for twenty good seconds, and the next time for forty. */
export const videoTimeoutMs = 90_000;
const soundEnergy = 0.01; // Chromium's fake microphone beeps each second
const silentSamples = 72_000; // 1.5 seconds: longer than the pause between two beeps

const keepConnections = () => {
  const made: RTCPeerConnection[] = [];
  window.peerConnections = made;
  window.RTCPeerConnection = class extends window.RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      made.push(this);
    }
  };
};

/** Waits long enough between two taps that they do not count as a double tap. */
export const pauseBetweenTaps = ({ page }: Pick<TestClient, "page">): Promise<void> =>
  page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000)));

type CallingOptions = { language?: Language };

/** Opens a client whose received call media can be measured. */
export const openCallClientIn = async (
  context: BrowserContext,
  server: Server,
  { language = "fr" }: CallingOptions = {},
): Promise<TestClient> => {
  await context.addInitScript(keepConnections);
  return TestClient.openIn(context, server, language);
};

export const openCallClient = async (browser: Browser, server: Server, options?: CallingOptions): Promise<TestClient> =>
  openCallClientIn(await browser.newContext({ baseURL: server.origin }), server, options);

type Received = { energy: number; samples: number; frames: number };

/** Media received from the other side and played or drawn so far. */
const readReceived = (page: Page): Promise<Received> =>
  page.evaluate(async () => {
    const heard = { energy: 0, samples: 0, frames: 0 };
    for (const connection of window.peerConnections) {
      if (connection.signalingState === "closed") continue;
      for (const entry of (await connection.getStats()).values()) {
        if (entry.type !== "inbound-rtp") continue;
        heard.energy += entry.totalAudioEnergy ?? 0;
        heard.samples += entry.totalSamplesReceived ?? 0;
        heard.frames += entry.framesDecoded ?? 0;
      }
    }
    return heard;
  });

/** Waits until more arrives than a moment ago. A new peer connection counts from zero. */
const waitForMore = async (page: Page, what: keyof Received, least: number, timeout = callTimeoutMs): Promise<void> => {
  let before = await readReceived(page);
  const more = async () => {
    const now = await readReceived(page);
    if (now[what] < before[what]) before = now;
    return now[what] - before[what];
  };
  await expect.poll(more, { message: `${what} of the other side`, timeout }).toBeGreaterThan(least);
};

export const expectHearing = async (...phones: TestClient[]): Promise<void> => {
  await Promise.all(phones.map(({ page }) => waitForMore(page, "energy", soundEnergy)));
};

export const expectSeeing = async (...phones: TestClient[]): Promise<void> => {
  await Promise.all(phones.map(({ page }) => waitForMore(page, "frames", 5, videoTimeoutMs)));
};

/** Checks that sound is still played and that it is silent. */
export const expectSilence = async ({ page }: TestClient): Promise<void> => {
  let before = await readReceived(page);
  const silence = async () => {
    const now = await readReceived(page);
    if (now.energy > before.energy + soundEnergy / 10) before = now;
    return now.samples - before.samples;
  };
  await expect.poll(silence, { timeout: callTimeoutMs }).toBeGreaterThan(silentSamples);
};

/** Switch for the connection between a browser and the server. Peer-to-peer traffic continues. */
export const makeNetworkSwitch = async (context: BrowserContext) => {
  let isCut = false;
  const sockets = new Set<WebSocketRoute>();
  await context.routeWebSocket(/\/api\/socket/, (socket) => {
    if (isCut) return void socket.close();
    socket.connectToServer();
    sockets.add(socket);
  });
  await context.route("**/api/**", (route) => (isCut ? route.abort() : route.fallback()));
  return async (is: boolean) => {
    isCut = is;
    if (is) for (const socket of sockets) await socket.close();
  };
};

/** Button that calls a person, anywhere on this page. */
export const callButton = ({ page, texts }: TestClient, { username }: Person, kind: CallKind = "audio"): Locator => {
  const label = kind === "video" ? texts.people.videoCallName : texts.people.audioCallName;
  return page.getByRole("button", { name: fill(label, { name: username }), exact: true });
};

/** Starts a call from a chat. A video call starts from the chat's menu, which contains it on narrow screens. */
export const placeCall = async (phone: TestClient, to: Person, kind: CallKind = "audio"): Promise<void> => {
  if (kind === "audio") return callButton(phone, to).click();
  const { page, texts } = phone;
  await page.getByRole("main").getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.people.videoCall, exact: true }).click();
};

/** Screen of the call with a person. */
export const callScreen = ({ page }: TestClient, { username }: Person): Locator =>
  page.getByRole("dialog", { name: username }).or(page.getByRole("alertdialog", { name: username }));

type Control = "accept" | "decline" | "hangUp" | "mute" | "camera" | "minimise";
export const callControl = ({ page, texts }: TestClient, what: Control): Locator =>
  page.getByRole("button", { name: texts.calls[what], exact: true });

/** Call entry in the open chat, by its accessible text. */
export const callEntry = ({ page }: TestClient, words: string | RegExp): Locator =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: words });

/** Button in a call entry that calls the other person. */
export const callBackButton = (
  line: Locator,
  { texts }: TestClient,
  name: string,
  kind: CallKind = "audio",
): Locator => {
  const { again, back } = texts.callLines;
  const [a, b] = [again[kind], back[kind]].map((text) => line.getByRole("button", { name: fill(text, { name }) }));
  if (!a || !b) throw new Error("there are two ways to call somebody back");
  return a.or(b);
};

/** Bounding box of an element, or null while it is not there. Callers poll. */
export const findBox = (one: Locator): ReturnType<Locator["boundingBox"]> =>
  one.boundingBox({ timeout: 1_000 }).catch(() => null);

/** Connects a call and waits until both sides hear each other. */
export const connectCall = async (
  caller: TestClient,
  callee: TestClient,
  to: Person,
  kind: CallKind = "audio",
): Promise<void> => {
  await placeCall(caller, to, kind);
  await callControl(callee, "accept").click({ timeout: callTimeoutMs });
  await expectHearing(caller, callee);
};
