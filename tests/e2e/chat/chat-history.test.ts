import type { Locator, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { messageInfoPath } from "#contract/wire/message-info.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const total = 500;
const scrolled = toSimulationSize(200, total);
const textOf = (n: number): string => (n === 3 ? "Rendez-vous à l’Été bleu" : `message ${n}`);

/** Makes two connected people with 500 messages by default, in runs of 25 from each side. */
const makeHistory = async (site: Site, n: number, count = total): Promise<[Person, Person]> => {
  const people: [Person, Person] = [await makePerson(site, n), await makePerson(site, n + 1)];
  await connectPeople(site, ...people);
  const conversation = privateConversationId(people[0].id, people[1].id);
  const run = 25;
  for (let first = 1; first <= count; first += run) {
    const from = people[((first - 1) / run) % 2] as Person;
    await sendTexts(
      site,
      from,
      conversation,
      Array.from({ length: run }, (_, i) => textOf(first + i)),
    );
  }
  return people;
};

/** Slows the processor down like a cheap phone's: drawing, measuring and announcing follow each other. */
const slowDown = async (page: Page): Promise<void> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
};

/**
 * Scrolls up in steps as a thumb does. Records every message seen, and the largest offset from its expected position.
 */
const readUpwards = (page: Page) =>
  page.evaluate(async () => {
    const box = document.querySelector("[role=main] ol")?.parentElement?.parentElement;
    if (!box) throw new Error("no list");
    const seen: string[] = [];
    let worstJump = 0;
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    const rows = () =>
      [...box.querySelectorAll<HTMLElement>("li[data-index]")].map((row) => ({
        text: row.querySelector("bdi")?.textContent ?? "",
        top: row.getBoundingClientRect().top,
      }));
    const deadline = performance.now() + 90_000;
    while (performance.now() < deadline) {
      const edge = box.getBoundingClientRect();
      const before = rows().filter((row) => row.top > edge.top + 50 && row.top < edge.bottom - 50);
      for (const { text } of [...before].reverse()) if (!seen.includes(text)) seen.push(text);
      if (seen.includes("message 1") && box.scrollTop === 0) break;
      const from = box.scrollTop;
      box.scrollBy({ top: -240, behavior: "instant" });
      const moved = from - box.scrollTop;
      await frame();
      await frame();
      const after = new Map(rows().map((row) => [row.text, row.top]));
      for (const { text, top } of before) {
        const now = after.get(text);
        if (now !== undefined) worstJump = Math.max(worstJump, Math.abs(now - top - moved));
      }
    }
    return { seen, worstJump };
  });

test("scrolling up loads hundreds of messages in order, and none moves under the reader", async ({
  browser,
  server,
}) => {
  const [ana, ben] = await makeHistory(toSite(server), 520, scrolled);
  const anas = await TestClient.open(browser, server, "fr", withServiceWorker);
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message(`message ${scrolled}`)).toBeInViewport();

  await expect(anas.message(`message ${scrolled - 20}`)).toBeAttached(); // the first page
  const { seen, worstJump } = await readUpwards(anas.page);
  expect(seen).toEqual(Array.from({ length: scrolled }, (_, i) => textOf(scrolled - i)));
  expect(worstJump).toBeLessThanOrEqual(2);
  await expect(anas.page.getByText(anas.texts.chat.start)).toBeVisible();

  // The whole history is on the device now, offline and after a reload.
  await waitForOfflineReady(anas.page);
  await anas.context.setOffline(true);
  await anas.page.reload();
  await expect(anas.message(`message ${scrolled}`)).toBeInViewport();
  const again = await readUpwards(anas.page);
  expect(again.seen).toHaveLength(scrolled);
  await anas.close();
});

test("a reader further up keeps their position and has not read new messages; a search leads to one of the first page", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = await makeHistory(site, 524);
  const conversation = privateConversationId(ana.id, ben.id);
  const infoOf = async (seq: number) =>
    (await callSite(site, "GET", messageInfoPath(conversation, seq), { token: ben.token })).body;
  const anas = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts } = anas;
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message(`message ${total}`)).toBeInViewport();
  await page.getByRole("list", { name: fill(texts.chat.messages, { name: ben.username }) }).hover();
  await page.mouse.wheel(0, -1_500);
  const toLatest = page.getByRole("button", { name: texts.chat.toLatest });
  await expect(toLatest).toBeVisible();
  const readOffset = () =>
    page.evaluate(() => {
      const row = [...document.querySelectorAll("[role=main] ol li[data-index]")].find(
        (li) => li.getBoundingClientRect().top > 200,
      );
      return [row?.textContent, Math.round(row?.getBoundingClientRect().top ?? 0)];
    });
  // When older pages are measured, the visible messages keep their position.
  let before = await readOffset();
  const stands = async () => {
    const [last, now] = [before.join(), await readOffset()];
    before = now;
    return now.join() === last;
  };
  await expect.poll(stands, { intervals: [500] }).toBe(true);
  await sendTexts(site, ben, conversation, ["du nouveau", "et encore"]);
  const pill = page.getByRole("button", { name: fill(texts.chat.newMessages_other, { count: 2 }) });
  await expect(pill).toBeVisible();
  expect(await readOffset()).toEqual(before);
  await expect.poll(() => infoOf(total + 2)).toEqual({ delivered: expect.anything(), read: null });

  await pill.click();
  await expect(anas.message("et encore")).toBeInViewport();
  await expect.poll(() => infoOf(total + 2)).toEqual({ delivered: expect.anything(), read: expect.anything() });
  await expect(pill).toHaveCount(0);
  await expect(toLatest).toHaveCount(0);

  // A sent message appears where the reader looks next.
  await page.getByRole("list", { name: fill(texts.chat.messages, { name: ben.username }) }).hover();
  await page.mouse.wheel(0, -1_500);
  await expect(toLatest).toBeVisible();
  await anas.write("ma réponse");
  await expect(anas.message("ma réponse")).toBeInViewport();

  // The search finds it by its words.
  const openSearch = async () => {
    await page.getByRole("button", { name: texts.common.more }).click();
    await page.getByRole("menuitem", { name: texts.chat.search }).click();
  };
  await openSearch();
  const field = page.getByRole("searchbox", { name: texts.chat.searchLabel });
  await expect(field).toBeFocused();
  await field.fill("zzz introuvable");
  await expect(page.getByText(texts.chat.noneTitle)).toBeVisible();
  await field.fill("message 49");
  // Eleven begin so; among what the device holds it finds the digits within a number too, such as 449.
  await expect(page.getByText(new RegExp(texts.chat.found_other.replace("{count}", "1[1-5]")))).toBeVisible();
  await field.fill("ete BLE");
  const found = page.getByRole("list", { name: texts.chat.foundList }).getByRole("button");
  await expect(found).toHaveCount(1);
  await expect(found.locator("mark")).toHaveText(["Été", "ble"]);
  await found.click();
  await expect(anas.message(textOf(3))).toBeInViewport();
  await expect(anas.message(`message ${total}`)).toHaveCount(0);
  // Escape closes the search also here, where its list and the focus are gone.
  await page.keyboard.press("Escape");
  await expect(field).toHaveCount(0);
  await openSearch();
  // A result that only the server has leaves the list when it is edited and matches no more.
  await field.fill("bleu");
  await expect(found).toHaveCount(1);
  const edit = { token: ana.token, body: { text: "Rendez-vous en été", edit: 0 } };
  expect((await callSite(site, "PATCH", `/api/conversations/${conversation}/messages/3`, edit)).status).toBe(200);
  await expect(found).toHaveCount(0);
  await field.fill("ete");
  await expect(found).toHaveCount(1);

  // Without a network only this device is searched, and the chat says so.
  await waitForOfflineReady(page);
  await anas.context.setOffline(true);
  await field.fill("du nouveau");
  await expect(found.locator("mark")).toHaveText(["du", "nouveau"]);
  await expect(page.getByText(texts.chat.searchOffline)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(field).toHaveCount(0);
  await anas.close();
});

test("a reader at the newest message stays there when forty arrive before it; a phone whose clock is a day ahead lists them under today", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 526), await makePerson(site, 527)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, conversation, ["avant"]);
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message("avant")).toBeVisible();
  await anas.context.setOffline(true);
  await anas.write("écrit en attendant");
  await expect(anas.ticks("écrit en attendant", "sending")).toBeVisible();
  await sendTexts(
    site,
    ben,
    conversation,
    Array.from({ length: 40 }, (_, i) => `pendant ${i + 1}`),
  );
  await anas.context.setOffline(false);
  await expect(anas.ticks("écrit en attendant", "sent")).toBeInViewport({ timeout: 30_000 });
  await expect(anas.message("pendant 40")).toBeInViewport();

  // The clock of the phone is a day ahead.
  await anas.page.addInitScript(() => {
    const { now } = Date;
    Date.now = () => now() + 86_400_000;
  });
  await anas.page.reload();
  await expect(anas.message("pendant 40")).toBeVisible();
  await expect(anas.page.getByText("Aujourd’hui", { exact: true }).first()).toBeVisible();
  await expect(anas.page.getByText("Hier", { exact: true })).toHaveCount(0);
  await anas.close();
});

test("in very large text a chat opens at its newest message every time, and new messages are visible and read", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 528), await makePerson(site, 529, "Ben")];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  const linesOf = (n: number) => `message ${n}\n${"Kobosana mapa te. ".repeat(1 + (n % 3))}`;
  await sendTexts(
    site,
    ben,
    conversation,
    Array.from({ length: 40 }, (_, i) => linesOf(i + 1)),
  );
  const anas = await TestClient.open(browser, server, "pt"); // its field has two lines on the smallest screen
  const { page, texts } = anas;
  await anas.signIn(ana, "/app/appearance");
  await page.getByText(texts.appearance.larger, { exact: true }).click();
  await anas.goToTab("masolo");
  await slowDown(page);
  const unread = fill(texts.masolo.unread_one, { count: 1 });
  const fromEnd = () =>
    page.evaluate(() => {
      const list = document.querySelector("[role=main] ol")?.parentElement?.parentElement;
      return list ? Math.round(list.scrollHeight - list.scrollTop - list.clientHeight) : undefined;
    });
  for (let time = 1; time <= 2; time++) {
    await anas.conversation("Ben").click();
    await expect(anas.composer()).toBeVisible();
    await expect.poll(fromEnd, `time ${time}`).toBe(0);
    await sendTexts(site, ben, conversation, [`encore ${time}`]);
    await expect(anas.message(`encore ${time}`)).toBeInViewport();
    await expect(page.getByRole("button", { name: texts.chat.toLatest })).toHaveCount(0);
    await page.getByRole("link", { name: texts.common.back }).click();
    await expect(anas.conversation("Ben")).toContainText(`encore ${time}`);
    await expect(anas.conversation("Ben")).not.toContainText(unread);
  }

  // The recorder is lower than the field: opening and closing it keeps the end of the chat in view.
  await page.setViewportSize({ width: 320, height: 480 });
  await anas.conversation("Ben").click();
  await expect.poll(fromEnd).toBe(0);
  await page.getByRole("button", { name: texts.chat.voice.record }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("timer")).toBeVisible();
  await expect.poll(fromEnd).toBe(0);
  await page.getByRole("button", { name: texts.chat.voice.discard }).click();
  await expect(anas.composer()).toBeVisible();
  await expect.poll(fromEnd).toBe(0);
  // Neither does a field of several lines, which is measured again with each letter.
  await anas.composer().fill("um\ndois\ntrês");
  await expect.poll(fromEnd).toBe(0);
  await anas.composer().pressSequentially("!");
  await expect(anas.composer()).toHaveValue("um\ndois\ntrês!");
  await expect.poll(fromEnd).toBe(0);
  await anas.close();
});

test("a reader further up stays at the same message when others above it are deleted, and when the phone is rotated", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 590);
  const [ana, ben] = people;
  const long = (n: number) => `lettre ${n} ${"des mots sur plusieurs lignes ".repeat(n % 5)}`.trim();
  await sendTexts(
    site,
    ben,
    conversation,
    Array.from({ length: 60 }, (_, i) => long(i + 1)),
  );
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message(long(60))).toBeInViewport();
  await page.mouse.move(180, 350);
  const read = anas.message(long(52));
  // Scrolls up until it is there; if a late page moved it out of view, scrolls back.
  const near = async () => {
    const [row] = await read.evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().toJSON() as DOMRect));
    const isPast = row !== undefined && row.top > 300;
    if (row && row.bottom > 130 && !isPast) return true;
    await page.mouse.wheel(0, isPast ? 100 : -100);
    return false;
  };
  await expect.poll(near, { intervals: [300] }).toBe(true);

  // Messages deleted above, partly visible or not drawn, leave shorter tombstones: the visible text keeps its position.
  await read.evaluate((row) => {
    const box = row.closest("ol")?.parentElement?.parentElement;
    const above = row.previousElementSibling;
    if (!box || !above) throw new Error("nothing above");
    const hiddenPx = 15;
    const top = above.getBoundingClientRect().top - box.getBoundingClientRect().top + hiddenPx;
    box.scrollBy({ top, behavior: "instant" });
  });
  const topOf = (row: Locator) => row.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  const top = await topOf(read);
  for (const seq of [30, 33, 34, 44, 45, 46, 47, 48, 49, 51]) {
    const path = `/api/conversations/${conversation}/messages/${seq}`;
    expect((await callSite(site, "DELETE", path, { token: ben.token })).status).toBe(200);
  }
  await expect(anas.message(long(51))).toHaveCount(0);
  await expect(anas.message(texts.chat.deletedMessage).last()).toBeAttached();
  expect(await topOf(read)).toBe(top);

  await slowDown(page);
  for (const viewport of [
    { width: 740, height: 360 },
    { width: 360, height: 740 },
  ]) {
    await page.setViewportSize(viewport);
    await expect(anas.message(long(60))).not.toBeInViewport();
    await expect(read).toBeInViewport();
    await expect(page.getByRole("button", { name: texts.chat.toLatest })).toBeVisible();
  }
  await anas.close();
});

/**
 * Scrolls up once, as soon as the first messages are drawn or older ones are inserted above them, before any event
 * reports it. `wentUp` is set to the final offset of the visible message.
 */
const goUpEarly = (isAsOlderCome: boolean) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
  const topsIn = (box: Element) =>
    new Map(
      [...box.querySelectorAll("li[data-index]")].map((row) => [
        row.querySelector("bdi")?.textContent ?? "",
        row.getBoundingClientRect().top,
      ]),
    );
  const goUp = async (box: Element): Promise<number> => {
    const before = topsIn(box);
    const from = box.scrollTop;
    box.scrollBy({ top: -240, behavior: "instant" });
    const moved = from - box.scrollTop;
    for (let n = 0; n < 20; n++) await frame();
    const shared = [...topsIn(box)].filter(([text]) => before.has(text));
    if (moved !== 240 || shared.length === 0) throw new Error("nobody went up");
    return Math.max(...shared.map(([text, top]) => Math.abs(top - (before.get(text) ?? 0) - moved)));
  };
  let heightPx = 0;
  const isDrawn = new MutationObserver(() => {
    const box = document.querySelector("[role=main] ol li[data-index]")?.closest("ol")?.parentElement?.parentElement;
    if (!box) return;
    heightPx ||= box.scrollHeight;
    if (isAsOlderCome && box.scrollHeight < heightPx + 500) return;
    isDrawn.disconnect();
    void goUp(box).then((wentUp) => Object.assign(window, { wentUp }));
  });
  addEventListener("DOMContentLoaded", () => isDrawn.observe(document, { childList: true, subtree: true }));
};

test("a user who scrolls up while a chat is drawn, or while older messages are inserted, is not moved to its end", async ({
  browser,
  server,
}) => {
  const [ana, ben] = await makeHistory(toSite(server), 596, 150);
  for (const isAsOlderCome of [false, true]) {
    const phone = await TestClient.open(browser, server);
    await phone.page.addInitScript(goUpEarly, isAsOlderCome);
    await phone.signInToChat(ana, ben.id);
    await phone.page.waitForFunction(() => "wentUp" in window);
    const wentUp = await phone.page.evaluate(() => (window as { wentUp?: number }).wentUp);
    expect(wentUp, isAsOlderCome ? "as older ones come" : "as it is drawn").toBeLessThanOrEqual(2);
    await phone.close();
  }
});
