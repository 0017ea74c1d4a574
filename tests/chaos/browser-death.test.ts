import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { KillableBrowser } from "#tests/support/browser/killable-browser.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

/** The creation of the local store never finishes on /app. */
const makeStoreEndlessly = () => {
  if (location.pathname !== "/app") return;
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...rest) {
    const request = open.apply(this, rest);
    request.addEventListener("upgradeneeded", () => {
      document.documentElement.toggleAttribute("data-making", true);
      const store = request.result.createObjectStore("endless");
      const again = () => {
        store.put(1, 1).onsuccess = again;
      };
      again();
    });
    return request;
  };
};

test("a text written offline arrives exactly once though the browser was killed at once", async () => {
  const server = await startServer({ vars: cheapWork });
  const battery = new KillableBrowser();
  try {
    const site = toSite(server);
    const ana = await makePerson(site, 1);
    const ben = await makePerson(site, 2);
    await connectPeople(site, ana, ben);

    await (await TestClient.openIn(await battery.start(), server)).signIn(ana);
    await battery.quit();
    const phone = await TestClient.openIn(await battery.start(), server);
    await phone.openChat(ben.id);
    await phone.write("d'abord en ligne");
    await expect(phone.ticks("d'abord en ligne", "sent")).toBeVisible();

    await server.kill(); // no network: neither socket nor HTTP
    const texts = Array.from({ length: 5 }, (_, n) => `écrit sans réseau ${n + 1}`);
    for (const text of texts) await phone.write(text);
    await expect(phone.message(texts.at(-1) ?? "")).toBeVisible();
    await battery.kill();

    await server.restart();
    const reopened = await TestClient.openIn(await battery.start(), server);
    await reopened.openChat(ben.id);
    for (const text of texts) await expect(reopened.ticks(text, "sent")).toBeVisible({ timeout: 30_000 });

    const log = await readServerLog(site, ben, privateConversationId(ana.id, ben.id));
    expect(log.map(({ text }) => text)).toEqual(["d'abord en ligne", ...texts]);
  } finally {
    await battery.remove();
    await server.stop();
  }
});

test("a page that was left and frozen while creating its store does not block the next one", async () => {
  const server = await startServer({ vars: cheapWork });
  const browser = new KillableBrowser(); // with the back/forward cache, which the browser of the other tests lacks
  try {
    const site = toSite(server);
    const ana = await makePerson(site, 1);
    const ben = await makePerson(site, 2);
    await connectPeople(site, ana, ben);
    const phone = await TestClient.openIn(await browser.start(), server);
    const { page, texts } = phone;
    await page.addInitScript(makeStoreEndlessly);
    await phone.signIn(ana);
    await expect(page.locator("[data-making]")).toBeAttached();
    await phone.openChat(ben.id);
    await phone.write("tout de suite");
    await expect(phone.ticks("tout de suite", "sent")).toBeVisible();
    await expect(page.getByText(texts.shell.storage.memory)).toHaveCount(0);
  } finally {
    await browser.remove();
    await server.stop();
  }
});
