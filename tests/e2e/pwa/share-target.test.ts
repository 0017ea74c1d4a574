import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { emulateAppWindow, openSharingPage, shareToApp, submitShare } from "#tests/support/browser/share-client.ts";
import { fill, findToast, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson, type Person, signInAgain, testPassword } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

test.use(withServiceWorker);

const picture = { name: "moto.png", type: "image/png", bytes: [...onePixelPng] };
const notes = { name: "notes.txt", type: "text/plain", bytes: [77, 98, 111, 116, 101] };
const mebibyte = 1024 ** 2;

const listCaches = (page: Page) => page.evaluate(() => caches.keys());
const textField = ({ page, texts }: TestClient) => page.getByRole("textbox", { name: texts.share.text });
/** Chooses a recipient; the checkbox itself is drawn by its label. */
const choose = ({ page }: TestClient, name: string) => page.getByRole("checkbox", { name }).check({ force: true });
const sendButton = ({ page, texts }: TestClient, count: number) =>
  page.getByRole("button", {
    name: fill(count === 1 ? texts.masolo.broadcastSend_one : texts.masolo.broadcastSend_other, { count }),
  });

test("a shared text, picture and file reach the chosen people once, the text first, though another tab opened them; two shares do not mix, also offline, and what is sent then leaves when the network returns", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = (await makeFriends(site, 9_520, 3)) as [Person, Person, Person];
  const phone = await TestClient.open(browser, server);
  await emulateAppWindow(phone.context);
  const { page, context, texts } = phone;
  await phone.signIn(ana);
  await waitForOfflineReady(page);
  await expect(phone.conversation(ben.username).or(page.getByText(texts.masolo.emptyTitle))).toBeVisible();
  const content = {
    title: "Horaire",
    text: "Le bus part à 7 h",
    url: "https://bus.example/7",
    files: [picture, notes],
  };
  await shareToApp(page, server.origin, content);
  await expect(page).toHaveURL(/\/app\/share\/[0-9a-f-]{36}$/);
  await expect(textField(phone)).toHaveValue("Horaire\nLe bus part à 7 h\nhttps://bus.example/7");
  await expect(page.getByRole("img", { name: "moto.png" })).toBeVisible();
  await expect(page.getByText("notes.txt")).toBeVisible();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  await choose(phone, ben.username);
  await choose(phone, cleo.username);
  // Another tab has opened it as well.
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole("checkbox", { name: ben.username }).check({ force: true });
  await sendButton(phone, 2).click();
  await expect(findToast(page)).toContainText(fill(texts.masolo.broadcastSent_other, { count: 2 }));
  await expect(page).toHaveURL(/\/app$/);
  expect(await listCaches(page)).not.toContain("shares");
  await other.getByRole("button", { name: fill(texts.masolo.broadcastSend_one, { count: 1 }) }).click();
  await expect(other.getByText(texts.share.goneTitle)).toBeVisible();
  await other.close();
  const sent = ["Horaire\nLe bus part à 7 h\nhttps://bus.example/7", "<image>", "<file>"];
  for (const person of [ben, cleo])
    await expect.poll(() => readServerTexts(site, person, privateConversationId(ana.id, person.id))).toEqual(sent);
  // What was sent is not offered again.
  await page.goBack();
  await expect(page.getByText("Le bus part à 7 h")).toHaveCount(0);
  await shareToApp(page, server.origin, {});
  await expect(page.getByText(texts.share.emptyTitle)).toBeVisible();
  await page.getByRole("button", { name: texts.shell.error.home }).click();
  await expect(page).toHaveURL(/\/app$/);

  // Two shares at once, offline.
  const second = await context.newPage();
  await Promise.all([page, second].map((tab) => openSharingPage(tab, server.origin)));
  await context.setOffline(true);
  await Promise.all([
    submitShare(page, { text: "Première" }),
    submitShare(second, { text: "Deuxième", files: [notes] }),
  ]);
  await expect(textField(phone)).toHaveValue("Première");
  await expect(second.getByRole("textbox", { name: texts.share.text })).toHaveValue("Deuxième");
  await expect(page.getByText("notes.txt")).toHaveCount(0);
  await expect(second.getByText("notes.txt")).toBeVisible();
  await choose(phone, ben.username);
  await sendButton(phone, 1).click();
  await expect(page).toHaveURL(`/app/chat/${ben.id}`);
  await expect(phone.ticks("Première", "sending")).toBeVisible();
  await context.setOffline(false);
  await expect(phone.ticks("Première", "sent").or(phone.ticks("Première", "delivered"))).toBeVisible();
  expect(await readServerTexts(site, ben, privateConversationId(ana.id, ben.id))).toEqual([...sent, "Première"]);
  expect(await readServerTexts(site, cleo, privateConversationId(ana.id, cleo.id))).toEqual(sent);
  await phone.close();
});

test("a text that is too long is kept whole until it is shortened, which survives a reload; files above the limit are left out with a reason; a day later nothing is left", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = (await makeFriends(site, 9_532, 2)) as [Person, Person];
  const phone = await TestClient.open(browser, server);
  await emulateAppWindow(phone.context);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await waitForOfflineReady(page);
  const text = `${"a".repeat(messageTextMaxLength)}https://bus.example/7`;
  await shareToApp(page, server.origin, { text });
  await expect(textField(phone)).toHaveValue(text);
  await expect(page.getByRole("alert")).toHaveText(fill(texts.chat.tooLong, { over: 21 }));
  await choose(phone, ben.username);
  await expect(sendButton(phone, 1)).toBeDisabled();
  await textField(phone).fill("https://bus.example/7");
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(sendButton(phone, 1)).toBeEnabled();
  await expect
    .poll(() =>
      page.evaluate(
        async (path) => (await caches.match(path.replace("/app/share/", "/shares/")))?.text(),
        new URL(page.url()).pathname,
      ),
    )
    .toContain('"https://bus.example/7"');
  await page.reload();
  await expect(textField(phone)).toHaveValue("https://bus.example/7");

  const large = { name: "film.mp4", type: "video/mp4", bytes: { length: 25 * mebibyte + 1 } };
  await shareToApp(page, server.origin, { files: [large, { ...notes, bytes: [] }, notes] });
  await expect(page.getByText(fill(texts.share.refused_one, { count: 1 }))).toBeVisible();
  await expect(page.getByText(texts.chat.attach.empty)).toBeVisible();
  await expect(page.getByText("film.mp4")).toHaveCount(0);
  await page.clock.install({ time: Date.now() + 24 * 3_600_000 + 60_000 });
  await page.reload();
  await expect(page.getByText(texts.share.goneTitle)).toBeVisible();
  await page.getByRole("button", { name: texts.shell.error.home }).click();
  await expect(page).toHaveURL(/\/app$/);
  await page.reload(); // the start deletes the first one, which was not opened again
  await expect.poll(() => listCaches(page)).not.toContain("shares");
  await phone.close();
});

test("what is shared while signed out is offered after the sign-in, to nobody else, and deleted when its person signs out or another person signs in", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_527), await makePerson(site, 9_528)];
  const phone = await TestClient.open(browser, server);
  await emulateAppWindow(phone.context);
  const { page, context, texts } = phone;
  await page.goto("/login");
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await shareToApp(page, server.origin, { text: "Pour plus tard" });
  await expect(page).toHaveURL(/\/login$/);
  await phone.logIn(ana.phone, testPassword);
  await expect(textField(phone)).toHaveValue("Pour plus tard");
  const sharePath = new URL(page.url()).pathname;
  // Her session ends without her; another person signs in.
  await context.clearCookies();
  await phone.signIn(ben, sharePath);
  await expect(page.getByText(texts.share.goneTitle)).toBeVisible();
  await expect(textField(phone)).toHaveCount(0);
  await phone.goTo("/app");
  await expect.poll(() => listCaches(page)).not.toContain("shares");

  // She ends her session elsewhere.
  await phone.signIn(await signInAgain(site, ana));
  await shareToApp(page, server.origin, { text: "Encore plus tard" });
  await expect(textField(phone)).toHaveValue("Encore plus tard");
  await callSite(site, "DELETE", "/api/auth/sessions", { token: ana.token });
  await expect(page).toHaveURL(/\/login$/, { timeout: 60_000 });
  await expect.poll(() => listCaches(page)).not.toContain("shares");

  // She signs out here.
  await phone.signIn(await signInAgain(site, ana));
  await shareToApp(page, server.origin, { text: "Secret", files: [notes] });
  await expect(textField(phone)).toHaveValue("Secret");
  expect(await listCaches(page)).toContain("shares");
  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL(/\/$/);
  await expect.poll(() => listCaches(page)).not.toContain("shares");
  await phone.close();
});

test("without a service worker the server asks to share it again", async ({ browser, server }) => {
  const ana = await makePerson(toSite(server), 9_531, "Ana");
  const phone = await TestClient.open(browser, server, "pt", { serviceWorkers: "block" });
  const { page, texts } = phone;
  await phone.signIn(ana);
  await shareToApp(page, server.origin, { text: "Perdu", files: [picture] });
  await expect(page).toHaveURL(/\/app\/share\/missed$/);
  await expect(page.getByText(texts.share.missedTitle)).toBeVisible();
  await page.getByRole("button", { name: texts.shell.error.home }).click();
  await expect(page).toHaveURL(/\/app$/);
  await phone.close();
});

test("what another site submits is shown only after the person has agreed, and is deleted otherwise", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_535, "Ana");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await waitForOfflineReady(page);
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();
  const foreignPage = `http://127.0.0.1:${server.port}/robots.txt`;
  // A site that hides its origin looks like the system, but not in the window of an installed app.
  for (const [referrerPolicy, isAppWindow] of [
    ["strict-origin", true],
    ["no-referrer", false],
  ] as const) {
    const tab = await phone.context.newPage();
    if (isAppWindow) await emulateAppWindow(tab);
    await tab.route(foreignPage, (route) =>
      route.fulfill({
        body: "<!doctype html>",
        contentType: "text/html",
        headers: { "referrer-policy": referrerPolicy },
      }),
    );
    await tab.goto(foreignPage);
    await submitShare(tab, { text: "Envoyez-moi 100 $" }, server.origin);
    const field = tab.getByRole("textbox", { name: texts.share.text });
    await expect(tab.getByText(texts.share.siteTitle)).toBeVisible();
    await expect(tab.getByText("Envoyez-moi 100 $")).toHaveCount(0);
    await expect(field).toHaveCount(0);
    if (isAppWindow) expect(await findAxeViolationsInBothThemes(tab)).toEqual([]);
    await tab.getByRole("button", { name: texts.share.siteShow }).click();
    await expect(field).toHaveValue("Envoyez-moi 100 $");
    await tab.reload();
    await tab.getByRole("button", { name: texts.common.delete, exact: true }).click();
    await expect(tab).toHaveURL(/\/app$/);
    expect(await listCaches(tab)).not.toContain("shares");
    await tab.close();
  }
  await phone.close();
});
