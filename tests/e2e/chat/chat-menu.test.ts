import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { messageInfoPath } from "#contract/wire/message-info.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient, type Texts } from "#tests/support/browser/test-client.ts";
import { typeUntil } from "#tests/support/browser/type-until.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, openPair, toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

const toldAgainMs = 30_000; // after this time a screen reader announces the sender again

const choose = async (page: Page, texts: Texts, item: string): Promise<void> => {
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

test("a chat can be muted, shows who is typing, and can be cleared of earlier messages", async ({
  browser,
  server,
}) => {
  const { phones, people, site, conversation } = await openPair(browser, server, 3300);
  const [anas, bens] = phones;
  const [ana, ben] = people;
  const { page, texts } = anas;
  const header = page.getByRole("main").locator("header");
  await anas.write("avant");
  await expect(anas.ticks("avant", "read")).toBeVisible(); // both must be connected to receive it at once

  // The header shows typing, also right after the last message, and stops when the message arrives.
  const isTyping = page.getByText(fill(texts.chat.isTyping, { name: ben.username }), { exact: true });
  const shown = Promise.all([
    expect(header.getByText(texts.chat.typing, { exact: true })).toBeVisible(),
    expect(isTyping).toBeAttached({ timeout: 2 * toldAgainMs }),
  ]);
  await typeUntil(bens, shown);
  await bens.write("je tape");
  await expect(anas.message("je tape")).toBeVisible();
  await expect(header.getByText(texts.chat.typing, { exact: true })).toHaveCount(0);
  const again = expect(header.getByText(texts.chat.typing, { exact: true })).toBeVisible();
  await typeUntil(bens, again);
  await bens.write("encore");
  await expect(anas.message("encore")).toBeVisible();
  await expect(header.getByText(texts.chat.typing, { exact: true })).toHaveCount(0);

  // There are two ways to call a person: on a narrow screen one of them is in the menu, which leaves room for the name.
  const video = header.getByRole("button", { name: fill(texts.people.videoCallName, { name: ben.username }) });
  await expect(
    header.getByRole("button", { name: fill(texts.people.audioCallName, { name: ben.username }) }),
  ).toBeEnabled();
  await expect(video).toBeHidden();
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await expect(page.getByRole("menuitem", { name: texts.people.videoCall, exact: true })).toBeEnabled();
  await expect(page.getByRole("menuitem", { name: texts.people.audioCall, exact: true })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 700, height: 740 });
  await expect(video).toBeEnabled();
  await page.setViewportSize({ width: 360, height: 740 });

  // Muting: first it fails with an error, then it is announced and marked, and the chat no longer counts in the tab
  // bar.
  await anas.context.route("**/api/mutes/**", (route) => route.fulfill({ status: 503, body: "" }));
  await choose(page, texts, texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(page.getByRole("alert").getByText("Impossible de modifier l'état des notifications.")).toBeVisible();
  await anas.context.unroute("**/api/mutes/**");
  await choose(page, texts, texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(page.getByRole("status").getByText("Notifications muettes", { exact: true })).toBeVisible();
  await expect(header.getByRole("img", { name: texts.mute.isOn })).toBeVisible();
  await choose(page, texts, texts.mute.change);
  await page.getByRole("button", { name: texts.mute.for.hour, exact: true }).click();
  const untilTime = fill(texts.mute.untilTime, { time: "\\d\\d:\\d\\d" });
  const until = new RegExp(fill(texts.mute.isOnUntil, { until: untilTime }));
  await expect(header.getByRole("img", { name: until })).toBeVisible();
  await choose(page, texts, texts.mute.change);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(header.getByRole("img", { name: texts.mute.isOn, exact: true })).toBeVisible();
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await expect(anas.composer()).toHaveCount(0); // messages in an open chat are read
  await bens.write("en silence");
  const row = anas.conversation(ben.username);
  await expect(row).toContainText(fill(texts.masolo.unread_one, { count: 1 }));
  await expect(row.getByRole("img", { name: texts.mute.isOn })).toBeVisible();
  const tab = page.getByRole("navigation", { name: texts.shell.navigation }).getByRole("link", { name: /^Masolo/ });
  await expect(tab).toHaveText(texts.shell.tabs.masolo);

  // The list shows typing too.
  const shownInRow = expect(row).toContainText(texts.chat.typing);
  await typeUntil(bens, shownInRow);
  await bens.composer().fill("");
  await row.click();
  await choose(page, texts, texts.mute.off);
  await expect(page.getByRole("status").getByText("Notifications réactivées", { exact: true })).toBeVisible();
  await expect(header.getByRole("img", { name: texts.mute.isOn })).toHaveCount(0);

  // A timed mute shows its end, and can be chosen by keyboard.
  await choose(page, texts, texts.mute.on);
  const durations = page.getByRole("dialog", { name: texts.mute.on });
  await expect(durations.getByRole("button", { name: texts.mute.for.hour, exact: true })).toBeFocused();
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(durations).toHaveCount(0);
  const mutedUntil = new RegExp(`^${fill(texts.mute.isOnUntil, { until: untilTime })}$`);
  await expect(header.getByRole("img", { name: mutedUntil })).toBeVisible();
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  const unmute = new RegExp(`^${fill(texts.mute.offUntil.replace(/[()]/g, "\\$&"), { until: untilTime })}$`);
  await page.getByRole("menuitem", { name: unmute }).click();
  await expect(header.getByRole("img", { name: mutedUntil })).toHaveCount(0);

  // Clearing: cancelled, failed, then done; messages that arrived meanwhile stay.
  const dialog = page.getByRole("alertdialog", { name: "Effacer la conversation\u00a0?" });
  await choose(page, texts, texts.chat.clear);
  await expect(dialog).toContainText(ben.username);
  expect(await findAxeViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: texts.common.cancel }).click();
  await anas.context.route("**/clear", (route) => route.abort());
  await choose(page, texts, texts.chat.clear);
  await dialog.getByRole("button", { name: texts.chat.clearConfirm }).click();
  await expect(page.getByRole("alert").getByText("Impossible d'effacer la conversation.")).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(anas.message("avant")).toBeVisible();
  await anas.context.unroute("**/clear");

  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await anas.context.route("**/clear", async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest("**/clear");
  await choose(page, texts, texts.chat.clear);
  await dialog.getByRole("button", { name: texts.chat.clearConfirm }).click();
  await asked;
  await sendTexts(site, ben, conversation, ["pendant"]);
  await expect(anas.message("pendant")).toBeAttached();
  letGo();
  await expect(page.getByRole("status").getByText("Conversation effacée.")).toBeVisible();
  await expect(anas.message("pendant")).toBeVisible();
  await expect(anas.message("avant")).toHaveCount(0);
  await expect(bens.message("avant")).toBeVisible();
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await expect(row).toContainText("pendant");

  // Her other devices receive the same.
  expect(await readServerTexts(site, ana, conversation)).toEqual(["pendant"]);
  await anas.close();
  await bens.close();
});

test("the messages of a blocked person stay sent; the other sees none of them until unblocking", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 3302);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server, "en");
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const writeAsBen = (text: string) => sendTexts(site, ben, conversation, [text]);
  /** What Ben is told about his message. */
  const infoOf = async (seq: number) =>
    (await callSite(site, "GET", messageInfoPath(conversation, seq), { token: ben.token })).body;
  const read = { delivered: expect.anything(), read: expect.anything() };
  const onlySent = { delivered: null, read: null };
  await writeAsBen("before");
  await expect(anas.message("before")).toBeVisible();
  await expect.poll(() => infoOf(1)).toEqual(read);

  const dialog = page.getByRole("alertdialog", { name: fill(texts.people.blockTitle, { name: ben.username }) });
  await anas.context.route("**/api/blocks/**", (route) => route.fulfill({ status: 503, body: "" }));
  await choose(page, texts, texts.people.block);
  await expect(dialog).toContainText(texts.people.blockBody);
  await dialog.getByRole("button", { name: texts.people.block, exact: true }).click();
  await expect(page.getByRole("alert").getByText(texts.people.blockFailed)).toBeVisible();
  await anas.context.unroute("**/api/blocks/**");
  await choose(page, texts, texts.people.block);
  await dialog.getByRole("button", { name: texts.people.block, exact: true }).click();
  await expect(page.getByRole("status").getByText(`You blocked ${ben.username}.`)).toBeVisible();
  await expect(page).toHaveURL(/\/app$/);

  // The blocked person sees no difference: the message stays "sent".
  await writeAsBen("unheard");
  expect(await infoOf(2)).toEqual(onlySent);
  const row = anas.conversation(ben.username);
  await expect(row).toContainText("before");

  // Every list of people shows who is blocked.
  const mark = { name: texts.blocked.isBlocked };
  await expect(row.getByRole("img", mark)).toBeVisible();
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.masolo.newChat }).click();
  const person = page.getByRole("dialog", { name: texts.masolo.newChat }).getByRole("button", { name: ben.username });
  await expect(person.getByRole("img", mark)).toBeVisible();
  await page.keyboard.press("Escape");
  await anas.goToTab("contacts");
  const contact = page.getByRole("list", { name: texts.contacts.title }).getByRole("link", { name: ben.username });
  await expect(contact.first().getByRole("img", mark)).toBeVisible();
  await anas.goToTab("masolo");
  await row.click();
  await expect(page.getByRole("main").getByText(fill(texts.people.youBlocked, { name: ben.username }))).toBeVisible();
  await expect(anas.composer()).toHaveCount(0);
  await expect(anas.message("before")).toBeVisible();
  await expect(anas.message("unheard")).toHaveCount(0);
  await page.getByRole("button", { name: fill(texts.people.audioCallName, { name: ben.username }) }).click();
  await expect(
    page.getByRole("alert").getByText(fill(texts.people.unblockToCall, { name: ben.username })),
  ).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);

  // The list of blocked people in one's profile.
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  await page.getByRole("link", { name: texts.blocked.title }).click();
  await expect(page).toHaveURL(/\/app\/blocked$/);
  const blocked = page.getByRole("list", { name: texts.blocked.title }).getByRole("listitem");
  await expect(blocked).toHaveCount(1);
  await expect(blocked).toContainText(ben.username);
  await expect(blocked).toContainText(formatPhone(ben.phone));
  const unblock = blocked.getByRole("button", { name: fill(texts.people.unblockName, { name: ben.username }) });
  await anas.context.route("**/api/blocks/**", (route) => route.abort());
  await unblock.click();
  await expect(page.getByRole("alert").getByText(texts.people.unblockFailed)).toBeVisible();
  await expect(blocked).toHaveCount(1);
  await anas.context.unroute("**/api/blocks/**");
  await unblock.click();
  await expect(page.getByRole("status").getByText(`You unblocked ${ben.username}.`)).toBeVisible();
  await expect(page.getByText(texts.blocked.none)).toBeVisible();

  // A message sent during the block is never delivered; one sent now is.
  await writeAsBen("heard again");
  await anas.openRoute(`/app/chat/${ben.id}`);
  await expect(anas.message("heard again")).toBeVisible();
  await expect(anas.message("unheard")).toHaveCount(0);
  await expect.poll(() => infoOf(3)).toEqual(read);
  expect(await infoOf(2)).toEqual(onlySent);
  await anas.close();
});

test("a search moves between results by keyboard, each marked at its place, also some screens above the end; a long name has two lines", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 3304);
  const [ana, ben] = people;
  const jonas = await makePerson(site, 3_350, "Jonas Tshimanga");
  await connectPeople(site, ana, jonas);
  const anas = await TestClient.open(browser, server, "pt");
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const found = new Map([
    [5, "On se voit au Marché ?"],
    [60, "le MARCHE est fermé"],
    [118, "marché conclu"],
  ]);
  await sendTexts(
    site,
    ben,
    conversation,
    Array.from({ length: 120 }, (_, i) => found.get(i + 1) ?? `message ${i + 1}`),
  );
  await expect(anas.message("message 120")).toBeVisible();

  // A layer over the chat that cannot be loaded reports it, leaves the chat as it was, and can be requested again.
  const missing = page.getByRole("alert").getByText(texts.chat.attach.notHere);
  const openMenu = () => anas.message("message 120").locator("bdi").first().click({ button: "right" });
  await page.route("**/assets/{menus,message-actions}-*", (route) => route.abort());
  await choose(page, texts, texts.chat.search);
  await expect(missing).toBeVisible();
  await anas.composer().click();
  await expect(anas.composer()).toBeFocused();
  await expect(missing).toHaveCount(0); // the next failure reports it again
  await openMenu();
  await expect(missing).toBeVisible();
  await page.unroute("**/assets/{menus,message-actions}-*");
  await openMenu();
  await expect(page.getByRole("menuitem", { name: texts.messages.copy, exact: true })).toBeVisible();
  await page.keyboard.press("Escape");

  await choose(page, texts, texts.chat.search);
  const field = page.getByRole("searchbox", { name: texts.chat.searchLabel });
  const marks = page.getByRole("main").locator("ol mark");
  const counter = (at: number) => page.getByText(fill(texts.chat.foundAt, { at, count: 3 }), { exact: true });
  await field.fill("marche");
  await expect(page.getByText(fill(texts.chat.found_other, { count: 3 }))).toBeVisible();

  await page.keyboard.press("Enter");
  await expect(counter(1)).toBeVisible();
  await expect(anas.message("marché conclu")).toBeInViewport();
  await expect(marks.filter({ hasText: "marché" })).toBeVisible();
  await expect(field).toBeFocused();
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await expect(counter(2)).toBeVisible();
  await expect(anas.message("le MARCHE est fermé")).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(counter(3)).toBeVisible();
  await expect(anas.message("On se voit au Marché ?")).toBeInViewport();
  await expect(marks.filter({ hasText: "Marché" })).toBeVisible();
  await page.keyboard.press("Shift+Enter");
  await expect(counter(2)).toBeVisible();
  await expect(anas.message("le MARCHE est fermé")).toBeInViewport();
  // After the last result it continues at the first, by buttons and by keys.
  await page.getByRole("button", { name: texts.chat.nextFound }).click();
  await page.getByRole("button", { name: texts.chat.nextFound }).click();
  await expect(counter(1)).toBeVisible();
  await expect(anas.message("marché conclu")).toBeInViewport();
  // Enter before any result is found goes to the first one when it arrives.
  await field.fill("march");
  await page.keyboard.press("Enter");
  await expect(counter(1)).toBeVisible();
  await expect(anas.message("marché conclu")).toBeInViewport();
  await page.getByRole("button", { name: texts.chat.foundList }).click();
  await expect(page.getByRole("list", { name: texts.chat.foundList }).getByRole("button")).toHaveCount(3);
  await field.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(marks).toHaveCount(0);

  // On a narrow phone a double name can be read in two lines, and the composer takes one row.
  await anas.openRoute(`/app/chat/${jonas.id}`);
  const title = page.getByRole("main").getByRole("heading", { level: 1 }).locator("bdi");
  await expect(title).toHaveText(jonas.username);
  // The end of the name is inside its box, in the second line.
  const position = await title.evaluate((element) => {
    const end = document.createRange();
    const text = element.firstChild as Text;
    end.setStart(text, text.length - 1);
    end.setEnd(text, text.length);
    const [box, last] = [element.getBoundingClientRect(), end.getBoundingClientRect()];
    return {
      line: Math.floor((last.top + last.height / 2 - box.top) / (box.height / 2)),
      isInside: last.right <= box.right + 1,
    };
  });
  expect(position).toEqual({ line: 1, isInside: true });
  expect((await page.locator("form").boundingBox())?.height).toBeLessThan(72);

  // A result some screens above the end, where the list was anchored until then.
  const wordy = (i: number) => `message ${i}${" mots et encore".repeat((i * 7) % 11)}`;
  const newest = anas.message(wordy(39));
  await sendTexts(
    site,
    jonas,
    privateConversationId(ana.id, jonas.id),
    Array.from({ length: 40 }, (_, i) => (i === 20 || i === 26 ? `au marché ${i}` : wordy(i))),
  );
  await expect(newest).toBeInViewport();
  // Enter after the result is found, and before.
  for (const isFound of [true, false]) {
    await choose(page, texts, texts.chat.search);
    await field.fill("marche");
    if (isFound) await expect(page.getByText(fill(texts.chat.found_other, { count: 2 }))).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(page.getByText(fill(texts.chat.foundAt, { at: 1, count: 2 }), { exact: true })).toBeVisible();
    await expect(anas.message("au marché 26")).toBeInViewport();
    await field.press("Escape");
    await expect(field).toHaveCount(0);
    await expect(anas.message("au marché 26")).toBeInViewport();
    await page.getByRole("button", { name: texts.chat.toLatest }).click();
    await expect(newest).toBeInViewport();
  }
  await anas.close();
});
