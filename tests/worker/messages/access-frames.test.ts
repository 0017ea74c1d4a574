import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type ConversationId, createUuid, packUuid, privateConversationId } from "#contract/ids.ts";
import type { WireClientFrame } from "#contract/wire/client-frames.ts";
import { protocolVersion } from "#contract/wire/server-frames.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/**
 * Access rules of the socket: one row for every frame that a device can send. Ana and Ben are connected; Rita was Ana's
 * contact and has their history; Sam has no relation to any of them. (A visitor has no socket: socket.test.ts.)
 */
type World = { ana: Person; ben: Person; rita: Person; sam: Person; id: ConversationId; ritas: ConversationId };

const makeWorld = async (): Promise<World> => {
  const [{ ana, ben, id }, sam] = [await makePair(), await seedPerson()];
  const other = await makePair();
  await sendTexts(ana, id, "entre nous", "encore entre nous");
  await sendTexts(ben, id, "de Ben");
  await sendTexts(other.ana, other.id, "autrefois", "jadis");
  await sendTexts(other.ben, other.id, "de Rita");
  const ended = await call("DELETE", `/api/contacts/${other.ben.id}`, { token: other.ana.token });
  if (ended.status !== 200) throw new Error("the contact was not removed");
  await waitUntil(
    async () => (await readRow(other.ben, other.id)).head === 3 && !(await readRow(other.ben, other.id)).open,
  );
  for (const one of [ana, ben]) await waitUntil(async () => (await readRow(one, id)).head === 3);
  return { ana, ben, rita: other.ben, sam, id, ritas: other.id };
};

const device = createUuid();

let emojiCount = 0;
/** Another emoji each time, since the same reaction is never refused. */
const nextEmoji = () => String.fromCodePoint(0x1f600 + emojiCount++);

let pinCount = 0;
/** Another of the three messages each time, since a message that is pinned already is never refused. */
const nextPinned = () => 1 + (pinCount++ % 3);

type Outcome = string | undefined;
const notFound = "conversation_not_found";

type Row = {
  frame: (ref: number, conversation: number | ConversationId) => WireClientFrame;
  /** Expected answers for a member, in an open and in an ended conversation. */
  member: Outcome;
  removed: Outcome;
  /** Expected answer for a member who blocks the other; for the blocked member nothing differs. */
  blocker?: Outcome;
  /** Expected answer for anybody else who names the conversation by its id or an invented handle. */
  stranger: Outcome;
};

/** `undefined`: no answer is expected. */
const table: Record<WireClientFrame[0], Row> = {
  h: { frame: () => ["h", protocolVersion, "", 0], member: "x", removed: "x", stranger: "x" },
  k: { frame: () => ["k", 0], member: undefined, removed: undefined, stranger: undefined },
  c: { frame: (ref) => ["c", ref, 0, null], member: "c", removed: "c", stranger: "c" },
  s: {
    frame: (ref, conversation) => ["s", ref, conversation, packUuid(createUuid()), "de moi"],
    member: "a",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  f: {
    frame: (ref, conversation) => ["f", ref, "à tous", null, [[conversation, packUuid(createUuid())]]],
    member: "a",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  // The third message is the asking member's own.
  e: { frame: (ref, conversation) => ["e", ref, conversation, 3], member: "y", removed: "y", stranger: notFound },
  E: {
    frame: (ref, conversation) => ["E", ref, conversation, 3, `corrigé ${createUuid()}`],
    member: "y",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  x: {
    frame: (ref, conversation) => ["x", ref, conversation, 3, nextEmoji()],
    member: "y",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  P: {
    frame: (ref, conversation) => ["P", ref, conversation, nextPinned(), 1],
    member: "y",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  v: { frame: (ref, conversation) => ["v", ref, conversation, 0], member: "v", removed: "v", stranger: notFound },
  z: { frame: (ref, conversation) => ["z", ref, conversation, 1], member: "y", removed: "y", stranger: notFound },
  y: {
    frame: (ref, conversation) => ["y", ref, conversation, { marked: true }],
    member: "y",
    removed: "y",
    stranger: notFound,
  },
  Y: {
    frame: (ref, conversation) => ["Y", ref, conversation, 3, { starred: true }],
    member: "y",
    removed: "y",
    stranger: notFound,
  },
  D: {
    frame: (ref, conversation) => ["D", ref, conversation, 0, 0, "Mbote"],
    member: "y",
    removed: "y",
    stranger: notFound,
  },
  t: { frame: (_, conversation) => ["t", conversation], member: undefined, removed: undefined, stranger: undefined },
  r: { frame: (_, conversation) => ["r", conversation, 1, 1], member: "u", removed: "u", stranger: undefined },
  g: {
    frame: (ref, conversation) => ["g", ref, conversation, "a", 0, 10],
    member: "g",
    removed: "g",
    stranger: notFound,
  },
  q: {
    frame: (ref, conversation) => ["q", ref, conversation, "nous", 10],
    member: "q",
    removed: "q",
    stranger: notFound,
  },
  j: {
    frame: (ref, conversation) => ["j", ref, conversation, { type: "dial", call: createUuid(), kind: "audio", device }],
    member: "j",
    removed: "not_connected",
    blocker: "contact_blocked",
    stranger: notFound,
  },
  l: { frame: () => ["l", 1], member: undefined, removed: undefined, stranger: undefined },
  L: { frame: (ref, conversation) => ["L", ref, conversation], member: "L", removed: "L", stranger: notFound },
  d: { frame: (ref, conversation) => ["d", ref, conversation, 3, 0], member: "y", removed: "y", stranger: notFound },
};

const lastRef = 1_000;

/** Frames that a device receives as an answer to its own frame. */
const answerTypes = ["x", "a", "u", "g", "j", "L", "q", "v", "y"];

/** Returns the answer to a frame. If none is expected, returns what arrives before the answer to a later request. */
const answerTo = async (device: Device, frame: WireClientFrame, isDue: boolean): Promise<Outcome> => {
  const before = device.frames.length;
  const heard = () => device.frames.slice(before).filter((got) => Array.isArray(got));
  const answer = (): Outcome => {
    for (const got of heard()) {
      if (got[0] === "n") return got[2];
      if (answerTypes.includes(got[0]) || (got[0] === "c" && got[1] !== lastRef)) return got[0];
    }
    return undefined;
  };
  device.send(frame);
  await waitUntil(() => answer() !== undefined, isDue ? undefined : 300).catch(() => undefined);
  device.send(["c", lastRef, device.base, null]);
  await waitUntil(() => heard().some(([type, ref]) => type === "c" && ref === lastRef));
  return answer();
};

test.each(Object.keys(table) as WireClientFrame[0][])(
  "the frame %s is answered to each person by their role in the conversation",
  async (type) => {
    const { ana, ben, rita, sam, id, ritas } = await makeWorld();
    const row = table[type];
    const expectAs = async (person: Person, conversation: number | ConversationId, due: Outcome, role: string) => {
      const answer = await answerTo(await Device.open(person), row.frame(1, conversation), due !== undefined);
      expect(answer, role).toBe(due);
    };
    const before = [await readLog(ana, id), await readRow(ana, id), await readRow(ben, id)];
    await expectAs(sam, id, row.stranger, "a stranger by id");
    await expectAs(sam, 1, row.stranger, "a stranger by a handle of nobody's");
    await expectAs(rita, id, row.stranger, "another conversation's member");
    expect([await readLog(ana, id), await readRow(ana, id), await readRow(ben, id)]).toEqual(before);
    await expectAs(rita, ritas, row.removed, "a removed contact");
    await expectAs(ben, id, row.member, "a member");
    await getConversationStub(env, id).setBlocked(ana.id, true);
    await expectAs(ben, id, row.member, "a blocked member");
    await getConversationStub(env, id).setBlocked(ana.id, false);
    await getConversationStub(env, id).setBlocked(ben.id, true);
    await expectAs(ben, id, "blocker" in row ? row.blocker : row.member, "a member who blocks the other");
  },
);

test("a stranger's frames are refused like those for an unknown conversation", async () => {
  const [{ id }, sam] = [await makePair(), await seedPerson()];
  const device = await Device.open(sam);
  const answers = [];
  for (const conversation of [
    id,
    privateConversationId(createUuid(), createUuid()),
    createUuid(),
    privateConversationId(sam.id, createUuid()),
  ]) {
    const [kind, , ...rest] = await device.request((ref) => ["g", ref, conversation, "a", 0, 10]);
    answers.push([kind, ...rest]);
  }
  expect(answers).toEqual(answers.map(() => ["n", notFound]));
});

test("nobody receives data of a foreign conversation", async () => {
  const { ana, ben, rita, sam, id } = await makeWorld();
  const [phoneRita, phoneSam, phoneBen] = [await Device.open(rita), await Device.open(sam), await Device.open(ben)];
  const heard = [phoneRita.raw.length, phoneSam.raw.length];
  await sendTexts(ana, id, "toujours entre nous");
  await request(ana, { type: "mark", conversation: id, delivered: 4, read: 4 });
  await phoneBen.nextLive();
  await scheduler.wait(100);
  expect([phoneRita.raw.length, phoneSam.raw.length]).toEqual(heard);
  expect(toTexts(await readLog(ben, id))).toHaveLength(4);
});
