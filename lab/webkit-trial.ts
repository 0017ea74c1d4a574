import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { makePicture, sendAttachment } from "#tests/support/people/attachments.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makeFolder } from "./folder.ts";
import { type Gateway, openGatewayTo, openSecureGateway } from "./pages/gateway.ts";
import { startProduct } from "./product-call.ts";
import { type Certificate, makeCertificate } from "./programs/certificate.ts";
import { WebKit } from "./programs/webkit.ts";
import { type Scene, serverAddress, serverPort } from "./scene.ts";

const securePort = 9_372;
const origin = `https://localhost:${securePort}`;
const stepMs = 60_000; // a busy machine
const endlessMs = 30_000;
const pageLoads = 50;
const enterKey = "\uE007"; // as WebDriver writes it
const texts = textsOf.fr;
const composer = `textarea[aria-label="${texts.chat.composer}"]`;

/** Milliseconds that a step took; undefined if it did not succeed in time. */
export type WebKitStep = { what: string; ms: number | undefined };

/** One person in WebKit, the other one in Chromium. */
type Trial = { webkit: WebKit; people: [other: Person, own: Person]; phone: TestClient };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a condition holds in the page, also across navigations. Returns whether it did. */
async function waitFor<T>(
  { webkit }: Pick<Trial, "webkit">,
  condition: (argument: T) => boolean | Promise<boolean>,
  argument: T,
  timeoutMs = stepMs,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  // Evaluations during a navigation fail.
  while (!(await webkit.evaluate(condition as never, argument as never).catch(() => false))) {
    if (Date.now() > deadline) return false;
    await pause(100);
  }
  return true;
}

/** Whether the app shows its screen with this text, neither its first view nor a loading state. */
const isShown = ([text, loading]: readonly [string, string]): boolean => {
  const shown = document.querySelector("#root")?.textContent ?? "";
  return !document.querySelector("#first-view > *") && !shown.includes(loading) && shown.includes(text);
};

const showsText = (trial: Pick<Trial, "webkit">, text: string, timeoutMs?: number): Promise<boolean> =>
  waitFor(trial, isShown, [text, texts.common.loading] as const, timeoutMs);

const hasTick = (status: string): boolean => document.querySelector(`[role="main"] [aria-label="${status}"]`) !== null;

const countPictures = (count: number): boolean => {
  const pictures = [...document.images].filter(({ src, naturalWidth }) => src.startsWith("blob:") && naturalWidth > 0);
  return pictures.length === count;
};

/** Whether the page opens without a network: the service worker controls it and has cached its language. */
const isOfflineReady = async (): Promise<boolean> => {
  if (!navigator.serviceWorker?.controller) return false;
  const kept = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
  return kept.flat().some(({ url }) => new URL(url).pathname.startsWith(`/assets/${document.documentElement.lang}-`));
};

async function logIn(trial: Trial): Promise<boolean> {
  const { webkit, people } = trial;
  await webkit.goto(`${origin}/login`);
  await webkit.type('input[name="phoneNumber"]', people[1].phone);
  await webkit.type('input[name="password"]', people[1].password);
  await webkit.click("form button[type=submit]");
  return showsText(trial, people[0].username);
}

/** Chooses a picture through the composer's file field and sends it. */
async function sendPicture(trial: Trial): Promise<boolean> {
  const { webkit, phone } = trial;
  const path = join(makeFolder(), "photo.png");
  writeFileSync(path, makePicture(320, 240));
  // WebDriver types into visible fields only.
  await webkit.evaluate(() => document.querySelector("input[data-attach]")?.removeAttribute("hidden"));
  await webkit.type("input[data-attach]", path);
  const isReady = (selector: string) => document.querySelector(selector) !== null;
  const send = `dialog button[aria-label="${texts.chat.send}"]:not(:disabled)`;
  if (!(await waitFor(trial, isReady, send))) return false;
  await webkit.click(send);
  await phone.page.getByRole("main").locator("img[src^='blob:']").first().waitFor({ timeout: stepMs });
  return waitFor(trial, countPictures, 1);
}

/** Loads pages one after another, each as soon as the one before is shown. Resolves to the longest time. */
async function loadQuickly(trial: Trial): Promise<number | undefined> {
  const { webkit, people } = trial;
  let slowestMs = 0;
  for (let n = 0; n < pageLoads; n++) {
    const startedAt = Date.now();
    await webkit.goto(origin + (n % 2 === 0 ? "/app" : `/app/chat/${people[0].id}`));
    if (!(await showsText(trial, people[0].username, endlessMs))) return undefined;
    slowestMs = Math.max(slowestMs, Date.now() - startedAt);
  }
  return slowestMs;
}

/** What a person does in a chat, in WebKit, with somebody who uses Chromium. */
export async function runWebKitTrial(scene: Scene): Promise<WebKitStep[]> {
  const [{ open }, { node }] = scene.sides;
  const certificate: Certificate = makeCertificate("localhost");
  const product = await startProduct();
  const doors: Gateway[] = [];
  const context = await open();
  let webkit: WebKit | undefined;
  const steps: WebKitStep[] = [];
  const step = async (what: string, run: () => Promise<boolean | number | undefined>) => {
    const startedAt = Date.now();
    const result = await run();
    steps.push({ what, ms: result === true ? Date.now() - startedAt : result || undefined });
  };
  try {
    doors.push(await openGatewayTo(scene.server, serverAddress, serverPort));
    const openDoor = () => openSecureGateway(node, { address: "127.0.0.1", port: securePort, certificate }, serverPort);
    let door = await openDoor();
    const site = toSite(product.server);
    const { people, conversation } = await makePair(site, 1);
    await sendTexts(site, people[0], conversation, ["avant"]);
    const phone = await TestClient.openIn(context, product.server, "fr");
    await phone.signInToChat(people[0], people[1].id);
    webkit = await WebKit.open(node, certificate);
    const trial: Trial = { webkit, people, phone };
    const page = webkit;

    await step("logs in, sees the list", () => logIn(trial));
    await step("opens the chat and receives a text", async () => {
      await page.goto(`${origin}/app/chat/${people[0].id}`);
      await phone.write("bonjour");
      return showsText(trial, "bonjour");
    });
    await step("sends a text", async () => {
      await page.type(composer, `salut${enterKey}`);
      await phone.message("salut").waitFor({ timeout: stepMs });
      return waitFor(trial, hasTick, texts.chat.status.read);
    });
    await step("sends a picture", () => sendPicture(trial));
    await step("receives a picture", async () => {
      const said = { type: "image", name: "photo.png", thumb: "" } as const;
      await sendAttachment(site, people[0], conversation, makePicture(300, 200), said);
      return waitFor(trial, countPictures, 2);
    });
    await step("reloads: both pictures are shown", async () => {
      await page.reload();
      return (await showsText(trial, "salut")) && waitFor(trial, countPictures, 2);
    });
    await step("can open offline", () => waitFor(trial, isOfflineReady, undefined));
    door.close();
    await step("reloads offline, reads and writes", async () => {
      await page.reload();
      if (!(await showsText(trial, "salut"))) return false;
      await page.type(composer, `sans réseau${enterKey}`);
      return waitFor(trial, hasTick, texts.chat.status.sending);
    });
    door = await openDoor();
    doors.push(door);
    await step("sends it when the network is back", async () => {
      await phone.message("sans réseau").waitFor({ timeout: stepMs });
      return showsText(trial, "sans réseau");
    });
    await step(`shows ${pageLoads} pages loaded one after another, the slowest`, () => loadQuickly(trial));
    return steps;
  } finally {
    webkit?.close();
    await context.close();
    for (const door of doors) door.close();
    await product.stop();
  }
}
