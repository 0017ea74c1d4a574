import type { Locator, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { sendPicture } from "#tests/support/browser/chat-files.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const long = (n: number) => `lettre ${n} ${"des mots sur plusieurs lignes ".repeat(n % 5)}`.trim();

/** Follows the position of a row in every frame from now on; `worst` is its largest offset in pixels. */
const watchPosition = async (row: Locator) => {
  await row.evaluate((element) => {
    const top = element.getBoundingClientRect().top;
    const state = { worst: 0 };
    Object.assign(window, { position: state });
    const check = () => {
      state.worst = Math.max(state.worst, Math.abs(element.getBoundingClientRect().top - top));
      requestAnimationFrame(check);
    };
    check();
  });
  return () => row.page().evaluate(() => (Reflect.get(window, "position") as { worst: number }).worst);
};

/** Scrolls so that the row above this one is cut by the upper edge of the list. */
const cutRowAbove = (row: Locator, hiddenPx: number): Promise<void> =>
  row.evaluate((element, hiddenPx) => {
    const box = element.closest("ol")?.parentElement?.parentElement;
    const above = element.previousElementSibling;
    if (!box || !above) throw new Error("nothing above");
    const top = above.getBoundingClientRect().top - box.getBoundingClientRect().top + hiddenPx;
    box.scrollBy({ top, behavior: "instant" });
  }, hiddenPx);

/** Scrolls up until the row is inside the list. */
const scrollUpTo = async (page: Page, row: Locator): Promise<void> => {
  await page.mouse.move(180, 350);
  const near = async () => {
    const [box] = await row.evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    const isPast = box !== undefined && box.top > 300;
    if (box && box.bottom > 130 && !isPast) return true;
    await page.mouse.wheel(0, isPast ? 100 : -100);
    return false;
  };
  await expect.poll(near, { intervals: [300] }).toBe(true);
};

test("what is read stays in place while messages change above and below it, and a long text grows downwards", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 5240);
  const [ana, ben] = people;
  const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => long(from + i));
  await sendTexts(site, ben, conversation, lines(1, 46));
  for (const seq of [47, 48]) await sendPicture(site, ben, conversation, `photo ${seq}.png`, 0, `photo ${seq}`);
  await sendTexts(site, ben, conversation, lines(49, 70));
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message(long(70))).toBeInViewport();
  const read = anas.message(long(55));
  await scrollUpTo(page, read);
  await cutRowAbove(read, 20);
  await page.waitForTimeout(500); // late pictures of the first screen
  const readWorst = await watchPosition(read);

  const change = async (method: string, seq: number, path: string, body: object, by = ben) => {
    const url = `/api/conversations/${conversation}/messages/${seq}${path}`;
    expect((await callSite(site, method, url, { token: by.token, body })).status).toBe(200);
  };
  for (const seq of [54, 53, 50, 48, 47, 40, 20]) await change("PUT", seq, "/reaction", { emoji: "👍" });
  for (const seq of [54, 52, 49, 45, 30]) {
    const text = `corrigé ${seq} ${"et allongé de plusieurs lignes ".repeat(4)}`.trim();
    await change("PATCH", seq, "", { edit: seq, text });
  }
  for (const seq of [51, 46]) await change("PATCH", seq, "", { edit: seq, text: "court" });
  for (const seq of [48]) await change("PATCH", seq, "", { edit: seq, text: `légende ${"plus longue ".repeat(12)}` });
  await sendPicture(site, ben, conversation, "nouvelle.png", 0, "nouvelle photo");
  await expect(page.getByRole("button", { name: texts.chat.newMessages_one.replace("{count}", "1") })).toBeVisible();
  await expect(page.getByText(/^corrigé 54/).first()).toBeAttached();
  await expect(page.getByText("👍").first()).toBeAttached();
  await page.waitForTimeout(1_000);
  expect(await readWorst()).toBeLessThanOrEqual(1);

  // Further up, the changed messages are measured as they come into view: nothing moves against the finger.
  const jump = await page.evaluate(async () => {
    const box = document.querySelector("[role=main] ol")?.parentElement?.parentElement;
    if (!box) throw new Error("no list");
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30)));
    const tops = () =>
      new Map(
        [...box.querySelectorAll<HTMLElement>("li[data-index]")].map((row) => [
          row.dataset["key"],
          row.getBoundingClientRect().top,
        ]),
      );
    let worst = 0;
    for (let step = 0; step < 30 && box.scrollTop > 0; step++) {
      const before = tops();
      const from = box.scrollTop;
      box.scrollBy({ top: -120, behavior: "instant" });
      const moved = from - box.scrollTop;
      await frame();
      await frame();
      for (const [key, top] of tops()) {
        const was = before.get(key);
        if (was !== undefined && was > 0 && was < innerHeight) worst = Math.max(worst, Math.abs(top - was - moved));
      }
    }
    return worst;
  });
  expect(jump).toBeLessThanOrEqual(1);

  // A long text that is expanded, also if its beginning is out of view.
  const cleo = await makePerson(site, 5242);
  await connectPeople(site, ana, cleo);
  const withCleo = privateConversationId(ana.id, cleo.id);
  await sendTexts(
    site,
    cleo,
    withCleo,
    Array.from({ length: 20 }, (_, i) => long(i + 1)),
  );
  await sendTexts(site, cleo, withCleo, [Array.from({ length: 60 }, (_, i) => `ligne ${i + 1}`).join("\n")]);
  await sendTexts(site, cleo, withCleo, [..."abcdefgh"]);
  await anas.openRoute(`/app/chat/${cleo.id}`);
  const more = page.getByRole("button", { name: texts.messages.showMore });
  await expect(more).toBeAttached();
  const row = page.getByRole("listitem").filter({ has: more });
  await row.evaluate((element) => {
    const box = element.closest("ol")?.parentElement?.parentElement;
    const top = element.getBoundingClientRect().top - (box?.getBoundingClientRect().top ?? 0) + 100;
    box?.scrollBy({ top, behavior: "instant" });
  });
  await expect(page.getByRole("button", { name: texts.chat.toLatest })).toBeVisible();
  const text = page.getByText("ligne 20");
  const topOf = () => text.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  const before = await topOf();
  await more.click();
  await expect(more).toHaveCount(0);
  await expect(page.getByText("ligne 60")).toBeAttached();
  await page.waitForTimeout(500); // the longer row is measured
  expect(await topOf()).toBe(before);
  await anas.close();
});
