import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { AppDevice } from "#tests/support/model/app-device.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { makePerson, testPassword } from "#tests/support/people/people.ts";
import { countOutbox, readLocalLog, readServerLog, readServerTexts, toLogLine } from "#tests/support/server/logs.ts";
import { type RestorableServer, startRestorableServer } from "#tests/support/server/restorable-server.ts";

/** A server whose storage is replaced by an earlier copy. */

const slowPageMs = 3_000;

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name} ${i + 1}`);

const readExpiry = (page: Page): Promise<number> =>
  page.evaluate(() => JSON.parse(localStorage.getItem("session") ?? "{}").expiresAt ?? 0);

/** Makes the page renew its session, as it does every eight minutes while it is visible. */
const renewSession = async (page: Page): Promise<void> => {
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem("session") ?? "{}");
    localStorage.setItem("session", JSON.stringify({ ...session, expiresAt: 0 }));
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await expect.poll(() => readExpiry(page), { timeout: 60_000 }).toBeGreaterThan(Date.now());
};

let restorable: RestorableServer;
test.beforeEach(async () => {
  restorable = await startRestorableServer();
});
test.afterEach(async () => {
  await restorable.stop();
});

test("after a restore both people have the same log again, online or offline meanwhile, a text that waited follows those that were lost, and who renewed since stays signed in", async ({
  browser,
}) => {
  const { server } = restorable;
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 1);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server);
  let pageMs = 0;
  await anas.page.routeWebSocket(/\/api\/socket/, (socket) => {
    const upstream = socket.connectToServer();
    /** A page of history. */
    const isPage = (text: string | Buffer) => String(text).includes('["g",');
    upstream.onMessage((text) => setTimeout(() => socket.send(text), isPage(text) ? pageMs : 0));
  });
  await anas.signInToChat(ana, ben.id);
  const bens = await AppDevice.open(server.origin, ben);
  const writeAsBen = async (texts: string[]) => {
    for (const text of texts) await bens.sendText(conversation, text);
  };

  const readTexts = () => readServerTexts(site, ana, conversation);
  const expectEqualLogs = async () => {
    const log = await readServerLog(site, ana, conversation);
    await expect.poll(() => readLocalLog(anas.page, conversation), { timeout: 30_000 }).toEqual(log);
    const readBens = async () => (await bens.listMessages(conversation)).map(toLogLine);
    await expect.poll(readBens, { timeout: 30_000 }).toEqual(log);
    await expect.poll(() => countOutbox(anas.page)).toBe(0);
    await expect.poll(() => bens.countUnsent()).toBe(0);
  };

  const before = numbered("avant", 11);
  await writeAsBen(before);
  await expect(anas.message("avant 11")).toBeVisible({ timeout: 30_000 });
  await restorable.copy();

  // Both are online, and write before the restore and after it.
  for (let n = 0; n < 2; n++) await renewSession(anas.page);
  const lost = numbered("perdu de Ben", 7);
  await writeAsBen(lost);
  await anas.write("perdu d'Ana");
  await expect.poll(async () => (await readTexts()).length, { timeout: 30_000 }).toBe(before.length + lost.length + 1);
  await expectEqualLogs();
  await restorable.restore();
  await renewSession(anas.page);
  const after = numbered("après", 4);
  await writeAsBen(after);
  await expect
    .poll(async () => (await readTexts()).sort(), { timeout: 60_000 })
    .toEqual([...before, ...lost, ...after, "perdu d'Ana"].sort());
  await expectEqualLogs();
  await expect(anas.message("après 4")).toBeVisible({ timeout: 30_000 });

  // Ana is offline, and gets slow answers afterwards. Her new message follows those that the server lost again.
  pageMs = slowPageMs;
  await anas.writeAll(["perdu 1", "perdu 2"]);
  await expect.poll(async () => (await readTexts()).slice(-2), { timeout: 30_000 }).toEqual(["perdu 1", "perdu 2"]);
  await expectEqualLogs();
  await anas.context.setOffline(true);
  await restorable.restore();
  const meanwhile = numbered("de Ben", 6);
  await writeAsBen(meanwhile);
  await expect
    .poll(async () => (await readTexts()).sort(), { timeout: 60_000 })
    .toEqual([...before, ...lost, ...after, ...meanwhile].sort());
  const bensPart = await readTexts(); // a text written before his device noticed the restore may stand first
  await anas.write("en attente");
  await anas.context.setOffline(false);
  const anasPart = ["perdu d'Ana", "perdu 1", "perdu 2", "en attente"];
  await expect.poll(readTexts, { timeout: 60_000 }).toEqual([...bensPart, ...anasPart]);
  await expectEqualLogs();
  await bens.close();
});

test("a session that the copy does not know locks its data until the same person signs in again, who loses nothing", async ({
  browser,
}) => {
  const { server } = restorable;
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 1);
  const cleo = await makePerson(site, 3, "Cleo Nsimba");
  const [ana, ben] = people;
  const phone = await TestClient.open(browser, server); // only her phone has the messages
  const { page, texts } = phone;
  await phone.signInToChat(ana, ben.id);
  await phone.write("avant");
  await expect(phone.ticks("avant", "sent")).toBeVisible({ timeout: 30_000 });
  await restorable.copy();

  const status = await page.evaluate(
    async (body) => {
      const headers = { "content-type": "application/json", "x-session-transport": "cookie" };
      const path = "/api/auth/token?grant_type=password";
      return (await fetch(path, { method: "POST", headers, body: JSON.stringify(body) })).status;
    },
    { phone: ana.phone, password: testPassword },
  );
  expect(status).toBe(200);
  await page.reload();
  await phone.write("perdu d'Ana");
  await expect(phone.ticks("perdu d'Ana", "sent")).toBeVisible({ timeout: 30_000 });
  await restorable.restore();

  const readHeld = async () => (await readLocalLog(page, conversation)).map(({ text }) => text);
  await expect(page).toHaveURL(/\/login$/, { timeout: 60_000 });
  await expect(page.getByText(texts.auth.sessionEnded)).toBeVisible();
  expect(await readHeld()).toEqual(["avant", "perdu d'Ana"]);
  expect(await page.evaluate(async () => (await caches.keys()).includes("first-views"))).toBe(false);

  await phone.logIn(cleo.phone);
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("perdu d'Ana")).toHaveCount(0);
  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL(/\/(login)?$/);
  expect(await readHeld()).toEqual(["avant", "perdu d'Ana"]);

  await phone.logIn(ana.phone);
  const readTexts = () => readServerTexts(site, ana, conversation);
  await expect.poll(readTexts, { timeout: 60_000 }).toEqual(["avant", "perdu d'Ana"]);
});
