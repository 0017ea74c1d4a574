import { privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

test("a message shows its four ticks in turn, and typed text arrives unchanged, whatever it contains", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 500);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);

  await anas.context.setOffline(true);
  await anas.write("en route");
  await expect(anas.ticks("en route", "sending")).toBeVisible();
  await anas.context.setOffline(false);
  await expect(anas.ticks("en route", "sent")).toBeVisible();

  const bens = await TestClient.open(browser, server);
  await bens.signIn(ben);
  await expect(bens.conversation(ana.username)).toContainText("en route");
  await expect(anas.ticks("en route", "delivered")).toBeVisible();
  await bens.conversation(ana.username).click();
  await expect(anas.ticks("en route", "read")).toBeVisible();

  // Typed text.
  const overrides = "\u202Eécrit à l’envers";
  const texts = [
    "ligne une\n\n  ligne trois, avec deux espaces devant",
    "<img src=x onerror=alert(1)> & <b>gras</b> {name} $1",
    "مرحبا، نلتقي غداً",
    overrides,
    "z\u0300\u0301\u0302\u0303\u0304\u0305".repeat(20),
    "a".repeat(600),
    "👩‍👩‍👧‍👦 🇨🇩",
  ];
  for (const text of texts) {
    await anas.composer().fill(text);
    await anas.composer().press("Enter");
  }
  const shown = bens.page.getByRole("main").locator("li p > bdi");
  await expect(shown).toHaveCount(1 + texts.length);
  expect(await readServerTexts(site, ben, conversation)).toEqual(["en route", ...texts]);
  // A direction override on the screen ends with its text.
  expect(await shown.evaluateAll((elements) => elements.map((element) => element.textContent))).toEqual(
    ["en route", ...texts].map((text) => (text === overrides ? `${text}\u202C` : text)),
  );
  // Nothing makes the page wider than the phone, and a right-to-left text keeps the time in its place.
  expect(await bens.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  const time = bens.page.getByRole("main").locator("li", { hasText: "écrit à l’envers" }).locator("time");
  await expect(time).toHaveText(/^\d\d:\d\d$/);

  const answers = await findAxeViolations(bens.page);
  expect(answers).toEqual([]);
  await anas.close();
  await bens.close();
});

test("the composer sends on Enter, breaks the line on Shift+Enter and refuses blank or too long text", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 504);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server, "en");
  await anas.signInToChat(ana, ben.id);
  const composer = anas.composer();
  // Without text to send, the button is a microphone.
  const send = anas.page.getByRole("button", { name: anas.texts.chat.send, exact: true });
  const record = anas.page.getByRole("button", { name: anas.texts.chat.voice.record });
  await expect(record).toBeEnabled();
  await composer.fill(" \n\t ");
  await expect(record).toBeEnabled();
  await composer.press("Enter");

  await composer.fill("x".repeat(messageTextMaxLength + 3));
  await expect(anas.page.getByText(fill(anas.texts.chat.tooLong, { over: 3 }))).toBeVisible();
  await expect(send).toBeDisabled();

  await composer.fill("");
  await composer.pressSequentially("un");
  await composer.press("Shift+Enter");
  await composer.pressSequentially("deux");
  // A draft survives a visit to another screen.
  await anas.page.getByRole("link", { name: ben.username }).click();
  await anas.page.waitForURL("**/app/user/**");
  await expect(composer).toHaveCount(0);
  await anas.page.goBack();
  await expect(composer).toHaveValue("un\ndeux");
  // The same for another tab of the same person: the last change appears in both, and nothing remains after sending.
  const second = await anas.context.newPage();
  await anas.openChat(ben.id, second);
  await expect(anas.composer(second)).toHaveValue("un\ndeux");
  await anas.composer(second).fill("un\ndeux\ntrois");
  await expect(composer).toHaveValue("un\ndeux\ntrois");
  await anas.composer(second).blur();
  await composer.fill("un\ndeux");
  await expect(anas.composer(second)).toHaveValue("un\ndeux");
  await send.click();
  await expect(anas.composer(second)).toHaveValue("");
  await second.close();
  await expect(composer).toHaveValue("");
  await expect(composer).toBeFocused();
  await expect(anas.ticks("un\ndeux", "sent")).toBeVisible();
  expect(await readServerTexts(site, ben, conversation)).toEqual(["un\ndeux"]);
  await anas.page.reload();
  await expect(anas.message("un\ndeux")).toBeVisible();
  await expect(composer).toHaveValue("");
  await anas.close();
});

test("removing the contact closes the open chat and keeps its history; a chat of an unknown person leads to the list", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 510), await makePerson(site, 511)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Avant tout"]);
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  await expect(anas.message("Avant tout")).toBeVisible();

  // Two messages are written before the lost connection is noticed.
  await anas.context.setOffline(true);
  await anas.write("trop tard");
  await anas.write("encore une");
  await callSite(site, "DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await anas.context.setOffline(false);

  const { chat, errors } = anas.texts;
  await expect(anas.page.getByText(chat.mustBeConnected, { exact: true })).toBeVisible();
  await expect(anas.composer()).toHaveCount(0);
  await expect(anas.message("Avant tout")).toBeVisible();
  for (const text of ["trop tard", "encore une"]) await expect(anas.ticks(text, "failed")).toBeVisible();
  await expect(anas.message("trop tard")).toContainText(fill(chat.notSent, { reason: errors.not_connected }));
  await expect(anas.page.getByRole("link", { name: chat.findPeople })).toBeVisible();
  await expect(anas.message("trop tard").getByRole("button", { name: chat.discard })).toBeVisible();
  await expect(anas.message("encore une").getByRole("button", { name: chat.retry })).toBeVisible();

  // One is deleted; the other is sent once they are connected again.
  await anas.message("trop tard").getByRole("button", { name: chat.discard }).click();
  await anas.page.getByRole("alertdialog").getByRole("button", { name: anas.texts.common.cancel }).click();
  await expect(anas.message("trop tard")).toBeVisible();
  await anas.message("trop tard").getByRole("button", { name: chat.discard }).click();
  await anas.confirmDeletion();
  await expect(anas.message("trop tard")).toHaveCount(0);
  const nextStep = anas.page.getByRole("link", { name: chat.findPeople });
  await expect(nextStep).toBeVisible();
  const ask = async (from: Person, to: Person): Promise<string> => {
    const { body } = await callSite(site, "POST", "/api/requests", {
      token: from.token,
      body: { to_user_id: to.id },
    });
    return (body as { request_id: string }).request_id;
  };
  const own = await ask(ana, ben);
  await expect(anas.page.getByRole("button", { name: anas.texts.senga.requestSent })).toBeDisabled();
  await expect(nextStep).toHaveCount(0);
  await callSite(site, "POST", `/api/requests/${own}/decline`, { token: ben.token });
  await expect(nextStep).toBeVisible();
  const request = await ask(ben, ana);
  await expect(anas.page.getByRole("link", { name: chat.acceptRequest })).toHaveAttribute("href", "/app/senga");
  await expect(nextStep).toHaveCount(0);
  await callSite(site, "POST", `/api/requests/${request}/accept`, { token: ana.token });
  await expect(anas.composer()).toBeVisible();
  await anas.message("encore une").getByRole("button", { name: chat.retry }).click();
  await expect(anas.ticks("encore une", "sent")).toBeVisible();

  // An unknown person's chat says so and leads back to the list.
  for (const id of ["019a0000-0000-7000-8000-000000000000", "personne", ana.id]) {
    await anas.openRoute(`/app/chat/${id}`);
    await expect(anas.page.getByRole("alert").getByText(chat.userNotFound)).toBeVisible();
    await expect(anas.page).toHaveURL(/\/app$/);
    await anas.page.getByRole("alert").getByRole("button", { name: anas.texts.common.close }).click();
    await expect(anas.page.getByRole("alert")).toHaveCount(0);
  }
  await anas.close();
});
