import { readFileSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { rgbaToThumbHash } from "thumbhash";
import { type ConversationId, privateConversationId } from "../../contract/ids";
import { makePicture, makeSound, sendAttachment } from "../support/attachments";
import { expect, test } from "../support/browser-test";
import { sendTexts } from "../support/messages";
import { isKeptOffline } from "../support/offline";
import { siteOf } from "../support/pair";
import { callSite, connectPeople, makePerson, type Person, type Site } from "../support/people";
import { fill, Phone } from "../support/phone";
import type { Server } from "../support/server";

test.describe.configure({ timeout: 240_000 }); // several phones on a machine that may be busy

const thumb = Buffer.from(rgbaToThumbHash(2, 2, new Uint8Array(16).fill(200))).toString("base64url");
const waveform = "AZaz09_-".repeat(6);
const reportName = "Rapport du mois.pdf";
const report = Buffer.from(`%PDF-1.4\n${"ligne du rapport\n".repeat(2_000)}`);

const sendPicture = (site: Site, from: Person, to: ConversationId, name: string, noise = 0, text?: string) =>
  sendAttachment(site, from, to, makePicture(640, 480, noise), {
    type: "image",
    name,
    thumb,
    ...(text ? { text } : {}),
  });
const sendVoice = (site: Site, from: Person, to: ConversationId, ms: number) =>
  sendAttachment(site, from, to, makeSound(ms), { type: "voice", name: "voix.wav", ms, waveform });
const sendReport = (site: Site, from: Person, to: ConversationId) =>
  sendAttachment(site, from, to, report, { type: "file", name: reportName });

type Sending = (site: Site, ben: Person, conversation: ConversationId) => Promise<unknown>;

/** Ana's phone in the chat where Ben wrote what `send` sends. */
const openReader = async (browser: Browser, server: Server, n: number, send: Sending) => {
  const site = siteOf(server);
  const [ana, ben] = [await makePerson(site, n), await makePerson(site, n + 1)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await send(site, ben, conversation);
  const phone = await Phone.open(browser, server);
  return { site, ana, ben, conversation, phone, page: phone.page, texts: phone.texts.messages };
};

/** The addresses of files this page asked for, or sent, from now on. */
const watchFiles = (page: Page): string[] => {
  const seen: string[] = [];
  page.on("request", (request) => {
    if (/\/files\//.test(request.url())) seen.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return seen;
};

type Sound = { paused: boolean; playbackRate: number };
const watchSounds = (page: Page) =>
  page.addInitScript(() => {
    const all: HTMLAudioElement[] = [];
    const Native = window.Audio;
    window.Audio = class extends Native {
      constructor(src?: string) {
        super(src);
        all.push(this);
      }
    };
    Object.assign(window, { sounds: () => all.map(({ paused, playbackRate }) => ({ paused, playbackRate })) });
  });
const soundsOf = (page: Page): Promise<Sound[]> =>
  page.evaluate(() => (window as unknown as { sounds(): Sound[] }).sounds());

const openMenu = async (phone: Phone, text: string) => {
  await phone.message(text).locator("bdi").first().click({ button: "right" });
};
const pick = (page: Page, label: string) => page.getByRole("menuitem", { name: label, exact: true }).click();

test("a picture keeps its room, comes by itself when it is small, and can be looked at closely", async ({
  browser,
  server,
}) => {
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 700, async (site, by, conversation) => {
    await sendPicture(site, by, conversation, "petite.png", 0, "Vue du fleuve www.example.com");
    await sendPicture(site, by, conversation, "grande.png", 90);
    // Ends what isolates it and turns what follows around.
    await sendTexts(site, by, conversation, ["facture\u2069\u202efdp.exe", "dernier"]);
  });
  const asked = watchFiles(page);
  await phone.logIn(ana.phone);
  await phone.openChat(ben.id);
  const rows = page.getByRole("main").getByRole("listitem");
  const [small, large] = [rows.nth(0), rows.nth(1)];
  const picture = small.getByRole("img", { name: fill(texts.photoWith, { text: "Vue du fleuve" }) });
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(640);

  // The large one shows its placeholder and what it weighs; nothing of it was asked for.
  await expect(large.locator("img")).toHaveAttribute("src", /^data:image\/png/);
  const download = large.getByRole("button", { name: texts.loadPicture });
  await expect(download).toContainText("ko");
  expect(new Set(asked).size).toBe(1);
  const before = await large.boundingBox();
  await download.click();
  const whole = large.getByRole("img", { name: texts.photo });
  await expect.poll(() => whole.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(640);
  expect(await large.boundingBox()).toEqual(before);

  await whole.click();
  const viewer = page.getByRole("dialog", { name: texts.viewer });
  const shown = viewer.getByRole("img", { name: fill(texts.pictureBy, { name: ben.username, when: "" }).trim() });
  await expect(shown).toHaveAttribute("alt", /\d\d:\d\d$/);
  const scale = async () => Number(await shown.getAttribute("data-scale"));
  expect(await scale()).toBe(1);
  await page.keyboard.press("+");
  expect(await scale()).toBeCloseTo(1.5);
  await page.keyboard.press("0");
  const box = await shown.boundingBox();
  if (!box) throw new Error("no picture");
  const point = { x: box.x + 40, y: box.y + 30 };
  await page.mouse.dblclick(point.x, point.y);
  expect(await scale()).toBeCloseTo(2.5);
  // What was under the finger is there still, as far as the picture's edges allow.
  await expect.poll(async () => (await shown.boundingBox())?.width).toBeCloseTo(box.width * 2.5, 0);
  await page.mouse.move(point.x, point.y);
  await page.mouse.wheel(0, -300);
  await expect.poll(scale).toBeGreaterThan(4);
  await page.mouse.dblclick(point.x, point.y);
  await expect.poll(scale).toBe(1);

  await page.keyboard.press("ArrowLeft");
  await expect(viewer.getByText("Vue du fleuve")).toBeVisible();
  const link = viewer.getByRole("link", { name: "www.example.com" });
  await expect(link).toHaveAttribute("href", "https://www.example.com/");
  await expect(link).toHaveAttribute("rel", "noopener noreferrer nofollow");
  await expect(viewer.getByRole("button", { name: texts.previousPicture })).toHaveCount(0);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    viewer.getByRole("link", { name: texts.save }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("petite.png");
  await viewer.getByRole("button", { name: texts.nextPicture }).click();
  await expect(viewer.getByText("Vue du fleuve")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(viewer).toHaveCount(0);

  // Marks of direction in a text draw it over no time.
  const isDrawnOver = await rows.filter({ hasText: "facture" }).evaluate((row) => {
    const time = row.querySelector("time")?.getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(row.querySelector("p bdi") ?? row);
    return [...words.getClientRects()].some((box) => !time || (box.right > time.left + 1 && box.bottom > time.top + 3));
  });
  expect(isDrawnOver).toBe(false);

  // By keyboard one key leads past all that can be pressed in the messages.
  const skip = page.getByRole("button", { name: phone.texts.chat.toComposer });
  await skip.focus();
  expect((await skip.boundingBox())?.height).toBeGreaterThanOrEqual(48);
  await page.keyboard.press("Enter");
  await expect(phone.composer()).toBeFocused();
  await phone.close();
});

test("a file is saved with its name and bytes, and a voice note is heard, sought and kept for offline", async ({
  browser,
  server,
}) => {
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 702, async (site, by, conversation) => {
    await sendVoice(site, by, conversation, 90_000);
    await sendVoice(site, by, conversation, 12_000);
    await sendTexts(
      site,
      by,
      conversation,
      Array.from({ length: 40 }, (_, n) => `entre ${n + 1}`),
    );
    await sendReport(site, by, conversation);
    await sendAttachment(site, by, conversation, report, { type: "file", name: "Pas ici.pdf" });
  });
  await watchSounds(page);
  await phone.logIn(ana.phone);
  await phone.openChat(ben.id);
  const row = page.getByRole("main").getByRole("listitem").filter({ hasText: "Rapport du mois" });
  await expect(row).toContainText("34 ko");
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    row.getByRole("button", { name: fill(texts.fetchFile, { name: reportName }) }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe(reportName);
  expect(readFileSync(await saved.path())).toEqual(report);
  // From now on it is here, and a link to it.
  await expect(row.getByRole("link", { name: fill(texts.saveFile, { name: reportName }) })).toBeVisible();

  const list = page.getByRole("list", { name: fill(phone.texts.chat.messages, { name: ben.username }) });
  const goToTop = async () => {
    await list.hover();
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -2_000);
        return page.getByRole("slider").count();
      })
      .toBe(2);
  };
  await goToTop();
  const [long, short] = [page.getByRole("slider").nth(0), page.getByRole("slider").nth(1)];
  const play = page.getByRole("button", { name: new RegExp(`^${texts.playVoice}`) });
  const pause = page.getByRole("button", { name: new RegExp(`^${texts.pauseVoice}`) });
  const heard = async (slider: typeof long) => Number(await slider.inputValue());

  // The long one sounds as it comes.
  await play.first().click();
  await expect.poll(() => heard(long)).toBeGreaterThan(300);
  await long.focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await expect.poll(() => heard(long)).toBeGreaterThan(10_300);
  await expect(long).toHaveAttribute(
    "aria-valuetext",
    new RegExp(fill(texts.heardOf, { heard: "00:[1-5]\\d", whole: "01:30" })),
  );
  const rate = page.getByRole("button", { name: fill(texts.rate, { rate: "1" }) }).first();
  await rate.click();
  expect(await soundsOf(page)).toEqual([{ paused: false, playbackRate: 1.5 }]);

  // The other one stops it where it is, and starts from where a tap on its waveform says.
  await short.click({ position: { x: 70, y: 20 } });
  const sought = await heard(short);
  expect(sought).toBeGreaterThan(4_000);
  await play.last().click();
  await expect.poll(() => heard(short)).toBeGreaterThan(sought + 300);
  await expect(pause).toHaveCount(1);
  const left = await heard(long);
  expect(left).toBeGreaterThan(10_000);
  expect(await soundsOf(page)).toEqual([{ paused: false, playbackRate: 1.5 }]);

  // Leaving the chat makes it quiet; whoever comes back finds both where they were.
  await page.getByRole("link", { name: phone.texts.common.back }).click();
  await expect(list).toHaveCount(0);
  expect((await soundsOf(page)).every(({ paused }) => paused)).toBe(true);
  await phone.conversation(ben.username).click();
  await goToTop();
  expect(await heard(long)).toBe(left);
  expect(await heard(short)).toBeGreaterThan(sought);

  // To the end: then it begins anew.
  await short.focus();
  await page.keyboard.press("PageUp");
  await play.last().click();
  await expect.poll(() => heard(short)).toBe(0);
  await expect(pause).toHaveCount(0);

  // What was heard is on the phone; what was never fetched says that it is not.
  await isKeptOffline(page);
  await phone.context.setOffline(true);
  await page.reload();
  await goToTop();
  await play.last().click();
  await expect.poll(() => heard(short)).toBeGreaterThan(300);
  await page.getByRole("button", { name: phone.texts.chat.toLatest }).click();
  await page.getByRole("button", { name: /Pas ici\.pdf/ }).click();
  await expect(page.getByRole("alert").getByText(phone.texts.errors.offline)).toBeVisible();
  await phone.close();
});

test("a message is copied, passed on with its file to two at once, and deleted for everybody", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const opened = await openReader(browser, server, 704, async (_, by, conversation) => {
    await sendReport(site, by, conversation);
    await sendPicture(site, by, conversation, "photo.png", 0, "Une légende");
    await sendTexts(site, by, conversation, ["à copier"]);
  });
  const { ana, ben, phone, page, texts } = opened;
  const [chantal, blocked] = [await makePerson(site, 706), await makePerson(site, 707)];
  await connectPeople(site, ana, chantal);
  await connectPeople(site, ana, blocked);
  await callSite(site, "PUT", `/api/blocks/${blocked.id}`, { token: ana.token });
  const bens = await Phone.open(browser, server);
  await phone.logIn(ana.phone);
  await bens.logIn(ben.phone);
  await phone.openChat(ben.id);
  await bens.openChat(ana.id);

  // A text and a caption are copied; without the browser's leave it says so.
  await phone.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const text of ["à copier", "Une légende"]) {
    await openMenu(phone, text);
    await pick(page, texts.copy);
    await expect(page.getByRole("status").getByText("Message copié dans le presse-papiers.")).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  }
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
  });
  await openMenu(phone, "à copier");
  await pick(page, texts.copy);
  await expect(page.getByRole("alert").getByText(texts.copyFailed)).toBeVisible();

  // By keyboard: the menu of the newest message, two up is the file's.
  const list = page.getByRole("list", { name: fill(phone.texts.chat.messages, { name: ben.username }) });
  await list.focus();
  const menus = page.getByRole("button", { name: texts.options.split("{")[0] ?? "" });
  await menus.last().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await expect(menus.first()).toBeFocused();
  await page.keyboard.press("Enter");
  const asked = watchFiles(page);
  await pick(page, texts.forward);
  const dialog = page.getByRole("dialog", { name: texts.forwardTitle });
  const submit = dialog.getByRole("button", { name: fill(texts.forwardTo, { count: 0 }) });
  await expect(submit).toBeDisabled();
  await expect(dialog.getByRole("checkbox")).toHaveCount(2); // the blocked contact is not offered
  await dialog.getByRole("searchbox").fill("706");
  await expect(dialog.getByRole("checkbox")).toHaveCount(1);
  await dialog.getByRole("checkbox", { name: chantal.username }).check({ force: true });
  await dialog.getByRole("searchbox").fill("");
  await dialog.getByRole("checkbox", { name: ben.username }).check({ force: true });
  await phone.context.setOffline(true); // it waits in the outbox
  await dialog.getByRole("button", { name: fill(texts.forwardTo, { count: 2 }) }).click();
  await expect(page.getByText("Message transféré à 2 contact(s).")).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(menus.first()).toBeFocused();
  await phone.context.setOffline(false);
  // Ben wrote it, so to him it says "You".
  await expect(bens.page.getByText(fill(texts.forwardedFrom, { name: texts.you }))).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(fill(texts.forwardedFrom, { name: ben.username }))).toBeVisible();
  const chantals = `/api/conversations/${privateConversationId(ana.id, chantal.id)}/messages?before=9&limit=9`;
  await expect
    .poll(async () => JSON.stringify((await callSite(site, "GET", chantals, { token: chantal.token })).body))
    .toContain(reportName);
  expect(asked.filter((request) => !request.startsWith("GET"))).toEqual([]);
  const copy = bens.page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: texts.forwardedFrom.split("{")[0] ?? "" });
  const [saved] = await Promise.all([bens.page.waitForEvent("download"), copy.getByRole("button").first().click()]);
  expect(readFileSync(await saved.path())).toEqual(report);

  // Only one's own can be deleted, and not without the network.
  await openMenu(phone, "à copier");
  await expect(page.getByRole("menuitem", { name: phone.texts.common.delete })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await phone.write("à regretter");
  await expect(bens.message("à regretter")).toBeVisible();
  const remove = async () => {
    await openMenu(phone, "à regretter");
    await pick(page, phone.texts.common.delete);
    const question = page.getByRole("alertdialog", { name: "Êtes-vous sûr?" });
    await question.getByRole("button", { name: phone.texts.common.delete }).click();
    await expect(question).toHaveCount(0);
  };
  await phone.context.setOffline(true);
  await remove();
  await expect(page.getByRole("alert").getByText("Impossible de supprimer le message.")).toBeVisible();
  await expect(phone.message("à regretter")).toBeVisible();
  await phone.context.setOffline(false);
  await expect(async () => {
    await remove();
    await expect(page.getByRole("status").getByText("Message supprimé.")).toBeVisible({ timeout: 2_000 });
  }).toPass();
  for (const reader of [phone, bens]) {
    await expect(reader.message(reader.texts.chat.deletedMessage)).toBeVisible();
    await reader.page.reload();
    await expect(reader.message(reader.texts.chat.deletedMessage)).toBeVisible();
    await expect(reader.message("à regretter")).toHaveCount(0);
  }

  // The same in the other languages.
  for (const [language, title] of [
    ["en", "Forward Message To"],
    ["pt", "Encaminhar mensagem para"],
  ] as const) {
    const other = await Phone.openIn(phone.context, server, language);
    await other.openChat(ben.id);
    await openMenu(other, "à copier");
    await pick(other.page, other.texts.messages.forward);
    await expect(other.page.getByRole("dialog", { name: title })).toBeVisible();
    await other.page.close();
  }
  await phone.close();
  await bens.close();
});
