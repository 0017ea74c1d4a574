import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { makePhoto } from "#bench/fixtures/photo.ts";
import { makeSpeech } from "#bench/fixtures/speech.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { callAs, makePair, type Pair } from "#bench/rig/person.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { waitForOfflineReady } from "#tests/support/browser/offline.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";

const { chat: texts } = textsOf.fr;
const settleMs = 1_000;
const sendTimeoutMs = 120_000;

/** Traffic for sending one attachment. */
export type SentMedia<T extends AttachedBody["type"]> = {
  body: Extract<AttachedBody, { type: T }>;
  up: number;
  down: number;
  requests: number;
};

/** Signed-in page with the pair's chat open, behind its own proxy that counts bytes. */
async function openCounted(browser: Browser, origin: string) {
  const pair = await makePair(origin);
  const proxy = await startCompressingProxy(origin);
  const context = await newPhone(browser, await logIn(browser, proxy.origin, pair.a));
  const page = await context.newPage();
  await page.goto(`${proxy.origin}/app/chat/${pair.b.id}`);
  await waitForOfflineReady(page);
  await page.reload();
  await page.getByRole("textbox", { name: texts.composer }).waitFor();
  await page.waitForTimeout(settleMs);
  return { pair, proxy, page };
}

type CountedPage = Awaited<ReturnType<typeof openCounted>>;

async function fetchNewestBody<T extends AttachedBody["type"]>(
  { a, conversation }: Pair,
  type: T,
): Promise<SentMedia<T>["body"]> {
  const answer = await callAs(a, "GET", `/api/conversations/${conversation}/messages?limit=1`);
  const body = (answer as { messages: { body: SentMedia<T>["body"] }[] }).messages.at(-1)?.body;
  if (body?.type !== type) throw new Error(`The newest message is no ${type}`);
  return body;
}

/** Counts traffic from an action until the message has its tick. */
async function countSending<T extends AttachedBody["type"]>(
  { pair, proxy, page }: CountedPage,
  type: T,
  action: () => Promise<void>,
): Promise<SentMedia<T>> {
  const messages = page.getByRole("main").locator("ol > li");
  const before = { count: await messages.count(), ...proxy.traffic() };
  let requests = 0;
  const countRequest = () => void requests++;
  page.on("request", countRequest);
  await action();
  const isSent = messages.nth(before.count).getByRole("img", { name: texts.status.sent, exact: true });
  await isSent.waitFor({ timeout: sendTimeoutMs });
  await page.waitForTimeout(settleMs);
  page.off("request", countRequest);
  const { up, down } = proxy.traffic();
  return { body: await fetchNewestBody(pair, type), up: up - before.up, down: down - before.down, requests };
}

async function sendPhoto(page: Page, photo: Buffer, asOriginal: boolean): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: texts.attach.image, exact: true }).click();
  await (await chooser).setFiles({ name: "photo.jpg", mimeType: "image/jpeg", buffer: photo });
  const sheet = page.getByRole("dialog");
  if (asOriginal) await sheet.getByRole("checkbox", { name: texts.attach.original_one }).check();
  await sheet.getByRole("button", { name: texts.send, exact: true }).click();
}

/** The same photo resized and as original. The code for attachments is loaded in advance. */
export async function countPhoto(origin: string) {
  const browser = await launchBrowser();
  const counted = await openCounted(browser, origin);
  const { page, pair, proxy } = counted;
  try {
    const photo = await makePhoto(page);
    await page.waitForTimeout(settleMs);
    const original = await countSending(counted, "image", () => sendPhoto(page, photo, true));
    const small = await countSending(counted, "image", () => sendPhoto(page, photo, false));
    return { photo, small, original, pair };
  } finally {
    await browser.close();
    await proxy.stop();
  }
}

/** A minute of speech into the microphone. */
export async function countVoice(origin: string, seconds: number): Promise<SentMedia<"voice">> {
  const folder = mkdtempSync(join(tmpdir(), "lisolo-bench-"));
  const sound = join(folder, "speech.wav");
  writeFileSync(sound, makeSpeech());
  const browser = await launchBrowser([`--use-file-for-fake-audio-capture=${sound}`]);
  const counted = await openCounted(browser, origin);
  const { page, proxy } = counted;
  try {
    return await countSending(counted, "voice", async () => {
      await page.getByRole("button", { name: texts.voice.record }).click();
      await page.waitForFunction(
        (seconds) => {
          const [minutes = 0, rest = 0] = (document.querySelector("[role=timer]")?.textContent ?? "")
            .split(":")
            .map(Number);
          return minutes * 60 + rest >= seconds;
        },
        seconds,
        { timeout: sendTimeoutMs },
      );
      await page.getByRole("button", { name: texts.voice.send, exact: true }).click();
    });
  } finally {
    await browser.close();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
