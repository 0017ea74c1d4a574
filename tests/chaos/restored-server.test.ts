import { expect, test } from "#tests/support/browser/closing-test.ts";
import { openPair } from "#tests/support/people/pair.ts";
import { countOutbox, readLocalLog, readServerLog } from "#tests/support/server/logs.ts";
import { startRestorableServer } from "#tests/support/server/restorable-server.ts";

const slowPageMs = 3_000;

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name} ${i + 1}`);

for (const isAway of [false, true]) {
  test(`after a server is restored from an earlier copy both people have the same log again, ${isAway ? "one offline meanwhile" : "both online"}`, async ({
    browser,
  }) => {
    test.setTimeout(240_000);
    const restorable = await startRestorableServer();
    const { server } = restorable;
    try {
      const { site, people, phones, conversation } = await openPair(browser, server, 1);
      const [ana, ben] = phones;
      const endsWith = async (text: string) => {
        for (const phone of phones) await expect(phone.message(text)).toBeVisible({ timeout: 30_000 });
      };
      await ana.writeAll(numbered("avant", 11));
      await endsWith("avant 11");
      await restorable.copy();

      await ana.writeAll(numbered("perdu", 7));
      await endsWith("perdu 7");
      await ben.writeAll(["perdu de Ben"]);
      await endsWith("perdu de Ben");
      for (const phone of phones) await expect.poll(() => countOutbox(phone.page)).toBe(0);
      if (isAway) await ben.context.setOffline(true);
      await restorable.restore();
      await ana.writeAll(numbered("après", 4));
      // Its tick may show "read" at once if Ben has it open.
      await expect(ana.message("après 4")).toBeVisible({ timeout: 60_000 });
      await expect.poll(() => countOutbox(ana.page), { timeout: 60_000 }).toBe(0);
      if (isAway) await ben.context.setOffline(false);

      const all = [...numbered("avant", 11), ...numbered("perdu", 7), ...numbered("après", 4), "perdu de Ben"].sort();
      const readTexts = async () => (await readServerLog(site, people[0], conversation)).map(({ text }) => text);
      await expect.poll(async () => (await readTexts()).sort(), { timeout: 60_000 }).toEqual(all);
      const log = await readServerLog(site, people[0], conversation);
      for (const { page } of phones)
        await expect.poll(() => readLocalLog(page, conversation), { timeout: 30_000 }).toEqual(log);
      await endsWith("après 4");
    } finally {
      await restorable.stop();
    }
  });
}

test("a message that waits for a restored server with slow answers follows the messages that it lost", async ({
  browser,
}) => {
  test.setTimeout(240_000);
  const restorable = await startRestorableServer();
  try {
    const { site, people, phones, conversation } = await openPair(browser, restorable.server, 1);
    const [ana, ben] = phones;
    await ana.page.routeWebSocket(/\/api\/socket/, (socket) => {
      const upstream = socket.connectToServer();
      /** A page of history. */
      const isPage = (text: string | Buffer) => String(text).includes('["g",');
      upstream.onMessage((text) => setTimeout(() => socket.send(text), isPage(text) ? slowPageMs : 0));
    });
    await ana.page.reload();
    await ana.write("avant");
    await expect(ben.message("avant")).toBeVisible({ timeout: 30_000 });
    await restorable.copy();
    await ana.writeAll(["perdu 1", "perdu 2"]);
    await expect(ben.message("perdu 2")).toBeVisible({ timeout: 30_000 });
    await expect.poll(() => countOutbox(ana.page)).toBe(0);

    await ana.context.setOffline(true);
    await restorable.restore();
    await ben.writeAll(numbered("de Ben", 6));
    await expect.poll(() => countOutbox(ben.page), { timeout: 60_000 }).toBe(0);
    await ana.write("en attente");
    await ana.context.setOffline(false);

    const readTexts = async () => (await readServerLog(site, people[0], conversation)).map(({ text }) => text);
    const all = ["avant", ...numbered("de Ben", 6), "perdu 1", "perdu 2", "en attente"];
    await expect.poll(readTexts, { timeout: 60_000 }).toEqual(all);
    const log = await readServerLog(site, people[0], conversation);
    for (const phone of phones)
      await expect.poll(() => readLocalLog(phone.page, conversation), { timeout: 30_000 }).toEqual(log);
  } finally {
    await restorable.stop();
  }
});
