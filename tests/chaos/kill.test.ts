import { expect, test } from "@playwright/test";
import { countOutbox, type Line, readLocalLog, readScreen, readServerLog } from "../support/logs";
import { openPair } from "../support/pair";
import type { Phone } from "../support/phone";
import { startServer } from "../support/server";

const messagesEach = 500;
const deaths = 5;

/** Writes as fast as the phone takes it, and says when it is done. */
const writeAll = async (phone: Phone, name: string) => {
  for (let n = 1; n <= messagesEach; n++) await phone.write(`${name} ${n}`);
};

const textsFrom = (log: Line[], sender: number) => log.filter((line) => line.sender === sender).map(({ text }) => text);

test("the runtime dies five times while two people write 500 messages each, and nothing is lost", async ({
  browser,
}) => {
  test.setTimeout(600_000);
  const server = await startServer();
  try {
    const { site, people, phones, conversation } = await openPair(browser, server, 1);
    const names = ["ana", "ben"] as const;
    const writing = Promise.all(phones.map((phone, i) => writeAll(phone, names[i] ?? "")));

    // What a phone holds with a place is what the server acknowledged. It has to be there at the end, in that place.
    const acknowledged = new Map<number, string>();
    for (let death = 1; death <= deaths; death++) {
      await phones[0].page.waitForTimeout(2_500);
      await server.kill();
      for (const phone of phones) {
        for (const line of await readLocalLog(phone.page, conversation)) acknowledged.set(line.seq, line.text);
      }
      await phones[0].page.waitForTimeout(500);
      await server.restart();
    }
    await writing;
    for (const phone of phones) await expect.poll(() => countOutbox(phone.page), { timeout: 90_000 }).toBe(0);

    const log = await readServerLog(site, people[0], conversation);
    const total = 2 * messagesEach;
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    people.forEach((person, i) => {
      const sender = conversation.startsWith(person.id) ? 0 : 1;
      const written = Array.from({ length: messagesEach }, (_, n) => `${names[i]} ${n + 1}`);
      expect(textsFrom(log, sender)).toEqual(written);
    });
    for (const [seq, text] of acknowledged) expect(log[seq - 1]?.text).toBe(text);
    expect(acknowledged.size).toBeGreaterThan(0);

    for (const phone of phones) {
      await expect
        .poll(async () => (await readLocalLog(phone.page, conversation)).length, { timeout: 30_000 })
        .toBe(total);
      expect(await readLocalLog(phone.page, conversation)).toEqual(log);
    }
    for (const phone of phones) {
      await phone.page.reload();
      await expect(phone.message(log.at(-1)?.text ?? "")).toBeVisible();
      expect(await readScreen(phone.page, log[0]?.text ?? "")).toEqual(log.map(({ text }) => text));
    }
  } finally {
    await server.stop();
  }
});
