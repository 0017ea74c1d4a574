import { readFileSync } from "node:fs";
import type { Locator } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { report, reportName } from "#tests/support/browser/chat-files.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { typeUntil } from "#tests/support/browser/type-until.ts";
import { eventLine, expectSameLogs, makeFriends } from "#tests/support/people/friends.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { type Person, signInAgain } from "#tests/support/people/people.ts";

const name = "Parcelle 13 – famille";

const openMessageMenu = async (phone: TestClient, text: string, item: string): Promise<void> => {
  await phone.message(text).locator("bdi").last().click({ button: "right" });
  await phone.page.getByRole("menuitem", { name: item, exact: true }).click();
};

const openChatMenu = async ({ page, texts }: TestClient, item: string): Promise<void> => {
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

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

test("four people on five devices create a group and talk in it, each in their language", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo, eli, fifi] = (await makeFriends(site, 620, 5)) as [Person, Person, Person, Person, Person];
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server, "fr", withServiceWorker);
  const cleos = await TestClient.open(browser, server, "en");
  const elis = await TestClient.open(browser, server, "pt");
  const anasTablet = await TestClient.open(browser, server, "en");
  const phones = [anas, bens, cleos, elis, anasTablet];
  const listeners = [anas, cleos, anasTablet];
  for (const phone of listeners) await noteSounds(phone);
  await Promise.all([anas.signIn(ana), bens.signIn(ben), cleos.signIn(cleo), elis.signIn(eli)]);
  await anasTablet.signIn(await signInAgain(site, ana));
  for (const phone of phones) await expect(phone.page.getByText(phone.texts.masolo.emptyTitle)).toBeVisible();

  // Created by touch; the button needs a name and a member.
  const { page, texts } = anas;
  const { create } = texts.groups;
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.masolo.newGroup }).click();
  const make = page.getByRole("button", { name: create.submit, exact: true });
  await expect(make).toBeDisabled();
  await page.getByRole("textbox", { name: create.name }).fill(name);
  await expect(make).toBeDisabled();
  for (const { username } of [ben, cleo, eli]) {
    await page.getByRole("checkbox", { name: username }).check({ force: true });
  }
  await expect(page.getByRole("checkbox", { name: fifi.username })).not.toBeChecked();
  await expect(page.getByText(fill(create.selected_other, { count: 3 }), { exact: true })).toBeVisible();
  await make.click();
  await page.waitForURL(/\/app\/group\/[\da-f-]{36}$/);
  const group = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await expect(eventLine(anas, "createdByMe", { group: name })).toBeVisible();

  // It appears in everybody's list at once, on all devices and in each language.
  for (const phone of [bens, cleos, elis]) {
    const createdText = fill(phone.texts.groups.events.created, { name: ana.username, group: name });
    await expect(phone.conversation(name)).toContainText(createdText);
  }
  await expect(anasTablet.conversation(name)).toContainText(
    fill(anasTablet.texts.groups.events.createdByMe, { group: name }),
  );

  // Eli stays in the list; all others open the chat.
  for (const phone of [bens, cleos, anasTablet]) {
    await phone.conversation(name).click();
    await expect(phone.composer()).toBeVisible();
    await expect(headerOf(phone)).toContainText(fill(phone.texts.groups.chat.members_other, { count: 4 }));
  }
  await anas.write("Mbote na bino nyonso");
  for (const phone of [bens, cleos]) {
    const heard = phone.message("Mbote na bino nyonso");
    await expect(heard.locator("p[aria-hidden] bdi")).toHaveText(ana.username);
    await expect(heard.locator(`a[href="/app/user/${ana.id}"]`)).toBeVisible();
    await expect(heard.locator("time")).toHaveText(/^\d\d:\d\d/);
  }
  await expect(anasTablet.ticks("Mbote na bino nyonso", "delivered")).toBeVisible();
  await expect(elis.conversation(name)).toContainText(`${ana.username}: Mbote na bino nyonso`);
  await expect(elis.conversation(name)).toContainText(fill(elis.texts.masolo.unread_one, { count: 1 }));

  // Delivered to all, read by two of three; the open sheet that lists the readers updates live.
  await expect(anas.ticks("Mbote na bino nyonso", "delivered")).toBeVisible();
  const { receipts } = texts.groups;
  const sheet = page.getByRole("dialog", { name: receipts.title });
  await openMessageMenu(anas, "Mbote na bino nyonso", receipts.title);
  await expect(sheet.getByRole("heading", { name: fill(receipts.read, { count: 2 }) })).toBeVisible();
  const got = sheet.getByRole("region", { name: fill(receipts.delivered, { count: 1 }) });
  await expect(got.getByRole("listitem")).toHaveText([new RegExp(eli.username)]);
  await elis.conversation(name).click();
  await expect(sheet.getByRole("heading", { name: fill(receipts.read, { count: 3 }) })).toBeVisible();
  await expect(got).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(anas.ticks("Mbote na bino nyonso", "read")).toBeVisible();
  await expect(anasTablet.ticks("Mbote na bino nyonso", "read")).toBeVisible();

  // All others see who types, one or two people, in the list too.
  await elis.page.getByRole("link", { name: elis.texts.common.back, exact: true }).click();
  const seesTyping = (phone: TestClient, text: string) => expect(headerOf(phone)).toContainText(text);
  const cleoTypes = Promise.all([
    seesTyping(bens, fill(texts.chat.isTyping, { name: cleo.username })),
    seesTyping(anasTablet, fill(anasTablet.texts.chat.isTyping, { name: cleo.username })),
    expect(elis.conversation(name)).toContainText(fill(elis.texts.chat.isTyping, { name: cleo.username })),
  ]);
  await typeUntil(cleos, cleoTypes);
  const [one, other] = [cleo.username, ben.username];
  const bothType = expect(headerOf(anas)).toContainText(
    new RegExp(
      `${fill(texts.groups.chat.twoType, { name: one, other })}|${fill(texts.groups.chat.twoType, { name: other, other: one })}`,
    ),
  );
  await Promise.all([typeUntil(cleos, bothType), typeUntil(bens, bothType)]);
  await cleos.write("I am coming soon");
  await typeUntil(bens, seesTyping(anas, fill(texts.chat.isTyping, { name: ben.username })));
  await bens.write("Moi aussi");
  await expect(headerOf(anas)).toContainText(fill(texts.groups.chat.members_other, { count: 4 }));
  await expect(bens.message("I am coming soon")).toBeVisible();

  // A picture with a caption, a file and a voice message reach everybody.
  const picture = await makePicture(bens.page, "fête.jpg", { width: 1_200, height: 900, type: "image/jpeg" });
  const choose = async (phone: TestClient, what: "file" | "image", file: typeof picture): Promise<void> => {
    const chooser = phone.page.waitForEvent("filechooser");
    await phone.attach(what);
    await (await chooser).setFiles([file]);
  };
  const send = (phone: TestClient) =>
    phone.page.getByRole("dialog").getByRole("button", { name: phone.texts.chat.send, exact: true });
  await choose(bens, "image", picture);
  await bens.page.getByRole("dialog").getByRole("textbox").fill("La fête de Mama");
  await send(bens).click();
  await elis.conversation(name).click();
  const record = elis.page.getByRole("button", { name: elis.texts.chat.voice.record });
  await record.focus();
  await elis.page.keyboard.press("Enter");
  await expect(elis.page.getByRole("timer")).toHaveText(/0[1-9]$|[1-9]\d$/);
  await elis.page.keyboard.press("Enter");
  await choose(elis, "file", { name: reportName, mimeType: "application/pdf", buffer: report });
  await send(elis).click();
  for (const phone of listeners) {
    const { messages } = phone.texts;
    const main = phone.page.getByRole("main");
    const photo = main.getByRole("img", { name: fill(messages.photoWith, { text: "La fête de Mama" }) });
    await expect.poll(() => photo.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1_200);
    const play = main.getByRole("button", { name: new RegExp(`^${messages.playVoice} – ${eli.username}`) });
    await play.click();
    await expect(phone.page.locator("html")).toHaveAttribute("data-heard");
    const fetchIt = main.getByRole("button", { name: fill(messages.fetchFile, { name: reportName }) });
    const [saved] = await Promise.all([phone.page.waitForEvent("download"), fetchIt.click()]);
    expect(readFileSync(await saved.path())).toEqual(report);
  }

  // Forwarded within the group, deleted for everyone, searched, muted on both devices.
  await openMessageMenu(cleos, "La fête de Mama", cleos.texts.messages.forward);
  const forward = cleos.page.getByRole("dialog", { name: cleos.texts.messages.forwardTitle });
  await forward.getByRole("checkbox", { name }).check({ force: true });
  await forward.getByRole("button", { name: fill(cleos.texts.messages.forwardTo_one, { count: 1 }) }).click();
  await expect(
    anas.page.getByText(fill(texts.messages.forwardedFrom, { name: ben.username }), { exact: true }),
  ).toBeVisible();
  await openMessageMenu(anasTablet, "Mbote na bino nyonso", anasTablet.texts.common.delete);
  await anasTablet.page
    .getByRole("alertdialog")
    .getByRole("button", { name: anasTablet.texts.messages.deleteForAll })
    .click();
  for (const phone of phones) await expect(phone.message(phone.texts.chat.deletedMessage)).toBeVisible();
  await openChatMenu(elis, elis.texts.chat.search);
  await elis.page.getByRole("searchbox").fill("coming soon");
  const results = elis.page
    .getByRole("list", { name: elis.texts.chat.foundList })
    .getByRole("listitem")
    .filter({ hasText: cleo.username });
  await expect(results.filter({ hasText: "I am coming soon" })).toBeVisible();
  await elis.page.getByRole("button", { name: elis.texts.chat.closeSearch }).click();
  await openChatMenu(anas, texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(headerOf(anasTablet).getByRole("img", { name: anasTablet.texts.mute.isOn })).toBeVisible();
  await page.getByRole("button", { name: texts.groups.chat.call }).click();
  await expect(page.getByText(texts.common.notAvailable, { exact: true })).toBeVisible();

  // An offline client and a reloading one keep writing; in the end everybody has every message once, in one order.
  await waitForOfflineReady(bens.page);
  await bens.context.setOffline(true);
  await bens.write("hors ligne 1");
  await bens.page.reload();
  await expect(bens.ticks("hors ligne 1", "sending")).toBeVisible();
  await bens.write("hors ligne 2");
  for (let n = 1; n <= 5; n++) {
    for (const [phone, typists] of [
      [anas, "ana"],
      [anasTablet, "tablette"],
      [cleos, "cleo"],
      [elis, "eli"],
    ] as const) {
      await phone.write(`${typists} ${n}`);
    }
    if (n === 3) await elis.page.reload();
  }
  await bens.context.setOffline(false);
  await expect(cleos.message("hors ligne 2")).toBeVisible();
  const talked = 1 + 3 + 4; // the "created" message, three texts, and picture, file, voice and the picture again
  const log = await expectSameLogs(phones, group, 1, talked + 2 + 20);
  expect(new Set(log.map(({ text }) => text).filter((text) => !text.startsWith("<"))).size).toBe(2 + 2 + 20);

  // A member can clear their own view; nobody else's changes.
  await openChatMenu(elis, elis.texts.chat.clear);
  await elis.page.getByRole("alertdialog").getByRole("button", { name: elis.texts.chat.clearConfirm }).click();
  await expect(elis.message("ana 5")).toHaveCount(0);
  await cleos.page.reload();
  await expect(cleos.message("ana 5")).toBeVisible();
  await anas.write("après");
  await expect(elis.message("après")).toBeVisible();
  for (const phone of phones) await phone.close();
});
