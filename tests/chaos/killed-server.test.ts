import { expect, test } from "#tests/support/browser/closing-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { AppDevice } from "#tests/support/model/app-device.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import {
  countOutbox,
  type LogLine,
  readLocalLog,
  readScreen,
  readServerLog,
  toLogLine,
} from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";

const deaths = toSimulationSize(2, 4);
const perDeath = toSimulationSize(30, 50);
const messagesEach = deaths * perDeath;
const whileAlive = 0.7 * perDeath; // the rest is written while there is no server
const gapMs = 25; // between two messages of the device, about as a page writes them

const textsOf = (name: string, death: number): string[] =>
  Array.from({ length: perDeath }, (_, i) => `${name} ${(death - 1) * perDeath + i + 1}`);

const textsFrom = (log: LogLine[], sender: number) =>
  log.filter((line) => line.sender === sender).map(({ text }) => text);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("the runtime dies several times while two people write many messages, and nothing is lost", async ({
  browser,
}) => {
  test.setTimeout(600_000);
  const server = await startServer({ vars: cheapWork });
  try {
    const site = toSite(server);
    const { people, conversation } = await makePair(site, 1);
    const [ana, ben] = people;
    const phone = await TestClient.open(browser, server);
    await phone.signInToChat(ana, ben.id);
    const device = await AppDevice.open(server.origin, ben);
    device.openConversation(conversation);
    const writers = [
      (texts: string[]) => phone.writeAll(texts),
      async (texts: string[]) => {
        for (const text of texts) {
          await device.sendText(conversation, text);
          await pause(gapMs);
        }
      },
    ];
    const readLogs = async () => [
      await readLocalLog(phone.page, conversation),
      (await device.listMessages(conversation)).map(toLogLine),
    ];
    const names = ["ana", "ben"] as const;

    // A message with a seq on a device was acknowledged by the server. At the end it must still be there with that seq.
    const acknowledged = new Map<number, string>();
    const countUnsent = async () => (await countOutbox(phone.page)) + device.countUnsent();
    let unanswered = 0;
    for (let death = 1; death <= deaths; death++) {
      const heldBefore = Math.max(0, ...acknowledged.keys());
      const texts = names.map((name) => textsOf(name, death));
      const writing = writers.map((write, i) => write(texts[i]?.slice(0, whileAlive) ?? []));
      // Compares seqs, not counts: a device that was far behind starts again with the newest page.
      const findNewest = async () => (await readLocalLog(phone.page, conversation)).at(-1)?.seq ?? 0;
      await expect.poll(findNewest, { intervals: [50], timeout: 60_000 }).toBeGreaterThan(heldBefore + perDeath / 4);
      await server.kill();
      unanswered += await countUnsent();
      for (const { seq, text } of (await readLogs()).flat()) acknowledged.set(seq, text);
      await Promise.all(writing);
      await Promise.all(writers.map((write, i) => write(texts[i]?.slice(whileAlive) ?? [])));
      await server.restart();
    }
    expect(unanswered).toBeGreaterThan(0); // the server died in between
    await expect.poll(countUnsent, { timeout: 90_000 }).toBe(0);

    const log = await readServerLog(site, ana, conversation);
    const total = 2 * messagesEach;
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    people.forEach((person, i) => {
      const written = Array.from({ length: deaths }, (_, death) => textsOf(names[i] ?? "", death + 1)).flat();
      expect(textsFrom(log, conversation.startsWith(person.id) ? 0 : 1)).toEqual(written);
    });
    for (const [seq, text] of acknowledged) expect(log[seq - 1]?.text).toBe(text);

    const findEnds = async () => (await readLogs()).map((local) => local.at(-1)?.seq);
    await expect.poll(findEnds, { timeout: 30_000 }).toEqual([total, total]);
    for (const local of await readLogs()) expect(local).toEqual(log.slice(-local.length));
    await device.close();
    await phone.page.reload();
    await expect(phone.message(log.at(-1)?.text ?? "")).toBeVisible();
    expect(await readScreen(phone.page, log[0]?.text ?? "")).toEqual(log.map(({ text }) => text));
  } finally {
    await server.stop();
  }
});
