import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { Locator } from "@playwright/test";
import { partCount, readPath } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { KillableBrowser } from "#tests/support/browser/killable-browser.ts";
import { type MadeFile, makeGif } from "#tests/support/browser/media.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { AppDevice } from "#tests/support/model/app-device.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Person, Site } from "#tests/support/people/people.ts";
import { readServerLog, readServerMessages, readServerTexts, toLogLine } from "#tests/support/server/logs.ts";
import { expectPartsOnce } from "#tests/support/server/parts-log.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";
import { startSlowProxy } from "#tests/support/server/slow-proxy.ts";

/** Phones with a poor link, an empty battery or a full storage. */

const megabyte = 1024 * 1024;
const largeBytes = toSimulationSize(10 * megabyte, fileMaxBytes) - 17;
const dropMs = toSimulationSize(2_000, 3_000);
const goodLink = 3 * megabyte; // a second
const poorLink = toSimulationSize(megabyte / 4, megabyte / 2); // the remaining share when many use it

let server: Server;
let site: Site;
test.beforeAll(async () => {
  server = await startServer({ vars: cheapWork });
  site = toSite(server);
});
test.afterAll(async () => {
  await server.stop();
});

/** File on disk: a busy machine needs half a minute to pass its bytes. Its type is unknown, so it is not changed. */
const makeFilm = (size: number): { path: string; bytes: Buffer } => {
  const bytes = Buffer.concat([Buffer.alloc(16), randomBytes(size - 16)]);
  const path = test.info().outputPath("film.bin");
  writeFileSync(path, bytes);
  return { path, bytes };
};

const sheetOf = ({ page }: TestClient): Locator => page.getByRole("dialog");
const choose = async (phone: TestClient, file: MadeFile | string): Promise<void> => {
  await phone.page.locator('input[data-attach="file"]').setInputFiles(file);
  await expect(sheetOf(phone)).toBeVisible();
};
const sendChosen = (phone: TestClient): Promise<void> =>
  sheetOf(phone).getByRole("button", { name: phone.texts.chat.send, exact: true }).click();

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Log for comparison; a file is represented by the bytes its reader gets. */
const readAll = async (reader: Person, conversation: ConversationId): Promise<string[]> => {
  const messages = await readServerMessages(site, reader, conversation);
  return Promise.all(
    messages.map(async ({ body }) => {
      if (body.type === "text") return body.text;
      const file = findAttachment(body)?.file;
      if (!file) return body.type;
      const headers = { authorization: `Bearer ${reader.token}` };
      const answer = await site.fetch(site.origin + readPath(conversation, file), { headers });
      return hashOf(new Uint8Array(await answer.arrayBuffer()));
    }),
  );
};

test("a large file arrives whole and once over a link that drops every few seconds while the runtime dies twice, and texts pass", async ({
  browser,
}) => {
  const { people, conversation } = await makePair(site, 1);
  const [ana, ben] = people;
  const link = await startSlowProxy(server, goodLink);
  try {
    const bens = await AppDevice.open(server.origin, ben);
    bens.openConversation(conversation);
    const anas = await TestClient.open(browser, { ...server, origin: link.origin });
    await anas.signInToChat(ana, ben.id);
    const film = makeFilm(largeBytes);
    await choose(anas, film.path);
    link.dropEvery(dropMs);
    await sendChosen(anas);

    const texts: string[] = [];
    const write = async (text: string) => {
      texts.push(text);
      await anas.write(text);
    };
    const readBens = async () => (await bens.listMessages(conversation)).map((message) => toLogLine(message).text);
    const lastArrives = () => expect.poll(readBens, { timeout: 30_000 }).toContain(texts.at(-1));
    const { finished } = link.parts;
    for (const death of [1, 2]) {
      const soFar = finished.size;
      await expect.poll(() => finished.size, { timeout: 60_000 }).toBeGreaterThan(soFar + partCount(largeBytes) / 6);
      link.bytesPerSecond = poorLink; // so that the file is still being uploaded when the texts have arrived
      await write(`en route ${death}`);
      await lastArrives();
      await server.kill();
      await write(`sans serveur ${death}`);
      await server.restart();
      await lastArrives();
      link.bytesPerSecond = goodLink;
    }
    bens.markRead(conversation, texts.length);
    await expect(anas.ticks(texts[0] ?? "", "read")).toBeVisible({ timeout: 30_000 });
    await expect.poll(readBens, { timeout: 90_000 }).toEqual([...texts, "<file>"]);
    expect(link.drops).toBeGreaterThan(3);
    link.holdStill();
    await expect(anas.page.getByRole("progressbar")).toHaveCount(0);

    expect(await readAll(ben, conversation)).toEqual([...texts, hashOf(film.bytes)]);
    expectPartsOnce(link.parts, film.bytes.length);
    await anas.close();
    await bens.close();
  } finally {
    await link.stop();
  }
});

/** The creation of the local store never finishes on /app. */
const makeStoreEndlessly = () => {
  if (location.pathname !== "/app") return;
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...rest) {
    const request = open.apply(this, rest);
    request.addEventListener("upgradeneeded", () => {
      document.documentElement.toggleAttribute("data-making", true);
      const store = request.result.createObjectStore("endless");
      const again = () => {
        store.put(1, 1).onsuccess = again;
      };
      again();
    });
    return request;
  };
};

test("a page left and frozen while creating its store does not block the next one, and texts written offline and an upload survive a kill of the browser and arrive once", async () => {
  const { people, conversation } = await makePair(site, 3);
  const [ana, ben] = people;
  const link = await startSlowProxy(server, goodLink);
  const battery = new KillableBrowser(); // with the back/forward cache, which the browser of other tests lacks
  try {
    const open = async () => TestClient.openIn(await battery.start(), { ...server, origin: link.origin });
    const readTexts = () => readServerTexts(site, ben, conversation);

    const first = await open();
    await first.page.addInitScript(makeStoreEndlessly);
    await first.signIn(ana);
    await expect(first.page.locator("[data-making]")).toBeAttached();
    await first.openChat(ben.id);
    await first.write("tout de suite");
    await expect(first.ticks("tout de suite", "sent")).toBeVisible();
    await expect(first.page.getByText(first.texts.shell.storage.memory)).toHaveCount(0);
    await battery.quit(); // the session is on the disk: nobody signs in again below
    const phone = await open();
    await phone.openChat(ben.id);
    await expect(phone.message("tout de suite")).toBeVisible();

    await server.kill(); // no network: neither socket nor HTTP
    const offline = Array.from({ length: 5 }, (_, n) => `écrit sans réseau ${n + 1}`);
    for (const text of offline) await phone.write(text);
    await expect(phone.message(offline.at(-1) ?? "")).toBeVisible();
    await battery.kill();

    await server.restart();
    const second = await open();
    await second.openChat(ben.id);
    for (const text of offline) await expect(second.ticks(text, "sent")).toBeVisible({ timeout: 30_000 });
    const texts = ["tout de suite", ...offline];
    expect(await readTexts()).toEqual(texts);
    const film = makeFilm(2 * megabyte);
    await choose(second, film.path);
    link.bytesPerSecond = megabyte / 4;
    await sendChosen(second);
    await expect.poll(() => link.parts.finished.size).toBeGreaterThan(partCount(film.bytes.length) / 4);
    await battery.kill();
    expect(link.parts.finished.size).toBeLessThan(partCount(film.bytes.length));

    link.bytesPerSecond = goodLink;
    const third = await open();
    await third.goTo("/app");
    await expect.poll(readTexts, { timeout: 30_000 }).toEqual([...texts, "<file>"]);
    expect(await readAll(ben, conversation)).toEqual([...texts, hashOf(film.bytes)]);
    expectPartsOnce(link.parts, film.bytes.length);
    await third.openRoute(`/app/chat/${ben.id}`);
    await expect(third.page.getByRole("main").getByRole("listitem").filter({ hasText: "film.bin" })).toHaveCount(1);
  } finally {
    await battery.remove();
    await link.stop();
  }
});

/** Fills the remaining storage, except a few hundred bytes. */
const fillRoom = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open("filler", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("bytes", { autoIncrement: true });
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const put = (bytes: number) => {
        if (bytes < 256) return resolve();
        const write = opening.result.transaction("bytes", "readwrite");
        write.objectStore("bytes").put(crypto.getRandomValues(new Uint8Array(bytes)));
        write.oncomplete = () => put(bytes);
        write.onabort = () => put(bytes / 2);
      };
      put(65_536);
    };
  });

test("on a phone with full storage a picture is refused with a message, and a text is still sent", async () => {
  const { people, conversation } = await makePair(site, 5);
  const [ana, ben] = people;
  const battery = new KillableBrowser(); // a quota does not apply to the stores of a private window
  try {
    const phone = await TestClient.openIn(await battery.start(), server);
    const { page, texts } = phone;
    const devtools = await phone.context.newCDPSession(page);
    const setQuota = (quotaSize: number) =>
      devtools.send("Storage.overrideQuotaForOrigin", { origin: server.origin, quotaSize });
    await setQuota(3 * megabyte); // before the browser noticed: it checks rarely
    await phone.signInToChat(ana, ben.id);
    await page.evaluate(fillRoom);

    const gif = makeGif("danse.gif");
    const picture = { ...gif, buffer: Buffer.concat([gif.buffer, randomBytes(megabyte)]) };
    await choose(phone, picture);
    await sendChosen(phone);
    const warning = sheetOf(phone).getByRole("alert");
    await expect(warning).toHaveText(texts.chat.attach.noRoom);
    await expect(warning).toContainText("Pas assez de place pour ce fichier");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: texts.chat.attach.discardConfirm, exact: true }).click(); // a new file
    await expect(sheetOf(phone)).toHaveCount(0);
    await phone.write("plus de place");
    const readLog = () => readServerLog(site, ben, conversation);
    await expect.poll(readLog).toMatchObject([{ text: "plus de place" }]);

    await setQuota(100 * megabyte);
    await choose(phone, picture);
    await sendChosen(phone);
    await expect.poll(readLog, { timeout: 30_000 }).toHaveLength(2);
    await expect(phone.message("plus de place")).toHaveCount(1, { timeout: 40_000 });
  } finally {
    await battery.remove();
  }
});
