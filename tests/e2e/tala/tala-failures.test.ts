import type { Locator, Page } from "@playwright/test";
import { createUuid, packUuid } from "#contract/ids.ts";
import { pictureMaxBytes, postPageRows } from "#contract/limits/tala.ts";
import type { PostPage } from "#contract/tala.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient, waitForWelcome } from "#tests/support/browser/test-client.ts";
import { makePicture } from "#tests/support/people/attachments.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson } from "#tests/support/people/people.ts";

const feed = "**/api/tala";
const refusal = (status: number, error_code: string) => ({ status, json: { code: status, error_code, msg: "" } });

const post = ({ page }: TestClient, text: string): Locator =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: text });

/** Holds requests back until it is opened. */
const makeGate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test("failures in publishing and deleting a status are reported, and the written text stays", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 6_620, "Ana Mbala");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const field = page.getByRole("textbox", { name: texts.tala.composer });
  const alert = page.getByRole("alert");
  const publish = page.getByRole("button", { name: texts.tala.publish, exact: true });
  await phone.signIn(ana, "/app/tala");
  await page.getByRole("button", { name: texts.tala.write }).click();
  await field.fill("Au bord du fleuve");

  await expect
    .poll(async () => (await readAttachmentDrafts(page)).map(({ text }) => text))
    .toEqual(["Au bord du fleuve"]);

  // Files that are not pictures.
  const gallery = page.locator('input[data-attach="image"]');
  const file = { name: "x.png", mimeType: "image/png" };
  await gallery.setInputFiles({ ...file, buffer: Buffer.from("words") });
  await expect(alert).toContainText(texts.common.pictureUnreadable);
  await gallery.setInputFiles({ ...file, buffer: Buffer.alloc(0) });
  await expect(alert).toContainText(texts.chat.attach.empty);

  // Without a socket a status is not awaited for long.
  const isUp = waitForWelcome(page);
  await page.reload();
  await expect(field).toHaveValue("Au bord du fleuve");
  await isUp;

  // A permanent refusal by the server: it stays, with the reason, also after a reload.
  const answer = makeGate();
  await page.route(feed, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await answer.opened;
    await route.fulfill(refusal(400, "invalid_text"));
  });
  await publish.click();
  await expect(page.getByRole("button", { name: "Publication..." })).toHaveAttribute("aria-busy", "true");
  // A user who starts another one meanwhile keeps writing it.
  await page.getByRole("button", { name: texts.tala.closeComposer }).click();
  await page.getByRole("button", { name: texts.tala.write }).click();
  await field.fill("Encore un");
  answer.open();
  await expect(alert).toContainText("Votre statut n'a pas pu être publié.");
  await expect(alert).toContainText(texts.common.error);
  await expect(field).toHaveValue("Encore un");
  await expect(field).toBeFocused();
  await field.fill("");
  await page.keyboard.press("Escape");
  await page.unroute(feed);
  await page.reload();
  const mine = post(phone, "Au bord du fleuve");
  await expect(mine).toContainText(texts.tala.failed);
  await expect(mine).toContainText(texts.errors.invalid_text);
  await mine.getByRole("button", { name: texts.tala.dropWaiting }).click();
  const question = page.getByRole("alertdialog", { name: texts.tala.deleteTitle });
  await expect(question).toContainText(texts.tala.deleteWaitingBody);
  await question.getByRole("button", { name: texts.common.cancel }).click();
  const again = makeGate();
  await page.route(feed, async (route) => {
    if (route.request().method() === "POST") await again.opened;
    await route.continue();
  });
  await mine.getByRole("button", { name: texts.tala.retry }).press("Enter");
  await expect(mine.getByRole("button", { name: texts.tala.retry })).toHaveCount(0);
  await expect(mine.getByRole("article")).toBeFocused();
  // Published while its author is being asked about it, the question changes to the published status.
  await mine.getByRole("button", { name: texts.tala.dropWaiting }).click();
  await expect(question).toContainText(texts.tala.deleteWaitingBody);
  again.open();
  await expect(question).toContainText(texts.tala.deleteBody);
  await expect(mine.locator("time")).toBeVisible();
  await question.getByRole("button", { name: texts.common.cancel }).click();
  await expect(mine.getByRole("article")).toBeFocused();

  // A failed deletion leaves it where it is.
  await page.route(`${feed}/*`, (route) => route.fulfill(refusal(503, "unavailable")));
  await mine.getByRole("button", { name: texts.tala.delete.split("{")[0] ?? "" }).click();
  await expect(question).toContainText(texts.tala.deleteBody);
  await question.getByRole("button", { name: texts.common.delete }).click();
  await expect(alert).toContainText(texts.tala.deleteFailed);
  await expect(mine).toBeVisible();

  // Turned off, it can be turned on again also where the device cannot store the setting.
  await callSite(site, "PATCH", "/api/settings", { token: ana.token, body: { tala: false } });
  await expect(page.getByText(texts.tala.offBody)).toBeVisible();
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("no", "UnknownError");
    };
  });
  await page.getByRole("button", { name: texts.tala.turnOn }).click();
  await expect(page.getByText(texts.tala.offBody)).toBeHidden();
  await expect(mine).toBeVisible();
  await phone.close();
});

/** Page of made-up statuses, the newest with a picture, and with older ones after it. */
const makePage = (newest: number): PostPage => ({
  authors: [[packUuid(createUuid()), "Ben Kasongo", null]],
  posts: Array.from({ length: postPageRows }, (_, i) => {
    const number = newest - i;
    return [number, packUuid(createUuid()), 0, Date.now() - i * 60_000, `Status ${number}`, i ? null : [40, 30, ""]];
  }),
  before: newest - postPageRows + 1,
});

/** Simulates a browser with poor picture compression: this one makes even noise small enough. */
const writeLargeOnce = async (page: Page): Promise<void> => {
  // Without the worker the page draws by itself.
  await page.route("**/assets/image-worker-*.js", (route) => route.abort());
  await page.evaluate((size) => {
    const { convertToBlob } = OffscreenCanvas.prototype;
    OffscreenCanvas.prototype.convertToBlob = async () => {
      OffscreenCanvas.prototype.convertToBlob = convertToBlob;
      return new Blob([new Uint8Array(size)], { type: "image/webp" });
    };
  }, pictureMaxBytes + 1);
};

test("a feed that cannot be loaded reports it at the gap, keeps what is shown, and retries on a tap; pending statuses, and a picture that stays too large or has no room, are reported", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 6_621, "Ana Mbala");
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts } = phone;
  const first = makePage(100);
  const older: PostPage = { ...makePage(80), before: null };
  let fails: "unreached" | "failed" | undefined = "unreached";
  const [small, more, drawing] = [makeGate(), makeGate(), makeGate()];
  await page.route("**/api/tala{,?*}", async (route) => {
    if (fails === "unreached") return route.abort();
    const isOlder = route.request().url().includes("before=");
    if (isOlder) await more.opened;
    return route.fulfill(fails === "failed" ? refusal(500, "internal") : { json: isOlder ? older : first });
  });
  let hasPictures = false;
  const picture = { contentType: "image/png", body: makePicture(40, 30) };
  await page.route("**/api/tala/pictures/*small", async (route) => {
    await small.opened;
    await route.fulfill(picture);
  });
  await page.route("**/api/tala/pictures/*large", (route) => (hasPictures ? route.fulfill(picture) : route.abort()));
  await page.route("**/assets/post-picture-*.js", async (route) => {
    await drawing.opened;
    await route.continue();
  });

  await phone.signIn(ana, "/app/tala");
  const retry = page.getByRole("button", { name: texts.common.retry });
  await expect(page.getByText(texts.tala.loadFailedTitle)).toBeVisible();
  await expect(page.getByText(texts.tala.loadFailedOffline)).toBeVisible();
  fails = "failed";
  await retry.click();
  await expect(page.getByText(texts.tala.loadFailedBody)).toBeVisible();
  await expect(page.getByRole("alert")).toContainText(texts.errors.internal);
  await expect(retry).not.toHaveAttribute("aria-busy");
  // The pressed button disappears and the keyboard focus continues from there. It may disappear earlier, because the
  // feed also reloads by itself.
  const list = page.getByRole("region", { name: texts.tala.list });
  await retry.focus();
  fails = undefined;
  await page.keyboard.press("Enter");
  await expect(post(phone, "Status 100")).toBeVisible();
  await expect(list).toBeFocused();

  // A picture that appears under the finger takes no tap.
  const enlarge = page.getByRole("button", { name: fill(texts.tala.enlarge, { name: "Ben Kasongo" }) });
  await enlarge.hover();
  await page.mouse.down();
  small.open();
  await expect(enlarge.locator("img")).toHaveCSS("opacity", "1");
  await page.mouse.up();
  const viewer = page.getByRole("dialog");
  await expect(viewer.getByRole("alert").filter({ hasText: texts.tala.pictureFailed })).toBeVisible();
  await viewer.getByRole("button", { name: texts.common.retry }).focus();
  hasPictures = true; // from now on the picture may also appear by itself
  await page.keyboard.press("Enter"); // the button may disappear before the key is released
  await expect(viewer.getByRole("alert")).toHaveCount(0);
  await page.keyboard.press("+");
  await expect(viewer.locator("img[data-scale]")).not.toHaveAttribute("data-scale", "1");
  await page.keyboard.press("Escape");

  fails = "failed";
  const status = page.getByRole("main").getByRole("status");
  const loading = status.filter({ hasText: texts.tala.loadingOlder });
  await post(phone, "Status 81").scrollIntoViewIfNeeded();
  await loading.scrollIntoViewIfNeeded();
  await expect(loading).toBeInViewport();
  more.open();
  await expect(page.getByText(texts.tala.olderFailed)).toBeVisible();
  await expect(loading).toHaveCount(0);
  await retry.focus();
  fails = undefined;
  await page.keyboard.press("Enter");
  await expect(post(phone, "Status 80")).toBeVisible();
  await expect(list).toBeFocused();
  await post(phone, "Status 61").scrollIntoViewIfNeeded();
  await expect(page.getByText(texts.tala.end)).toBeVisible();

  await page.getByRole("button", { name: texts.tala.write }).click();
  const field = page.getByRole("textbox", { name: texts.tala.composer });
  const publish = page.getByRole("button", { name: texts.tala.publish, exact: true });
  const gallery = page.locator('input[data-attach="image"]');
  const preparing = status.filter({ hasText: texts.tala.preparing });
  await field.fill("Au marché");
  const file = { name: "sable.png", mimeType: "image/png" };
  await writeLargeOnce(page);
  await gallery.setInputFiles({ ...file, buffer: makePicture(400, 300) });
  await expect(preparing).toBeInViewport();
  await expect(publish).toBeDisabled();
  drawing.open();
  await expect(page.getByRole("alert")).toContainText(texts.tala.pictureTooLarge);
  await expect(preparing).toHaveCount(0);
  await expect(field).toHaveValue("Au marché");
  // A picture that can be made small enough replaces it.
  await gallery.setInputFiles({ ...file, buffer: makePicture(400, 300) });
  await expect(page.getByRole("img", { name: texts.tala.preview })).toBeVisible();
  await expect(publish).toBeEnabled();
  // A device whose storage is full.
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args) {
      if (this.name !== "bytes") return put.apply(this, args);
      throw new DOMException("no", "QuotaExceededError");
    };
  });
  await publish.click();
  await expect(page.getByRole("alert")).toContainText(texts.errors.no_room);
  await expect(field).toHaveValue("Au marché");
  await expect(field).toBeFocused();
  await phone.close();
});

test("a status of many lines shows its beginning, and one over the byte limit is refused before it is sent", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 6_626, "Ana Mbala");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  // Without a socket a status is not awaited for long.
  const isUp = waitForWelcome(page);
  await phone.signIn(ana, "/app/tala");
  await isUp;
  await page.getByRole("button", { name: texts.tala.write }).click();
  const field = page.getByRole("textbox", { name: texts.tala.composer });
  const publish = page.getByRole("button", { name: texts.tala.publish, exact: true });
  const heavy = page.getByRole("status").filter({ hasText: texts.tala.heavy });
  await field.fill("👨‍👩‍👧‍👦".repeat(60));
  await expect(heavy).toHaveCount(0);
  await field.fill("👨‍👩‍👧‍👦".repeat(70));
  await expect(heavy).toBeVisible();
  await publish.click();
  await expect(page.getByRole("alert")).toContainText(texts.tala.heavy);

  await field.fill(`first${"\n".repeat(200)}last`);
  await expect(heavy).toHaveCount(0);
  await publish.click();
  await expect(page.getByText(texts.tala.published).or(page.getByText(texts.tala.kept))).toBeVisible();
  const post = page.getByRole("article").filter({ hasText: "first" });
  await expect(post.locator("time")).toBeVisible(); // no longer as pending
  await expect(post.getByText("first…")).toBeVisible();
  expect((await post.boundingBox())?.height).toBeLessThan(200);
  await post.getByRole("button", { name: texts.messages.showMore }).press("Enter");
  await expect(post).toContainText("last");
  await expect(post).toBeFocused();
  await phone.close();
});
