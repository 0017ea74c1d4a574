import { expect, test } from "@playwright/test";
import * as v from "valibot";
import { ChangesResult } from "../../contract/commands";
import { type InboxRow, isToRead, type Message } from "../../contract/conversations";
import { groupPath, type NewGroup } from "../../contract/groups";
import { createUuid, type Uuid } from "../../contract/ids";
import { AppDevice } from "../support/app-device";
import { seedCrowd } from "../support/crowd";
import { readServerMessages } from "../support/logs";
import { siteOf } from "../support/pair";
import { callSite, type Person, type Site } from "../support/people";
import { startServer } from "../support/server";

const members = 256;
const online = 60;
const authors = 10;
const messages = 100;
const gapMs = 100;
const messagesBeforeDeath = 45;
const downMs = 1_500;
const latecomers = 5;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const makeGroup = async (site: Site, owner: Person, others: readonly Person[]): Promise<Uuid> => {
  const id = createUuid();
  const body: NewGroup = { id, name: "Quartier Matonge", members: others.map((one) => one.id) };
  const made = await callSite(site, "POST", "/api/groups", { token: owner.token, body });
  if (made.status !== 200) throw new Error(`no group: ${made.status} ${JSON.stringify(made.body)}`);
  return id;
};

const call = async (site: Site, { token }: Person, method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await callSite(site, method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** A member's row, as their list has it. */
const readRow = async (site: Site, person: Person, group: Uuid): Promise<InboxRow | undefined> => {
  const { rows } = v.parse(ChangesResult, await call(site, person, "GET", "/api/sync?since=0"));
  return rows.find(({ conversation }) => conversation === group);
};

/** What the conversation counts for a member when it is asked. */
const askUnread = async (site: Site, person: Person, group: Uuid): Promise<number> => {
  const marks = { delivered: 0, read: 0 };
  const answer = await call(site, person, "PUT", `/api/conversations/${group}/marks`, marks);
  return v.parse(v.object({ unread: v.number() }), answer).unread;
};

type Line = { seq: number; sender: number; at: number; text: string };
const toLine = ({ seq, sender, at, body }: Pick<Message, "seq" | "sender" | "at" | "body">): Line => ({
  seq,
  sender,
  at,
  text: body.type === "text" ? body.text : `<${body.type}>`,
});

const recount = (log: readonly Message[], { read, hidden }: InboxRow, number: number): number =>
  log.filter((one) => one.seq > Math.max(read, hidden) && one.sender !== number && isToRead({ body: one.body })).length;

test("256 members, 60 of them online, hold the same after the runtime died in the middle of 100 messages", async () => {
  const server = await startServer();
  const devices: AppDevice[] = [];
  try {
    const site = siteOf(server);
    const [owner, ...others] = await seedCrowd(server, members);
    const people = [owner, ...others];
    const group = await makeGroup(site, owner, others);
    devices.push(...(await Promise.all(people.slice(0, online).map((one) => AppDevice.open(server.origin, one)))));
    const haveHeard = async () =>
      (await Promise.all(devices.map((one) => one.row(group)))).every((row) => row?.hi === 1);
    await expect.poll(haveHeard, { timeout: 30_000 }).toBe(true);

    // Every third reads all the time, the others only receive.
    const read = async () => {
      for (const [i, device] of devices.entries()) {
        if (i % 3 === 0) device.view(group, (await device.row(group))?.hi ?? 0);
      }
    };
    const acknowledged = new Map<number, string>();
    let unsentAtDeath = 0;
    let restartedAt = 0;
    const die = async () => {
      await server.kill();
      for (const device of devices.slice(0, authors)) {
        unsentAtDeath += await device.countUnsent();
        for (const { cid, seq, body } of await device.held(group)) {
          if (cid !== undefined && body.type === "text") acknowledged.set(seq, body.text);
        }
      }
      await pause(downMs);
      await server.restart();
      restartedAt = performance.now();
    };
    const textOf = (n: number) => `auteur ${n % authors} message ${Math.floor(n / authors) + 1}`;
    const started = performance.now();
    const work: Promise<void>[] = [];
    for (let n = 0; n < messages; n++) {
      await pause(Math.max(0, started + n * gapMs - performance.now()));
      if (n === messagesBeforeDeath) work.push(die());
      if (n % 10 === 0) work.push(read());
      work.push(devices[n % authors]?.write(group, textOf(n)) ?? Promise.reject(new Error("too few devices")));
    }
    await Promise.all(work);
    expect(unsentAtDeath).toBeGreaterThan(0);
    expect(acknowledged.size).toBeGreaterThan(0);

    const head = messages + 1; // and the line that says who made the group
    const haveAll = async () => {
      const rows = await Promise.all(devices.map((one) => one.row(group)));
      return rows.filter((row) => row?.hi === head && row.lo === 1).length;
    };
    await expect.poll(haveAll, { timeout: 60_000, intervals: [100] }).toBe(online);
    const equalAfterMs = performance.now() - restartedAt;

    const log = await readServerMessages(site, owner, group);
    const lines = log.map(toLine);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, i) => i + 1));
    for (let author = 0; author < authors; author++) {
      const written = Array.from({ length: messages }, (_, n) => n).filter((n) => n % authors === author);
      const stored = lines.filter(({ sender, text }) => sender === author && text !== "<event>");
      expect(stored.map(({ text }) => text)).toEqual(written.map(textOf));
    }
    for (const [seq, text] of acknowledged) expect(lines[seq - 1]?.text).toBe(text);
    for (const device of devices) {
      expect((await device.held(group)).map(toLine)).toEqual(lines);
      expect(await device.countUnsent()).toBe(0);
    }

    const late = await Promise.all(people.slice(-latecomers).map((one) => AppDevice.open(server.origin, one)));
    devices.push(...late);
    for (const device of late) {
      device.look(group);
      await expect.poll(async () => (await device.row(group))?.hi, { timeout: 20_000 }).toBe(head);
      await device.readUp(group);
      expect((await device.held(group)).map(toLine)).toEqual(lines);
    }

    /** Members whose list counts otherwise than the log. */
    const findMiscounted = async (): Promise<unknown[]> => {
      const rows = await Promise.all(people.map((one) => readRow(site, one, group)));
      return rows.flatMap((row, number) => {
        const isRight = row?.head === head && row.unread === recount(log, row, number);
        return isRight ? [] : [{ number, head: row?.head, read: row?.read, unread: row?.unread }];
      });
    };
    await expect.poll(findMiscounted, { timeout: 60_000 }).toEqual([]);
    const countedAfterMs = performance.now() - restartedAt;
    for (const [number, person] of people.entries()) {
      const row = await readRow(site, person, group);
      expect(row?.unread, `member ${number}`).toBe(await askUnread(site, person, group));
    }
    for (const device of devices) {
      const row = await readRow(site, device.person, group);
      expect((await device.row(group))?.unread).toBe(row?.unread);
    }
    expect((await callSite(site, "GET", groupPath(group), { token: owner.token })).body).toMatchObject({
      count: members,
    });
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    test.info().annotations.push({
      type: "measured",
      description: `after the restart all ${online} devices were equal within ${seconds(equalAfterMs)}, all ${members} lists within ${seconds(countedAfterMs)}`,
    });
  } finally {
    await Promise.all(devices.map((device) => device.close()));
    await server.stop();
  }
});
