import { expect, test } from "#tests/support/browser/closing-test.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { openPair } from "#tests/support/people/pair.ts";
import { countOutbox, type LogLine, readLocalLog, readScreen, readServerLog } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

const deaths = toSimulationSize(2, 4);
const perDeath = 50;
const messagesEach = deaths * perDeath;
const whileAlive = 0.7 * perDeath; // the rest is written while there is no server

const textsOf = (name: string, death: number): string[] =>
  Array.from({ length: perDeath }, (_, i) => `${name} ${(death - 1) * perDeath + i + 1}`);

const textsFrom = (log: LogLine[], sender: number) =>
  log.filter((line) => line.sender === sender).map(({ text }) => text);

test("the runtime dies several times while two people write hundreds of messages, and nothing is lost", async ({
  browser,
}) => {
  test.setTimeout(600_000);
  const server = await startServer({ vars: cheapWork });
  try {
    const { site, people, phones, conversation } = await openPair(browser, server, 1);
    const names = ["ana", "ben"] as const;

    // A message with a seq on a device was acknowledged by the server. At the end it must still be there with that seq.
    const acknowledged = new Map<number, string>();
    let unanswered = 0;
    for (let death = 1; death <= deaths; death++) {
      const heldBefore = Math.max(0, ...acknowledged.keys());
      const texts = names.map((name) => textsOf(name, death));
      const writing = phones.map((phone, i) => phone.writeAll(texts[i]?.slice(0, whileAlive) ?? []));
      // Compares seqs, not counts: a device that was far behind starts again with the newest page.
      const findNewest = async () => (await readLocalLog(phones[0].page, conversation)).at(-1)?.seq ?? 0;
      await expect.poll(findNewest, { intervals: [50], timeout: 60_000 }).toBeGreaterThan(heldBefore + perDeath / 4);
      await server.kill();
      for (const phone of phones) {
        unanswered += await countOutbox(phone.page);
        for (const line of await readLocalLog(phone.page, conversation)) acknowledged.set(line.seq, line.text);
      }
      await Promise.all(writing);
      await Promise.all(phones.map((phone, i) => phone.writeAll(texts[i]?.slice(whileAlive) ?? [])));
      await server.restart();
    }
    expect(unanswered).toBeGreaterThan(0); // the server died in between
    for (const phone of phones) await expect.poll(() => countOutbox(phone.page), { timeout: 90_000 }).toBe(0);

    const log = await readServerLog(site, people[0], conversation);
    const total = 2 * messagesEach;
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    people.forEach((person, i) => {
      const written = Array.from({ length: deaths }, (_, death) => textsOf(names[i] ?? "", death + 1)).flat();
      expect(textsFrom(log, conversation.startsWith(person.id) ? 0 : 1)).toEqual(written);
    });
    for (const [seq, text] of acknowledged) expect(log[seq - 1]?.text).toBe(text);

    for (const phone of phones) {
      await expect
        .poll(async () => (await readLocalLog(phone.page, conversation)).at(-1)?.seq, { timeout: 30_000 })
        .toBe(total);
      const local = await readLocalLog(phone.page, conversation);
      expect(local).toEqual(log.slice(-local.length));
    }
    const screens = phones.map(async (phone) => {
      await phone.page.reload();
      await expect(phone.message(log.at(-1)?.text ?? "")).toBeVisible();
      expect(await readScreen(phone.page, log[0]?.text ?? "")).toEqual(log.map(({ text }) => text));
    });
    await Promise.all(screens);
  } finally {
    await server.stop();
  }
});
