import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { expectSameLogs } from "#tests/support/people/friends.ts";
import { openPair, toSite } from "#tests/support/people/pair.ts";
import { makePerson, nameOf, phoneOf } from "#tests/support/people/people.ts";

test.use(withServiceWorker); // as browsers are

/** Slow disk: nothing written to the outbox is stored before the page closes. */
const holdOutbox = () => {
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, names, mode, options) {
    const transaction = begin.call(this, names, mode, options);
    if (mode === "readwrite" && transaction.objectStoreNames.contains("outbox")) {
      const store = transaction.objectStore("outbox");
      const goOn = () => {
        store.count().onsuccess = goOn;
      };
      goOn();
    }
    return transaction;
  };
};

test("a newcomer registers, finds somebody, connects and talks, in French with somebody in English", async ({
  browser,
  server,
}) => {
  const [a, b] = [400, 401];
  const ana = await TestClient.open(browser, server);
  const ben = await TestClient.open(browser, server, "en");
  const { texts } = ana;
  await ana.register(nameOf(a), phoneOf(a));
  await ben.signIn(await makePerson(toSite(server), b));
  await expect(ana.page.getByText(texts.masolo.emptyTitle)).toBeVisible();

  // Senga: the number, then a request.
  await ben.goToTab("senga");
  await ana.goToTab("senga");
  const search = ana.page.getByRole("searchbox", { name: texts.senga.searchLabel });
  await search.fill(phoneOf(b));
  await search.press("Enter");
  const found = ana.page.getByRole("list", { name: texts.senga.results });
  await expect(found.getByText(nameOf(b))).toBeVisible();
  await expect(found.getByText(nameOf(a))).toHaveCount(0);
  await found.getByRole("button", { name: texts.senga.add }).click();
  await expect(found.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();

  // It appears on the other side live; accepted, both have a contact.
  const accept = ben.page.getByRole("button", { name: fill(ben.texts.senga.acceptName, { name: nameOf(a) }) });
  await expect(accept).toBeVisible();
  await accept.click();
  await expect(ben.page.getByText(ben.texts.senga.noReceived.title)).toBeVisible();
  await expect(found.getByRole("link", { name: texts.senga.message })).toBeVisible();
  await ben.goToTab("contacts");
  await expect(ben.page.getByRole("list", { name: ben.texts.contacts.title }).getByText(nameOf(a))).toBeVisible();
  await ana.goToTab("contacts");

  // A chat opened from a contact; the other person watches the list.
  await ben.goToTab("masolo");
  await ana.page.getByRole("list", { name: texts.contacts.title }).getByText(nameOf(b)).click();
  await ana.write("Mbote, Ben!");
  await expect(ana.ticks("Mbote, Ben!", "delivered")).toBeVisible();
  const row = ben.conversation(nameOf(a));
  await expect(row).toContainText("Mbote, Ben!");
  await expect(row.getByText("1", { exact: true })).toBeVisible();

  // Read, answered, read.
  await row.click();
  await expect(ben.message("Mbote, Ben!")).toBeVisible();
  await expect(ana.ticks("Mbote, Ben!", "read")).toBeVisible();
  await ben.write("Mbote na yo, Ana 👋");
  await expect(ana.message("Mbote na yo, Ana 👋")).toBeVisible();
  await expect(ben.ticks("Mbote na yo, Ana 👋", "read")).toBeVisible();

  // Everything is there after a reload, and nothing is unread.
  await ben.page.reload();
  await expect(ben.message("Mbote, Ben!")).toBeVisible();
  await expect(ben.message("Mbote na yo, Ana 👋")).toBeVisible();
  await ben.openRoute("/app");
  await expect(ben.conversation(nameOf(a))).toContainText("Mbote na yo, Ana 👋");

  // Deleted from my view, not from theirs.
  await ben.conversation(nameOf(a)).hover();
  await ben.page.getByRole("button", { name: fill(ben.texts.masolo.deleteNamed, { name: nameOf(a) }) }).click();
  await ben.page.getByRole("alertdialog").getByRole("button", { name: ben.texts.common.delete }).click();
  await expect(ben.page.getByText(ben.texts.masolo.emptyTitle)).toBeVisible();
  await expect(ana.message("Mbote, Ben!")).toBeVisible();

  await ana.close();
  await ben.close();
});

test("a conversation goes on through an offline phone, a third tab and a reload", async ({ browser, server }) => {
  const { people, conversation, phones } = await openPair(browser, server, 410);
  const [ana, ben] = phones;
  const benId = people[1].id;
  await ana.write("avant");
  await expect(ben.message("avant")).toBeVisible();
  await waitForOfflineReady(ben.page);

  // Ben's network fails. He still reads, reloads and writes; Ana keeps writing, in a third tab too.
  await ben.context.setOffline(true);
  await ben.page.evaluate(holdOutbox);
  await ben.write("écrit hors ligne 1");
  await expect(ben.composer()).toHaveValue("");
  await ben.page.reload();
  await expect(ben.message("avant")).toBeVisible();
  await expect(ben.ticks("écrit hors ligne 1", "sending")).toBeVisible();
  await expect(ben.composer()).toHaveValue("");
  await ben.write("écrit hors ligne 2");
  const third = await ana.context.newPage();
  await ana.openChat(benId, third);
  await expect(ana.message("avant", third)).toBeVisible();
  for (let n = 1; n <= 10; n++) await ana.write(`pendant ${n}`, n % 2 === 0 ? third : ana.page);
  await ana.page.reload();
  await expect(ana.ticks("pendant 10", "sent")).toBeVisible();
  await expect(ana.message("pendant 10", third)).toBeVisible();

  // The network returns: each has every message once, in one order.
  await ben.context.setOffline(false);
  await expect(ana.message("écrit hors ligne 2")).toBeVisible();
  await expect(ben.message("pendant 10")).toBeVisible();
  await expect(ben.ticks("écrit hors ligne 2", "read")).toBeVisible();
  const expected = 1 + 2 + 10;
  const log = await expectSameLogs([ana, { page: third }, ben], conversation, 1, expected);
  expect(new Set(log.map(({ text }) => text)).size).toBe(expected);
  await ana.close();
  await ben.close();
});
