import { cpSync, rmSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { openPair } from "#tests/support/people/pair.ts";
import { makePerson, testPassword } from "#tests/support/people/people.ts";
import { countOutbox, readLocalLog, readServerLog } from "#tests/support/server/logs.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";

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

/** Stops the server and stores a copy of its state; the function returned replaces the state by the copy. */
const copyState = async (server: Server) => {
  const copy = `${server.state}-copy`;
  await server.kill();
  cpSync(server.state, copy, { recursive: true });
  await server.restart();
  const restore = async () => {
    await server.kill();
    rmSync(server.state, { recursive: true });
    cpSync(copy, server.state, { recursive: true });
    await server.restart();
  };
  return { restore, remove: () => rmSync(copy, { recursive: true, force: true }) };
};

test("phones that renewed since the copy stay signed in, and what they sent since is on the server again", async ({
  browser,
}) => {
  const server = await startServer({ vars: cheapWork });
  let copy: Awaited<ReturnType<typeof copyState>> | undefined;
  try {
    const { site, people, phones, conversation } = await openPair(browser, server, 1);
    const [ana, ben] = phones;
    await ana.write("avant");
    await expect(ben.message("avant")).toBeVisible({ timeout: 30_000 });
    copy = await copyState(server);

    for (let n = 0; n < 2; n++) for (const { page } of phones) await renewSession(page);
    await ana.write("perdu d'Ana");
    await ben.write("perdu de Ben");
    await expect(ana.ticks("perdu d'Ana", "read")).toBeVisible({ timeout: 30_000 });
    await expect(ben.ticks("perdu de Ben", "read")).toBeVisible({ timeout: 30_000 });
    await copy.restore();

    for (const { page } of phones) await renewSession(page);
    await expect
      .poll(async () => (await readServerLog(site, people[0], conversation)).map(({ text }) => text).sort(), {
        timeout: 60_000,
      })
      .toEqual(["avant", "perdu d'Ana", "perdu de Ben"]);
    const log = await readServerLog(site, people[0], conversation);
    for (const { page } of phones) {
      await expect.poll(() => readLocalLog(page, conversation), { timeout: 30_000 }).toEqual(log);
      await expect.poll(() => countOutbox(page)).toBe(0);
    }
  } finally {
    copy?.remove();
    await server.stop();
  }
});

test("a session that the copy does not know locks its data until the same person signs in again, who loses nothing", async ({
  browser,
}) => {
  const server = await startServer({ vars: cheapWork });
  let copy: Awaited<ReturnType<typeof copyState>> | undefined;
  try {
    const { site, people, phones, conversation } = await openPair(browser, server, 1);
    const cleo = await makePerson(site, 3, "Cleo Nsimba");
    const [ana, ben] = phones;
    await ana.write("avant");
    await expect(ben.message("avant")).toBeVisible({ timeout: 30_000 });
    copy = await copyState(server);

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
    await copy.restore();

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
    await expect
      .poll(async () => (await readServerLog(site, people[0], conversation)).map(({ text }) => text), {
        timeout: 60_000,
      })
      .toEqual(["avant", "perdu d'Ana"]);
  } finally {
    copy?.remove();
    await server.stop();
  }
});
