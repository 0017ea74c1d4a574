import type { Page } from "@playwright/test";
import { avatarMaxBytes } from "#contract/limits/files.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

const profilePath = "/app/profile";

/** Tall picture, red above and blue below. */
const drawTall = async (page: Page) => {
  const base64 = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 600, height: 1200 });
    const context = canvas.getContext("2d");
    if (!context) return "";
    context.fillStyle = "#d00000";
    context.fillRect(0, 0, 600, 600);
    context.fillStyle = "#0000d0";
    context.fillRect(0, 600, 600, 600);
    return canvas.toDataURL("image/png").split(",")[1] ?? "";
  });
  return { name: "moi.png", mimeType: "image/png", buffer: Buffer.from(base64, "base64") };
};

/** Width of a picture and the colour of its centre. */
const lookAt = (page: Page, source: string) =>
  page.evaluate(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d");
    const [x, y] = [image.naturalWidth, image.naturalHeight];
    context?.drawImage(image, x / 2, y / 2, 1, 1, 0, 0, 1, 1);
    const [red = 0, , blue = 0] = context?.getImageData(0, 0, 1, 1).data ?? [];
    return { width: x, height: y, colour: red > blue ? "red" : "blue" };
  }, source);

test("a new name, entered by keyboard alone, and a picture, cropped on the phone, are kept until they are saved, and then shown to the other person and in the other tab", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people } = await makePair(site, 4300);
  const [ana, ben] = people;
  const phone = await TestClient.open(browser, server);
  const other = await TestClient.open(browser, server, "en");
  await phone.signIn(ana, profilePath);
  await other.signIn(ben, "/app/contacts");
  await expect(other.page.getByRole("main").getByText(ana.username)).toBeVisible();
  const { page, texts, context } = phone;
  const tab = await context.newPage();
  await phone.goTo(profilePath, tab);

  const pencil = page.getByRole("button", { name: texts.profile.editName });
  const field = page.getByRole("textbox", { name: texts.auth.displayName });
  const save = page.getByRole("button", { name: texts.profile.save });
  const cancel = page.getByRole("button", { name: texts.common.cancel });
  const shown = page.getByRole("main").locator("bdi").first();
  await expect(save).toHaveCount(0);
  await pencil.focus();
  await page.keyboard.press("Enter");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(ana.username);

  // A blank name is invalid. Escape and Cancel restore the stored one, and the focus returns to its start.
  await field.fill(" \u200b ");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert").getByText("Le nom affiché ne peut pas être vide.")).toBeVisible();
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await page.keyboard.press("Escape");
  await expect(shown).toHaveText(ana.username);
  await expect(pencil).toBeFocused();
  await page.keyboard.press("Enter");
  await field.fill("Quelqu'un");
  await cancel.focus();
  await page.keyboard.press("Enter");
  await expect(shown).toHaveText(ana.username);
  await expect(pencil).toBeFocused();
  await expect(save).toHaveCount(0);

  // An unchanged name is not sent.
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "PATCH" && sent.push(request.url())));
  await page.keyboard.press("Enter");
  await expect(field).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(pencil).toBeFocused();
  await expect(save).toHaveCount(0);
  expect(sent).toEqual([]);

  // Offline, the failure is reported at once with its reason, and the typed name remains.
  await page.keyboard.press("Enter");
  await field.fill("  Anne-Marie   Mbuyi ");
  await context.setOffline(true);
  await page.keyboard.press("Enter");
  const failed = page.getByRole("alert").filter({ hasText: texts.profile.updateFailed });
  await expect(failed).toContainText(texts.errors.offline);
  await expect(field).toHaveValue("  Anne-Marie   Mbuyi ");
  await context.setOffline(false);
  // The same for a refusal by the server.
  await context.route("**/api/profile", (route) =>
    route.fulfill({ status: 503, json: { code: 503, error_code: "unavailable", msg: "unavailable" } }),
  );
  await save.click();
  await expect(failed).toContainText(texts.errors.unavailable);
  await expect(field).toHaveValue("  Anne-Marie   Mbuyi ");
  await context.unroute("**/api/profile");
  await field.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Profil mis à jour avec succès !")).toBeVisible();
  await expect(shown).toHaveText("Anne-Marie Mbuyi");
  await expect(pencil).toBeFocused();
  await expect(tab.getByRole("main").getByText("Anne-Marie Mbuyi")).toBeVisible();
  await expect(other.page.getByRole("main").getByText("Anne-Marie Mbuyi")).toBeVisible();

  const input = page.getByLabel(texts.auth.changePicture);
  const own = page.getByRole("main").locator("form img");
  const toast = page.getByRole("alert");

  await input.setInputFiles({ name: "x.png", mimeType: "image/png", buffer: Buffer.alloc(avatarMaxBytes + 1) });
  await expect(toast).toContainText(texts.auth.fileTooLargeTitle);
  await expect(toast).toContainText(texts.auth.fileTooLarge);
  await input.setInputFiles({ name: "x.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await expect(toast).toContainText(texts.profile.fileFailed);
  await expect(toast).toContainText(texts.common.pictureUnreadable);
  await expect(save).toHaveCount(0);

  const tall = await drawTall(page);
  await input.setInputFiles(tall);
  const sheet = page.getByRole("dialog", { name: texts.profile.cropTitle });
  const stage = sheet.getByRole("application");
  await expect(stage).toBeFocused();
  expect(await findAxeViolations(page)).toEqual([]);
  // A new photo is asked about, and closing without a choice changes nothing.
  const question = page.getByRole("alertdialog", { name: texts.profile.cropDiscardTitle });
  await page.keyboard.press("Escape");
  await question.getByRole("button", { name: texts.profile.cropDiscardStay }).click();
  await expect(stage).toBeVisible();
  await page.keyboard.press("Escape");
  await question.getByRole("button", { name: texts.profile.cropDiscardConfirm }).click();
  await expect(sheet).toHaveCount(0);
  await expect(own).toHaveCount(0);

  // By keyboard: the picture moves down until its red upper half fills the frame, and is enlarged.
  await input.setInputFiles(tall);
  await expect(stage).toBeFocused();
  for (let press = 0; press < 15; press++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("+");
  await expect(sheet.getByRole("slider")).toHaveAttribute("aria-valuetext", "110 %");
  await sheet.getByRole("button", { name: texts.profile.cropUse }).click();
  await expect(page.getByText(texts.profile.pictureWaits)).toBeVisible();
  expect((await lookAt(page, (await own.getAttribute("src")) ?? "")).colour).toBe("red");
  // It waits while another screen is open.
  await phone.goToTab("masolo");
  await page.goBack();
  await expect(page.getByText(texts.profile.pictureWaits)).toBeVisible();
  expect((await lookAt(page, (await own.getAttribute("src")) ?? "")).colour).toBe("red");
  await cancel.click();
  await expect(own).toHaveCount(0);

  // By touch: dragged up, the blue lower half is visible.
  await input.setInputFiles(tall);
  await expect(stage).toBeFocused();
  const box = await stage.boundingBox();
  if (!box) throw new Error("there is no frame");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x, middle.y - box.height, { steps: 4 });
  await page.mouse.up();
  await sheet.getByRole("button", { name: texts.profile.cropUse }).click();

  // A failed upload is kept with its reason; the second attempt sends a small square.
  const uploads: number[] = [];
  await context.route("**/api/profile/avatar", async (route) => {
    uploads.push(route.request().postDataBuffer()?.length ?? 0);
    return uploads.length === 1
      ? route.fulfill({ status: 413, json: { code: 413, error_code: "file_too_large", msg: "file_too_large" } })
      : route.continue();
  });
  await save.click();
  await expect(toast).toContainText(texts.profile.updateFailed);
  await expect(toast).toContainText(texts.errors.file_too_large);
  expect((await lookAt(page, (await own.getAttribute("src")) ?? "")).colour).toBe("blue");
  await save.click();
  await expect(page.getByText(texts.profile.updated)).toBeVisible();
  await expect(save).toHaveCount(0);
  expect(uploads[1]).toBeGreaterThan(0);
  expect(uploads[1]).toBeLessThan(30_000);

  const seen = other.page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: "Anne-Marie Mbuyi" })
    .locator("img");
  await expect(seen).toHaveCount(1);
  const source = ((await seen.getAttribute("src")) ?? "").replace("size=50", "size=512");
  expect(await lookAt(other.page, source)).toEqual({ width: 512, height: 512, colour: "blue" });
  await page.reload();
  await expect(shown).toHaveText("Anne-Marie Mbuyi");
  await expect(own).toHaveAttribute("src", /\/api\/avatars\//);
  await other.close();
  await phone.close();
});

test("appearance settings apply from the first paint on, in every tab, also for a visitor and offline", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 4306);
  const [ana, ben] = people;
  await sendTexts(site, ben, conversation, ["Mbote"]);
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await page.emulateMedia({ colorScheme: "light" });
  await phone.signIn(ana, profilePath);
  await waitForOfflineReady(page);
  const tab = await context.newPage();
  await tab.emulateMedia({ colorScheme: "light" });
  await phone.goTo("/app", tab);
  const row = tab.getByRole("list", { name: texts.masolo.list }).getByRole("listitem");
  const rowPx = async () => Math.round((await row.boundingBox())?.height ?? 0);
  await expect.poll(rowPx).toBe(76);
  const ground = (of: Page) => of.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const textPx = (of: Page) =>
    of.evaluate(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const [light, dark] = ["rgb(251, 247, 244)", "rgb(23, 18, 26)"];

  await page.getByRole("link", { name: texts.appearance.title }).click();
  await expect(page.getByRole("heading", { level: 1, name: texts.appearance.title })).toBeFocused();
  const theme = page.getByRole("group", { name: texts.appearance.theme });
  await theme.getByRole("radio", { name: texts.appearance.asSystem }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(theme.getByRole("radio", { name: texts.appearance.dark })).toBeChecked();
  expect(await ground(page)).toBe(dark);
  await expect.poll(() => ground(tab)).toBe(dark);
  await page.getByText(texts.appearance.larger, { exact: true }).click();
  expect(await textPx(page)).toBe(23);
  await expect.poll(rowPx).toBe(109); // as high as its text needs
  const link = tab.getByRole("navigation").getByRole("link").first();
  const motion = () => link.evaluate((element) => getComputedStyle(element).transitionDuration);
  expect(await motion()).not.toBe("0.001s");
  await page.getByRole("group", { name: texts.appearance.motion }).getByText(texts.appearance.still).click();
  await expect.poll(motion).toBe("0.001s");
  expect(await findAxeViolations(page)).toEqual([]);
  for (const at of [page, tab]) {
    expect(await at.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  }
  const bar = page.locator('meta[name="theme-color"][media="all"]');
  await expect(bar).toHaveAttribute("content", "#221b26");

  // Offline, and before any script: the frame of the app and the entry page already have the chosen colours.
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1, name: texts.appearance.title })).toBeVisible();
  expect([await ground(page), await textPx(page)]).toEqual([dark, 23]);
  await context.setOffline(false);
  const visitor = await TestClient.open(browser, server, "en");
  const offences: string[] = [];
  visitor.page.on("console", (line) => line.type() === "error" && offences.push(line.text()));
  await visitor.context.addInitScript(() => {
    if (location.protocol !== "about:") localStorage.setItem("appearance", "dark large");
  });
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await visitor.page.route("**/assets/*", async (route) => {
    await released;
    await route.continue();
  });
  await visitor.page.emulateMedia({ colorScheme: "light" });
  for (const path of ["/", "/login"]) {
    await visitor.page.goto(path, { waitUntil: "commit" });
    await expect(visitor.page.getByRole("heading", { level: 1 })).toBeVisible();
    expect([await ground(visitor.page), await textPx(visitor.page)]).toEqual([dark, 19]);
  }
  await visitor.page.evaluate(() => localStorage.setItem("session", "{}"));
  await visitor.page.goto("/app", { waitUntil: "commit" });
  const frame = visitor.page.locator("#shell");
  await expect(frame).toBeVisible();
  expect(await frame.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe(dark);
  letGo();
  expect(offences).toEqual([]);
  await visitor.close();

  // Follow the system again.
  await page.getByText(texts.appearance.asSystem).first().click();
  expect(await ground(page)).toBe(light);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await ground(page)).toBe(dark);
  await phone.close();
});
