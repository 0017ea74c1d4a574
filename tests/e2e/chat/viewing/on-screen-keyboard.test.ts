import type { Browser } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Server } from "#tests/support/server/server.ts";

const screenPx = 740;
const visiblePx = 400; // above the keyboard
const lines = Array.from({ length: 40 }, (_, i) => `ligne ${i + 1}`);

const openChat = async (browser: Browser, server: Server, n: number, prepare?: () => void) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, n);
  const [ana, ben] = people;
  await sendTexts(site, ben, conversation, lines);
  const anas = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: screenPx }, hasTouch: true }),
    server,
  );
  if (prepare) await anas.page.addInitScript(prepare);
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message("ligne 40")).toBeInViewport();
  return { anas, site, ben, conversation };
};

/** Lower edges of the newest message and of the composer. */
const readEdges = async (anas: TestClient, newest: string) => {
  const bottomOf = (box: { y: number; height: number } | null) => (box ? Math.round(box.y + box.height) : Number.NaN);
  return {
    message: bottomOf(await anas.message(newest).boundingBox()),
    field: bottomOf(await anas.composer().boundingBox()),
    fieldTop: Math.round((await anas.composer().boundingBox())?.y ?? Number.NaN),
  };
};

const expectUncovered = async (anas: TestClient, newest: string) => {
  await expect.poll(async () => (await readEdges(anas, newest)).field).toBeLessThanOrEqual(visiblePx);
  await expect
    .poll(async () => {
      const { message, fieldTop } = await readEdges(anas, newest);
      return message > 0 && message <= fieldTop;
    })
    .toBe(true);
};

test("a keyboard that resizes the page covers neither the field nor the newest message", async ({
  browser,
  server,
}) => {
  const { anas, site, ben, conversation } = await openChat(browser, server, 5250);
  const { page } = anas;
  // Chromium resizes the page for its keyboard if the document asks for it.
  const viewport = page.locator("meta[name=viewport]");
  await expect(viewport).toHaveAttribute("content", /interactive-widget=resizes-content/);
  await anas.composer().click();
  await page.setViewportSize({ width: 360, height: visiblePx });
  await expectUncovered(anas, "ligne 40");
  await sendTexts(site, ben, conversation, ["pendant la frappe"]);
  await expectUncovered(anas, "pendant la frappe");
  await anas.composer().fill("une\nréponse\nlongue");
  await expectUncovered(anas, "pendant la frappe");
  await page.setViewportSize({ width: 360, height: screenPx });
  await expect(anas.message("pendant la frappe")).toBeInViewport();
  await anas.close();
});

test("a keyboard that is laid over the page covers neither the field nor the newest message", async ({
  browser,
  server,
}) => {
  // Chromium lays no keyboard over a page: its visual viewport is replaced by one that a test can change.
  const { anas, site, ben, conversation } = await openChat(browser, server, 5252, () => {
    const viewport = Object.assign(new EventTarget(), {
      height: innerHeight,
      width: innerWidth,
      scale: 1,
      offsetTop: 0,
    });
    Object.defineProperty(window, "visualViewport", { value: viewport });
  });
  const { page } = anas;
  const show = (heightPx: number) =>
    page.evaluate((height) => {
      Object.assign(visualViewport as object, { height });
      visualViewport?.dispatchEvent(new Event("resize"));
    }, heightPx);
  await anas.composer().click();
  await show(visiblePx);
  await expectUncovered(anas, "ligne 40");
  await sendTexts(site, ben, conversation, ["pendant la frappe"]);
  await expectUncovered(anas, "pendant la frappe");
  await show(screenPx);
  await expect.poll(async () => (await readEdges(anas, "pendant la frappe")).field).toBeGreaterThan(screenPx - 40);
  await anas.close();
});
