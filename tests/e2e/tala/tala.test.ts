import type { Locator, Page } from "@playwright/test";
import * as v from "valibot";
import { createUuid, packUuid, unpackUuid } from "#contract/ids.ts";
import { postGraphemesMax, postPageRows } from "#contract/limits/tala.ts";
import { PostPage } from "#contract/tala.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient, waitForWelcome } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const pillWithinMs = 40_000; // the feed polls every 20 s
const family = "👨‍👩‍👧‍👦"; // one visible character of eleven code units

const post = (page: Page, text: string): Locator =>
  page.getByRole("main").getByRole("listitem").filter({ hasText: text });
const field = ({ page, texts }: TestClient): Locator => page.getByRole("textbox", { name: texts.tala.composer });
const button = ({ page }: TestClient, name: string): Locator => page.getByRole("button", { name, exact: true });

const openComposer = async (phone: TestClient): Promise<void> => {
  await button(phone, phone.texts.tala.write).click();
  await expect(field(phone)).toBeFocused();
};
const publish = async (phone: TestClient, text: string): Promise<void> => {
  await openComposer(phone);
  await field(phone).fill(text);
  await button(phone, phone.texts.tala.publish).click();
};

/** Limit for a published status to appear; the exact time depends on the machine. */
const toldOf = ({ page, texts }: TestClient): Locator =>
  page.getByText(texts.tala.published).or(page.getByText(texts.tala.kept));

/** Draft stored on this device: the text and the number of pictures. */
const begun = async (page: Page): Promise<[string, number][]> =>
  (await readAttachmentDrafts(page)).map(({ text, files }) => [text, files.length]);

declare global {
  interface Window {
    cameraDid: unknown[];
  }
}

/** Camera that a page requests, and the text it shows for it. */
const writeDownCamera = (): void => {
  window.cameraDid = [];
  const { toBlob } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.toBlob = function (taken, type, quality) {
    window.cameraDid.push(type);
    toBlob.call(this, taken, type, quality);
  };
  const { mediaDevices } = navigator;
  const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
  mediaDevices.getUserMedia = (wanted) => {
    const { facingMode } = (wanted?.video ?? {}) as { facingMode?: { ideal?: string } };
    window.cameraDid.push(facingMode?.ideal);
    return getUserMedia(wanted);
  };
};

/** Newest page of the feed. */
const readFeed = async (site: Site, { token }: Person): Promise<PostPage["posts"]> =>
  v.parse(PostPage, (await callSite(site, "GET", "/api/tala", { token })).body).posts;
const textsOf = (posts: PostPage["posts"]): string[] => posts.map((row) => row[4]);

/** Page of one person's statuses with these numbers, newest first. */
const pageOf = ({ id, username }: Person, from: number, to: number, before: number | null): PostPage => ({
  authors: [[packUuid(id), username, null]],
  posts: Array.from({ length: to - from + 1 }, (_, index) => {
    const number = to - index;
    return [number, packUuid(createUuid()), 0, Date.now(), `Statut n° ${number}.`, null];
  }),
  before,
});

test("two people publish texts and a picture, and new statuses do not move what is being read", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 4420, "Ana Mbala"), await makePerson(site, 4421, "Ben Kasongo")];
  const [anas, bens] = [await TestClient.open(browser, server), await TestClient.open(browser, server, "pt")];
  // Without a socket a status is not awaited for long.
  const isUp = waitForWelcome(bens.page);
  await bens.signIn(ben, "/app/tala");
  await isUp;
  await publish(bens, "O primeiro estado");
  await expect(toldOf(bens)).toBeVisible();
  await expect(field(bens)).toHaveCount(0);
  await expect(button(bens, bens.texts.tala.write)).toBeFocused();
  const mine = post(bens.page, "O primeiro estado");
  await expect(mine.locator("time")).toBeVisible(); // no longer as pending
  const before = await mine.boundingBox();

  // By keyboard only: the button, the text, a refusal, the count, the picture, the button again.
  await anas.signIn(ana, "/app/tala");
  const { page, texts } = anas;
  await expect(post(page, "O primeiro estado").getByRole("heading", { name: "Ben Kasongo" })).toBeVisible();
  await button(anas, texts.tala.write).focus();
  await page.keyboard.press("Enter");
  await expect(field(anas)).toBeFocused();
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("alert")).toContainText(texts.errors.empty_post);
  await page.keyboard.insertText(family.repeat(2));
  await expect(page.getByText(fill(texts.tala.counter, { count: 2, max: postGraphemesMax }))).toBeVisible();
  await page.keyboard.insertText("é".repeat(postGraphemesMax));
  await expect(page.getByText(fill(texts.tala.over_other, { count: 2 }))).toBeAttached();
  await expect(field(anas)).toHaveAttribute("aria-invalid", "true");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("alert")).toContainText(texts.errors.post_too_long);
  await field(anas).fill(`Au marché ${family}\nce matin, https://example.org/prix`);
  const picture = await makePicture(page, "marché.png", { width: 2_000, height: 1_000, type: "image/png" });
  const gallery = button(anas, texts.tala.gallery);
  const preview = page.getByRole("img", { name: texts.tala.preview });
  const choosePicture = async () => {
    const chooser = page.waitForEvent("filechooser");
    await gallery.press("Enter");
    await (await chooser).setFiles(picture);
    await expect(preview).toBeVisible();
  };
  await choosePicture();
  await button(anas, texts.tala.removePicture).press("Enter");
  await expect(preview).toHaveCount(0);
  await expect(gallery).toBeFocused();
  await choosePicture();
  await button(anas, texts.tala.publish).press("Enter");
  await expect(toldOf(anas)).toBeVisible();

  const entry = post(page, "Au marché");
  await expect(entry.locator("time")).toHaveText(
    new Intl.DateTimeFormat("fr-FR", {
      day: "2-digit",
      month: "short",
      year: "numeric",
      timeZone: await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
    }).format(new Date()),
  );
  await expect(entry.getByRole("link", { name: "https://example.org/prix" })).toHaveAttribute("rel", /noopener/);
  const enlarge = entry.getByRole("button", { name: fill(texts.tala.enlarge, { name: "Ana Mbala" }) });
  await expect
    .poll(async () => {
      const small = await enlarge.locator("img").boundingBox();
      return [small?.width, small?.height];
    })
    .toEqual([100, 50]);
  await enlarge.press("Enter");
  const large = page.getByRole("dialog").locator("img[data-scale]");
  await expect.poll(() => large.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1_280);
  await page.keyboard.press("Escape");
  await expect(enlarge).toBeFocused();

  // For Ben it waits above the present statuses until he requests it.
  const pill = button(bens, fill(bens.texts.tala.newer_one, { count: 1 }));
  await expect(pill).toBeVisible({ timeout: pillWithinMs });
  expect(await mine.boundingBox()).toEqual(before);
  await expect(post(bens.page, "Au marché")).toHaveCount(0);
  await pill.press("Enter");
  await expect(post(bens.page, "Au marché")).toBeInViewport();
  await expect(bens.page.getByRole("region", { name: bens.texts.tala.list })).toBeFocused();
  await expect(pill).toHaveCount(0);
  // Only own statuses can be deleted.
  await expect(post(bens.page, "Au marché").getByRole("button")).toHaveCount(1);

  // Statuses published meanwhile are shown at once when Tala is opened again.
  await publish(anas, "Encore une");
  await expect(post(page, "Encore une").locator("time")).toBeVisible();
  await bens.page.reload();
  await expect(post(bens.page, "Encore une")).toBeInViewport();
  await expect(bens.page.getByRole("button", { name: bens.texts.tala.newer_one.split("} ")[1] ?? "" })).toHaveCount(0);

  // Deleted elsewhere it disappears without reloading the feed.
  await page.route("**/api/tala{,?*}", () => {});
  const [newest] = await readFeed(site, ana);
  const deleted = await callSite(site, "DELETE", `/api/tala/${unpackUuid(newest?.[1] ?? "")}`, { token: ana.token });
  expect(deleted.status).toBe(204);
  await expect(post(page, "Encore une")).toHaveCount(0);
  await page.unroute("**/api/tala{,?*}");
  const deletion = entry.getByRole("button", { name: texts.tala.delete.split("{")[0] ?? "" });
  await deletion.click();
  const question = page.getByRole("alertdialog", { name: texts.tala.deleteTitle });
  await expect(question).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(question).toHaveCount(0);
  await deletion.click();
  await question.getByRole("button", { name: texts.common.delete }).click();
  await expect(entry).toHaveCount(0);
  await expect(post(page, "O primeiro estado").getByRole("article")).toBeFocused();
  expect(textsOf(await readFeed(site, ana))).not.toContainEqual(expect.stringContaining("Au marché"));
  await anas.close();
  await bens.close();
});

test("a status written offline waits through a reload and is published once", async ({ browser, server }) => {
  const site = toSite(server);
  const ana = await makePerson(site, 4422, "Ana Mbala");
  const phone = await TestClient.open(browser, server, "en", withServiceWorker);
  const { page, texts, context } = phone;
  await page.addInitScript(writeDownCamera);
  await phone.signIn(ana, "/app/tala");
  await waitForOfflineReady(page);

  // The draft is there again after a reload, with its picture.
  await openComposer(phone);
  await field(phone).fill("From the boat");
  await button(phone, texts.tala.camera).click();
  await button(phone, texts.chat.camera.shutter).click();
  await expect(page.getByRole("img", { name: texts.tala.preview })).toBeVisible();
  expect(await page.evaluate(() => window.cameraDid)).toEqual(["environment", "image/png"]);
  await expect.poll(() => begun(page)).toEqual([["From the boat", 1]]);
  await page.reload();
  await expect(field(phone)).toHaveValue("From the boat");
  await expect(page.getByRole("img", { name: texts.tala.preview })).toBeVisible();

  await context.setOffline(true);
  await button(phone, texts.tala.publish).click();
  await expect(page.getByText(texts.tala.kept)).toBeVisible();
  const entry = post(page, "From the boat");
  await expect(entry).toContainText(texts.tala.waiting);
  await page.reload();
  await expect(entry).toContainText(texts.tala.waiting);
  await expect(entry.getByRole("img", { name: texts.tala.preview })).toBeVisible();
  await expect(field(phone)).toHaveCount(0);
  expect(await findAxeViolations(page)).toEqual([]);
  // A pending status can be discarded.
  await publish(phone, "Not this one");
  const other = post(page, "Not this one");
  await other.getByRole("button", { name: texts.tala.dropWaiting }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.delete }).click();
  await expect(other).toHaveCount(0);
  await expect(entry.getByRole("article")).toBeFocused();

  await context.setOffline(false);
  await expect(entry.locator("time")).toBeVisible({ timeout: 20_000 });
  expect(textsOf(await readFeed(site, ana)).filter((text) => /boat|this one/.test(text))).toEqual(["From the boat"]);
  await phone.close();
});

test("a refused camera closes its view, and Tala is unloaded as a whole and restored page by page", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 4423, "Ana Mbala");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  let answer: PostPage = { authors: [], posts: [], before: null };
  let asked = 0;
  await page.route("**/api/tala", (route) => {
    asked++;
    return route.fulfill({ json: answer });
  });
  await phone.signIn(ana, "/app/tala");
  await expect(page.getByText(texts.tala.emptyTitle)).toBeVisible();
  await expect(page.getByText(texts.tala.emptyBody)).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);

  await openComposer(phone);
  await button(phone, texts.tala.camera).click();
  await expect(page.getByRole("alert")).toContainText(texts.chat.camera.denied);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("Escape");

  // Off: no tab, no requests, and its address offers to turn it on.
  await callSite(toSite(server), "PATCH", "/api/settings", { token: ana.token, body: { tala: false } });
  await expect(page.getByText(texts.tala.offTitle)).toBeVisible();
  const tab = page.getByRole("link", { name: texts.shell.tabs.tala });
  await expect(tab).toHaveCount(0);
  const before = asked;
  await page.reload();
  await expect(page.getByText(texts.tala.offTitle)).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  expect(asked).toBe(before);
  answer = pageOf(ana, 1 + 5, 5 + postPageRows, 6);
  let askedOlder = 0;
  await page.route("**/api/tala?before=6", (route) => {
    askedOlder++;
    return route.fulfill({ json: pageOf(ana, 1, 5, null) });
  });
  await button(phone, texts.tala.turnOn).click();
  await expect(tab).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
  await expect(post(page, `Statut n° ${5 + postPageRows}.`)).toBeVisible();

  // Further down it loads older pages by itself, up to the end.
  const list = page.getByRole("region", { name: texts.tala.list });
  await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await expect(page.getByRole("article")).toHaveCount(5 + postPageRows);
  await expect(page.getByText(texts.tala.end)).toBeAttached();
  expect(askedOlder).toBe(1);
  await phone.close();
});
