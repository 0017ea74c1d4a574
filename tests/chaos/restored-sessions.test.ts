import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { openPair, type Pair } from "#tests/support/people/pair.ts";
import { makePerson, testPassword } from "#tests/support/people/people.ts";
import { countOutbox, readLocalLog, readServerLog } from "#tests/support/server/logs.ts";
import { startRestorableServer } from "#tests/support/server/restorable-server.ts";

/** Sessions of a server whose storage is replaced by an earlier copy. */

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

/** Texts of the server's log, as its members read it. */
const readTexts = async ({ site, people, conversation }: Pair): Promise<string[]> =>
  (await readServerLog(site, people[0], conversation)).map(({ text }) => text);

test("phones that renewed since the copy stay signed in, and what they sent since is on the server again", async ({
  browser,
}) => {
  const restorable = await startRestorableServer();
  try {
    const pair = await openPair(browser, restorable.server, 1);
    const { site, people, phones, conversation } = pair;
    const [ana, ben] = phones;
    await ana.write("avant");
    await expect(ben.message("avant")).toBeVisible({ timeout: 30_000 });
    await restorable.copy();

    for (let n = 0; n < 2; n++) for (const { page } of phones) await renewSession(page);
    await ana.write("perdu d'Ana");
    await ben.write("perdu de Ben");
    await expect(ana.ticks("perdu d'Ana", "read")).toBeVisible({ timeout: 30_000 });
    await expect(ben.ticks("perdu de Ben", "read")).toBeVisible({ timeout: 30_000 });
    await restorable.restore();

    for (const { page } of phones) await renewSession(page);
    await expect
      .poll(async () => (await readTexts(pair)).sort(), { timeout: 60_000 })
      .toEqual(["avant", "perdu d'Ana", "perdu de Ben"]);
    const log = await readServerLog(site, people[0], conversation);
    for (const { page } of phones) {
      await expect.poll(() => readLocalLog(page, conversation), { timeout: 30_000 }).toEqual(log);
      await expect.poll(() => countOutbox(page)).toBe(0);
    }
  } finally {
    await restorable.stop();
  }
});

test("a session that the copy does not know locks its data until the same person signs in again, who loses nothing", async ({
  browser,
}) => {
  const restorable = await startRestorableServer();
  try {
    const pair = await openPair(browser, restorable.server, 1);
    const { site, people, phones, conversation } = pair;
    const cleo = await makePerson(site, 3, "Cleo Nsimba");
    const [ana, ben] = phones;
    await ana.write("avant");
    await expect(ben.message("avant")).toBeVisible({ timeout: 30_000 });
    await restorable.copy();

    const status = await ana.page.evaluate(
      async (body) => {
        const headers = { "content-type": "application/json", "x-session-transport": "cookie" };
        const path = "/api/auth/token?grant_type=password";
        return (await fetch(path, { method: "POST", headers, body: JSON.stringify(body) })).status;
      },
      { phone: people[0].phone, password: testPassword },
    );
    expect(status).toBe(200);
    await ana.page.reload();
    await ana.write("perdu d'Ana");
    await expect(ana.ticks("perdu d'Ana", "read")).toBeVisible({ timeout: 30_000 });
    await ben.context.close(); // only her phone has it
    await restorable.restore();

    await expect(ana.page).toHaveURL(/\/login$/, { timeout: 60_000 });
    await expect(ana.page.getByText(ana.texts.auth.sessionEnded)).toBeVisible();
    expect((await readLocalLog(ana.page, conversation)).map(({ text }) => text)).toEqual(["avant", "perdu d'Ana"]);
    expect(await ana.page.evaluate(async () => (await caches.keys()).includes("first-views"))).toBe(false);

    await ana.logIn(cleo.phone);
    await expect(ana.page.getByText(ana.texts.masolo.emptyTitle)).toBeVisible({ timeout: 30_000 });
    await expect(ana.page.getByText("perdu d'Ana")).toHaveCount(0);
    await ana.goTo("/app/profile");
    await ana.page.getByRole("button", { name: ana.texts.profile.signOut, exact: true }).click();
    await ana.page.waitForURL(/\/(login)?$/);
    expect((await readLocalLog(ana.page, conversation)).map(({ text }) => text)).toEqual(["avant", "perdu d'Ana"]);

    await ana.logIn(people[0].phone);
    await expect.poll(() => readTexts(pair), { timeout: 60_000 }).toEqual(["avant", "perdu d'Ana"]);
  } finally {
    await restorable.stop();
  }
});
