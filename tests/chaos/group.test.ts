import * as v from "valibot";
import type { InboxRow } from "#contract/conversations.ts";
import type { NewGroup } from "#contract/groups.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import { ChangesResult } from "#contract/wire/commands.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { AppDevice } from "#tests/support/model/app-device.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";
import { findDatabase, hasTable } from "#tests/support/server/databases.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";
import { seedUsers } from "#tests/support/server/seeded-users.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";

const memberCount = toSimulationSize(50, 256);
const onlineCount = toSimulationSize(14, 60);
const authorCount = 10;
const messageCount = toSimulationSize(60, 100);
const gapMs = toSimulationSize(60, 100);
const sentBeforeDeath = 0.45 * messageCount;
const downMs = toSimulationSize(1_000, 1_500);
const latecomers = toSimulationSize(2, 5);

const textOf = (n: number): string => `auteur ${n % authorCount} message ${Math.floor(n / authorCount) + 1}`;
const textsOf = (author: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => n)
    .filter((n) => n % authorCount === author)
    .map(textOf);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const call = async (site: Site, { token }: Person, method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await callSite(site, method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Row of a member in their list. */
const readRow = async (site: Site, person: Person, group: Uuid): Promise<InboxRow | undefined> => {
  const { rows } = v.parse(ChangesResult, await call(site, person, "GET", "/api/sync?since=0"));
  return rows.find(({ conversation }) => conversation === group);
};

/** Unread count of a member in the conversation's own answer. */
const askUnread = async (site: Site, person: Person, group: Uuid): Promise<number> => {
  const marks = { delivered: 0, read: 0 };
  const answer = await call(site, person, "PUT", `/api/conversations/${group}/marks`, marks);
  return v.parse(v.object({ unread: v.number() }), answer).unread;
};

/** Members whose channel has not stored that there is something newer, while the server is down. */
const countUntold = (server: Server, group: Uuid, head: number): number => {
  let count = 0;
  findDatabase(server.state, "do", (database) => {
    if (!hasTable(database, "inbox")) return false;
    const row = database.prepare("SELECT head FROM inbox WHERE conversation = ?").get(group);
    if (row && Number(row["head"]) < head) count += 1;
    return false;
  });
  return count;
};

type Line = { seq: number; sender: number; at: number; text: string };
const toLine = ({ seq, sender, at, body }: Pick<Message, "seq" | "sender" | "at" | "body">): Line => ({
  seq,
  sender,
  at,
  text: body.type === "text" ? body.text : `<${body.type}>`,
});

const recount = (log: readonly Message[], { read, hidden }: InboxRow, number: number): number =>
  log.filter((one) => one.seq > Math.max(read, hidden) && one.sender !== number && countsAsUnread({ body: one.body }))
    .length;

test("members of a large group hold the same although the runtime died twice while ten of them wrote", async () => {
  test.setTimeout(600_000); // on a machine that may be busy
  const server = await startServer({ vars: cheapWork });
  const devices: AppDevice[] = [];
  const openDevices = async (people: readonly Person[]): Promise<AppDevice[]> => {
    const opened = await Promise.all(people.map((one) => AppDevice.open(server.origin, one)));
    devices.push(...opened);
    return opened;
  };
  try {
    const site = toSite(server);
    const people = await seedUsers(server, memberCount);
    const [owner, ...others] = people;
    const group = createUuid();
    const made: NewGroup = { id: group, name: "Quartier Matonge", members: others.map(({ id }) => id) };
    await call(site, owner, "POST", "/api/groups", made);
    const online = await openDevices(people.slice(0, onlineCount));
    const authors = online.slice(0, authorCount);
    const countAt = async (place: number): Promise<number> => {
      const rows = await Promise.all(online.map((device) => device.findRow(group)));
      return rows.filter((row) => row?.storedFrom === 1 && row.storedTo === place).length;
    };
    await expect.poll(() => countAt(1), { timeout: 30_000 }).toBe(onlineCount);

    const acknowledged = new Map<number, string>();
    const countUnsent = async (): Promise<number> => {
      const counts = await Promise.all(authors.map((author) => author.countUnsent()));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const noteAcknowledged = async (): Promise<void> => {
      for (const { cid, seq, body } of (
        await Promise.all(authors.map((author) => author.listMessages(group)))
      ).flat()) {
        if (cid !== undefined && body.type === "text") acknowledged.set(seq, body.text);
      }
    };
    const readSome = async (): Promise<void> => {
      for (const device of online.filter((_, i) => i % 3 === 0)) {
        device.markRead(group, (await device.findRow(group))?.storedTo ?? 0);
      }
    };

    let unsentWhileDown = 0;
    const dieAWhile = async (): Promise<void> => {
      await server.kill();
      await noteAcknowledged();
      await pause(downMs);
      unsentWhileDown = await countUnsent();
      await server.restart();
    };
    const started = performance.now();
    const work: Promise<void>[] = [];
    for (let n = 0; n < messageCount; n++) {
      await pause(Math.max(0, started + n * gapMs - performance.now()));
      if (n === sentBeforeDeath) work.push(dieAWhile());
      if (n % 10 === 0) work.push(readSome());
      work.push(
        ...authors.slice(n % authorCount, (n % authorCount) + 1).map((author) => author.sendText(group, textOf(n))),
      );
    }
    await Promise.all(work);
    expect(unsentWhileDown).toBeGreaterThan(0);
    expect(acknowledged.size).toBeGreaterThan(0);
    let written = messageCount;
    let head = 1 + written; // the "created" message and the messages
    await expect.poll(() => countAt(head), { timeout: 120_000, intervals: [100] }).toBe(onlineCount);

    // The last message, with the server killed before all were notified of it: nothing later reminds of it. None of
    // these devices writes it, because they act before the answer arrives. If all were notified by then, it is not the
    // last one.
    for (let untold = 0; untold === 0; ) {
      const word = textOf(written);
      const author = people[written % authorCount] ?? owner;
      written += 1;
      head += 1;
      await sendTexts(site, author, group, [word]);
      await server.kill();
      await noteAcknowledged();
      acknowledged.set(head, word);
      untold = countUntold(server, group, head);
      await server.restart();
    }
    const restartedAt = performance.now();
    const sinceRestart = (): string => `${((performance.now() - restartedAt) / 1000).toFixed(1)} s`;
    await expect.poll(() => countAt(head), { timeout: 120_000, intervals: [100] }).toBe(onlineCount);
    const equalAfter = sinceRestart();

    const log = await readServerMessages(site, owner, group);
    const lines = log.map(toLine);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, i) => i + 1));
    for (const author of authors.keys()) {
      const stored = lines.filter(({ sender, text }) => sender === author && text !== "<event>");
      expect(stored.map(({ text }) => text)).toEqual(textsOf(author, written));
    }
    for (const [seq, text] of acknowledged) expect(lines[seq - 1]?.text).toBe(text);

    /** Members whose unread count in the list differs from the log's. */
    const findMiscounted = async (): Promise<unknown[]> => {
      const rows = await Promise.all(people.map((one) => readRow(site, one, group)));
      return rows.flatMap((row, number) => {
        const isRight = row?.head === head && row.unread === recount(log, row, number);
        return isRight ? [] : [{ number, head: row?.head, read: row?.read, unread: row?.unread }];
      });
    };
    await expect.poll(findMiscounted, { timeout: 120_000 }).toEqual([]);
    const countedAfter = sinceRestart();

    for (const device of await openDevices(people.slice(-latecomers))) {
      device.openConversation(group);
      await expect.poll(async () => (await device.findRow(group))?.storedTo, { timeout: 20_000 }).toBe(head);
      await device.loadWholeHistory(group);
    }
    for (const device of devices) {
      expect((await device.listMessages(group)).map(toLine)).toEqual(lines);
      expect(await device.countUnsent()).toBe(0);
    }
    const listed = await Promise.all(people.map((one) => readRow(site, one, group)));
    const counted = await Promise.all(people.map((one) => askUnread(site, one, group)));
    expect(listed.map((row) => row?.unread)).toEqual(counted);
    for (const device of devices) {
      expect((await device.findRow(group))?.unread).toBe(counted[people.indexOf(device.person)]);
    }
    test.info().annotations.push({
      type: "measured",
      description: `after the last restart all devices were equal within ${equalAfter}, all lists within ${countedAfter}`,
    });
  } finally {
    await Promise.all(devices.map((device) => device.close()));
    await server.stop();
  }
});
