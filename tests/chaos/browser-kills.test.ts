import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BrowserContext, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { KillableBrowser } from "#tests/support/browser/killable-browser.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { makeSeededRandom } from "#tests/support/model/virtual-time.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson, type Person } from "#tests/support/people/people.ts";
import { messagePush } from "#tests/support/push/push-client.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";

const kills = toSimulationSize(5, 100);
/** What was done so long before a kill is on the disk: a commit on a machine with two busy processors. */
const settleMs = 1_000;
const killWithinMs = 3_500;
const recordedMs = 1_500; // a recording is stored every second
/** Content of a voice message, which has no text. */
const voice = "voice";

/** Something that the person did, and that must exist afterwards if it was done early enough. */
type Deed = { content: string; doneAt: number | undefined };

/** Phone in one life of its browser. */
type Life = {
  phone: TestClient;
  context: BrowserContext;
  server: Server;
  people: readonly [Person, Person];
  deeds: Deed[];
  name: string;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const doDeed = async ({ deeds }: Life, content: string, work: () => Promise<unknown>): Promise<void> => {
  const deed: Deed = { content, doneAt: undefined };
  deeds.push(deed);
  await work();
  deed.doneAt = Date.now();
};

const sendTexts = async (life: Life, page: Page, names: readonly string[]): Promise<void> => {
  for (const name of names)
    await doDeed(life, `${life.name} ${name}`, () => life.phone.write(`${life.name} ${name}`, page));
};

const slowDown = async (context: BrowserContext, page: Page): Promise<void> => {
  const devtools = await context.newCDPSession(page);
  const kilobit = 1_000 / 8;
  await devtools.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: 400, downloadThroughput: 400 * kilobit, uploadThroughput: 400 * kilobit },
  });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
};

/** Publishes another version of the app, which differs in its service worker. */
const publishUpdate = ({ state }: Server, version: string): void =>
  appendFileSync(join(dirname(state), "dist", "client", "sw.js"), `// ${version}\n`);

/** Answers a notification in its text field. Resolves once the service worker has handled it. */
const reply = async ({ people: [ana, ben], context, server }: Life, text: string): Promise<void> => {
  await context.grantPermissions(["notifications"], { origin: server.origin });
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  const { data, notification } = messagePush(ana, ben, "Mbote");
  await worker.evaluate(
    `registration.showNotification("Ben", ${JSON.stringify({ tag: notification.tag, data })})
      .then(() => registration.getNotifications({ tag: ${JSON.stringify(notification.tag)} }))
      .then(([notification]) => {
        const event = new NotificationEvent("notificationclick", { notification, action: "reply" });
        let handled;
        Object.defineProperty(event, "reply", { value: ${JSON.stringify(text)} });
        Object.defineProperty(event, "waitUntil", { value: (work) => { handled = work; } });
        self.dispatchEvent(event);
        return handled;
      })`,
  );
};

const scenes: Record<string, (life: Life) => Promise<void>> = {
  async typing(life) {
    const { page } = life.phone;
    await life.phone.composer().focus();
    for (const word of ["un", "deux", "trois", "quatre", "cinq"])
      await doDeed(life, `${life.name} ${word}`, () => page.keyboard.type(`${life.name} ${word} `, { delay: 20 }));
  },
  enter: (life) => sendTexts(life, life.phone.page, ["a", "b", "c", "d", "e", "f"]),
  async "first view"(life) {
    const { page } = life.phone;
    await slowDown(life.context, page);
    await page.reload({ waitUntil: "commit" });
    await life.phone.composer().waitFor();
    await sendTexts(life, page, ["tôt 1", "tôt 2", "tôt 3"]);
  },
  async photo(life) {
    const { page, texts } = life.phone;
    const caption = `${life.name} photo`;
    const buffer = Buffer.from(caption.padEnd(20_000, "."));
    await page.locator('input[data-attach="file"]').setInputFiles({ name: "lettre.bin", mimeType: "", buffer });
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("textbox").fill(caption);
    await doDeed(life, caption, async () => {
      await sheet.getByRole("button", { name: texts.chat.send, exact: true }).click();
      await sheet.waitFor({ state: "hidden" });
    });
  },
  async voice(life) {
    const { page, texts } = life.phone;
    await doDeed(life, voice, async () => {
      await page.getByRole("button", { name: texts.chat.voice.record }).press("Enter");
      await page.getByRole("timer").waitFor();
      await pause(recordedMs);
    });
  },
  async "two tabs"(life) {
    const other = await life.context.newPage();
    await life.phone.openChat(life.phone.page.url().split("/").at(-1) ?? "", other);
    await Promise.all([
      sendTexts(life, life.phone.page, ["x1", "x2", "x3"]),
      sendTexts(life, other, ["y1", "y2", "y3"]),
    ]);
  },
  async reply(life) {
    await life.phone.page.goto("about:blank"); // the app is closed
    for (const name of ["r1", "r2", "r3"])
      await doDeed(life, `${life.name} ${name}`, () => reply(life, `${life.name} ${name}`));
  },
  async update(life) {
    publishUpdate(life.server, life.name);
    const update = life.phone.page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update());
    await sendTexts(life, life.phone.page, ["u1", "u2"]);
    await update;
    await life.phone.page.reload();
    await sendTexts(life, life.phone.page, ["u3", "u4"]);
  },
};

const findSendVoice = ({ page, texts }: TestClient) =>
  page.getByRole("button", { name: texts.chat.voice.send, exact: true });

/** What stands in the message field and in an open sheet; sends both, so that the next life begins without them. */
const sendWhatIsLeft = async (phone: TestClient): Promise<string> => {
  const sheet = phone.page.getByRole("dialog");
  const send = sheet.getByRole("button", { name: phone.texts.chat.send, exact: true });
  await phone.page.waitForTimeout(500); // the draft is offered once the app has read it
  if (await send.isVisible()) {
    await send.click();
    await expect(sheet).toHaveCount(0);
  }
  const sendVoice = findSendVoice(phone);
  if (await sendVoice.isVisible()) {
    await sendVoice.click();
    await expect(sendVoice).toHaveCount(0);
  }
  const left = await phone.composer().inputValue();
  if (left !== "") await phone.composer().press("Enter");
  return left;
};

const deleteCache = (page: Page): Promise<unknown> =>
  page
    .evaluate(async () => {
      for (const { name = "" } of await indexedDB.databases())
        if (/^lisolo-[\da-f-]{36}$/.test(name)) indexedDB.deleteDatabase(name);
    })
    .catch(() => undefined); // the browser was killed before

test(`everything written is there exactly once after ${kills} kills of the browser at any moment`, async () => {
  test.setTimeout(kills * 30_000 + 60_000);
  const random = makeSeededRandom(7);
  const server = await startServer({ vars: cheapWork });
  const battery = new KillableBrowser();
  try {
    const site = toSite(server);
    const [ana, ben] = [await makePerson(site, 1), await makePerson(site, 2)];
    await connectPeople(site, ana, ben);
    const deeds: (Deed & { isOnDisk: boolean })[] = [];
    const open = async () => {
      const context = await battery.start();
      const phone = await TestClient.openIn(context, server);
      await phone.signIn(ana, `/app/chat/${ben.id}`);
      // A recording that was left takes the place of the message field.
      await expect(phone.composer().or(findSendVoice(phone)).first()).toBeVisible({ timeout: 30_000 });
      return { context, phone };
    };
    const names = Object.keys(scenes);
    for (let n = 0; n < kills; n++) {
      const { context, phone } = await open();
      await sendWhatIsLeft(phone);
      const name = names[n % names.length] ?? "";
      const life: Life = { context, phone, server, people: [ana, ben], deeds: [], name: `${name} ${n}` };
      const run = scenes[name]?.(life).catch(() => undefined); // the browser is killed meanwhile
      // The browser may delete the cache at any time.
      if (n % 4 === 1) void pause((random() * killWithinMs) / 2).then(() => deleteCache(phone.page));
      // In the first life something is on the disk, however slow the machine is.
      if (n === 0) await expect.poll(() => life.deeds[0]?.doneAt).toBeDefined();
      await pause(n === 0 ? settleMs + 100 : random() * killWithinMs);
      const killedAt = Date.now();
      await battery.kill();
      await Promise.race([run, pause(5_000)]); // a call to a browser that is gone may never end
      for (const deed of life.deeds)
        deeds.push({ ...deed, isOnDisk: deed.doneAt !== undefined && deed.doneAt < killedAt - settleMs });
    }
    const { phone } = await open();
    await sendWhatIsLeft(phone);
    const { sending } = phone.texts.chat.status;
    await expect(phone.page.getByRole("main").getByRole("img", { name: sending, exact: true })).toHaveCount(0, {
      timeout: 60_000,
    });
    const messages = await readServerMessages(site, ben, privateConversationId(ana.id, ben.id));
    const contents = messages.map(({ body }) => (body.type === "voice" ? voice : "text" in body ? body.text : ""));
    const count = (content: string) =>
      contents.reduce((sum, text = "") => sum + ` ${text} `.split(` ${content} `).length - 1, 0);
    const countDeeds = (content: string, among = deeds) => among.filter((deed) => deed.content === content).length;
    const onDisk = deeds.filter(({ isOnDisk }) => isOnDisk);
    expect(deeds.filter(({ content }) => count(content) > countDeeds(content))).toEqual([]);
    expect(onDisk.filter(({ content }) => count(content) < countDeeds(content, onDisk))).toEqual([]);
    expect(onDisk.length).toBeGreaterThan(0);
    expect(messages.filter(({ body }) => !("text" in body && body.text) && body.type !== "voice")).toEqual([]);
  } finally {
    await battery.remove();
    await server.stop();
  }
});
