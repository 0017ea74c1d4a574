import { readFileSync } from "node:fs";
import type { Locator } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { report, reportName } from "#tests/support/browser/chat-files.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { eventLine, expectSameLogs, makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import type { Person } from "#tests/support/people/people.ts";

const name = "Parcelle 13 – famille";

/** Marks the page once a sound has started to play, however short it is. */
const noteSounds = async ({ page }: TestClient): Promise<void> => {
  await page.addInitScript(() => {
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = async function () {
      await play.call(this);
      document.documentElement.setAttribute("data-heard", "");
    };
  });
};

const headerOf = ({ page }: TestClient): Locator => page.getByRole("main").locator("header");

test("a group appears at once in each language, its picture, file and voice message reach everybody, and an offline phase and reloads lose nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = (await makeFriends(site, 620, 3)) as [Person, Person, Person];
  const anas = await TestClient.open(browser, server, "pt");
  const bens = await TestClient.open(browser, server, "fr", withServiceWorker);
  const cleos = await TestClient.open(browser, server, "en");
  const phones = [anas, bens, cleos];
  const listeners = [anas, cleos];
  for (const phone of listeners) await noteSounds(phone);
  await Promise.all([anas.signIn(ana), bens.signIn(ben), cleos.signIn(cleo)]);
  for (const phone of phones) await expect(phone.page.getByText(phone.texts.masolo.emptyTitle)).toBeVisible();

  // Ana creates it on another device: it appears in everybody's list, also in hers.
  const group = await makeGroup(site, ana, name, [ben, cleo]);
  for (const phone of [bens, cleos]) {
    const createdText = fill(phone.texts.groups.events.created, { name: ana.username, group: name });
    await expect(phone.conversation(name)).toContainText(createdText);
  }
  await expect(anas.conversation(name)).toContainText(fill(anas.texts.groups.events.createdByMe, { group: name }));
  for (const phone of phones) {
    await phone.conversation(name).click();
    await expect(phone.composer()).toBeVisible();
    await expect(headerOf(phone)).toContainText(fill(phone.texts.groups.chat.members_other, { count: 3 }));
  }
  await expect(eventLine(anas, "createdByMe", { group: name })).toBeVisible();

  // What she writes there has its author, its time, and here the ticks of an own message.
  await sendTexts(site, ana, group, ["Mbote na bino nyonso"]);
  for (const phone of [bens, cleos]) {
    const heard = phone.message("Mbote na bino nyonso");
    await expect(heard.locator("p[aria-hidden] bdi")).toHaveText(ana.username);
    await expect(heard.locator(`a[href="/app/user/${ana.id}"]`)).toBeVisible();
    await expect(heard.locator("time")).toHaveText(/^\d\d:\d\d/);
  }
  await expect(anas.ticks("Mbote na bino nyonso", "read")).toBeVisible();

  // A picture with a caption, a file and a voice message reach everybody.
  const { page, texts } = bens;
  const picture = await makePicture(page, "fête.jpg", { width: 1_200, height: 900, type: "image/jpeg" });
  const choose = async (what: "file" | "image", file: typeof picture): Promise<void> => {
    const chooser = page.waitForEvent("filechooser");
    await bens.attach(what);
    await (await chooser).setFiles([file]);
  };
  await page.getByRole("button", { name: texts.chat.voice.record }).press("Enter");
  await expect(page.getByRole("timer")).toHaveText(/0[1-9]$|[1-9]\d$/);
  await page.keyboard.press("Enter");
  const send = page.getByRole("dialog").getByRole("button", { name: texts.chat.send, exact: true });
  await choose("image", picture);
  await page.getByRole("dialog").getByRole("textbox").fill("La fête de Mama");
  await send.click();
  await choose("file", { name: reportName, mimeType: "application/pdf", buffer: report });
  await send.click();
  for (const phone of listeners) {
    const { messages } = phone.texts;
    const main = phone.page.getByRole("main");
    const photo = main.getByRole("img", { name: fill(messages.photoWith, { text: "La fête de Mama" }) });
    await expect.poll(() => photo.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1_200);
    await main.getByRole("button", { name: new RegExp(`^${messages.playVoice} – ${ben.username}`) }).click();
    await expect(phone.page.locator("html")).toHaveAttribute("data-heard");
    const fetchIt = main.getByRole("button", { name: fill(messages.fetchFile, { name: reportName }) });
    const [saved] = await Promise.all([phone.page.waitForEvent("download"), fetchIt.click()]);
    expect(readFileSync(await saved.path())).toEqual(report);
  }

  // An offline client and a reloading one keep writing; in the end everybody has every message once, in one order.
  await waitForOfflineReady(page);
  await bens.context.setOffline(true);
  await bens.write("hors ligne 1");
  await page.reload();
  await expect(bens.ticks("hors ligne 1", "sending")).toBeVisible();
  await bens.write("hors ligne 2");
  for (let n = 1; n <= 3; n++) {
    await anas.write(`ana ${n}`);
    await cleos.write(`cleo ${n}`);
    if (n === 2) await cleos.page.reload();
  }
  await bens.context.setOffline(false);
  await expect(cleos.message("hors ligne 2")).toBeVisible();
  const talked = 1 + 1 + 3; // the "created" message, a text, and voice message, picture and file
  const log = await expectSameLogs(phones, group, 1, talked + 2 + 6);
  expect(new Set(log.map(({ text }) => text).filter((text) => !text.startsWith("<"))).size).toBe(1 + 2 + 6);
  for (const phone of phones) await phone.close();
});
