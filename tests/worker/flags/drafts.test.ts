import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { hasLeftGroup } from "#contract/conversations.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { draftBurst, draftsUnwrittenMax, messageTextMaxLength } from "#contract/limits/messages.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readRow, request, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { createRowCounter } from "#tests/worker/support/row-counter.ts";
import { makePair, type seedPerson } from "#tests/worker/support/seeded-people.ts";
import { openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";

type Draft = { text: string; base?: number; ago?: number; reply?: number | string };

const setDraft = async (of: Person, conversation: ConversationId, { base = 0, ago = 0, ...draft }: Draft) => {
  const result = await request(of, { type: "setDraft", conversation, base, ago, ...draft });
  if ("error" in result) throw new Error(String(result.error));
  return result.revision;
};
const listDrafts = (of: Person, since = 0) =>
  requestAs<DraftList>(of, "GET", `/api/drafts?since=${since}`) as Promise<DraftList>;
const readTexts = async (of: Person, since = 0) => (await listDrafts(of, since)).drafts.map(({ text }) => text);

/** The same person on another device. */
const signInAgain = async (person: Awaited<ReturnType<typeof seedPerson>>) => {
  const [session, now] = [createUuid(), Date.now()];
  await openDb(env)
    .insert(sessions)
    .values({ id: session, user_id: person.id, nonce: "none", refreshed_at: now, proved_at: now, created_at: now });
  return { ...person, session, token: await signAccessToken(env, { sub: person.id, sid: session, gen: 0 }) };
};

const makeDevices = async () => {
  const { ana, ben, id } = await makePair();
  return { phone: ana, tablet: await signInAgain(ana), ben, id };
};

test("a draft reaches the person's other devices with its reply, and nobody else; its own device learns the number only", async () => {
  const { phone, tablet, ben, id } = await makeDevices();
  const [own, other, stranger] = [await Device.open(phone), await Device.open(tablet), await Device.open(ben)];
  own.send(["D", 7, id, 0, 1_000, "Mbote", 3]);
  const pushed = await other.nextOf("D");
  const { handle } = await readRow(phone, id);
  expect(pushed).toEqual(["D", pushed[1], handle, 0, 0, expect.any(Number), "Mbote", 3]);
  expect(Math.abs(other.now + (pushed[5] ?? 0) - (Date.now() - 1_000))).toBeLessThan(60_000);
  expect(await own.nextOf("D")).toEqual(["D", expect.any(Number), handle, 0]);
  const [, , revision] = await own.nextOf("y");
  await evictDurableObject(env.USER_CHANNEL.getByName(phone.id));
  const draft = { conversation: id, change: revision, base: 0, at: expect.any(Number), text: "Mbote", reply: 3 };
  expect(await listDrafts(tablet)).toEqual({ head: revision, drafts: [draft] });
  const late = await Device.attach(tablet);
  expect((await late.hello()).at(-1)).toBe(revision);
  expect(stranger.counters).toHaveLength(0);
  expect(await listDrafts(ben)).toEqual({ head: 0, drafts: [] });
  // So does one that answers a message of a group.
  const place = `${createUuid()}:12`;
  const inGroup = await setDraft(tablet, id, { base: revision, text: "Bongo", reply: place });
  expect((await own.nextOf("D")).at(-1)).toBe(place);
  await evictDurableObject(env.USER_CHANNEL.getByName(phone.id));
  expect((await listDrafts(phone, revision)).drafts).toMatchObject([{ text: "Bongo", reply: place }]);
  expect(await setDraft(tablet, id, { base: inGroup, text: "Bongo", reply: "nobody:1" }).catch(() => "refused")).toBe(
    "refused",
  );
  // The same draft again changes nothing.
  expect(await setDraft(tablet, id, { base: inGroup, text: "Bongo", reply: place })).toBe(inGroup);
  expect((await listDrafts(phone)).head).toBe(inGroup);
});

test("of two texts that do not know each other the one written later wins, whichever arrives first", async () => {
  const { phone, tablet, id } = await makeDevices();
  await setDraft(phone, id, { text: "de 10 h 05", ago: 5 * 60_000 });
  expect(await setDraft(tablet, id, { text: "de 10 h", ago: 10 * 60_000 })).toBe(0);
  expect(await readTexts(phone)).toEqual(["de 10 h 05"]);
  const change = await setDraft(tablet, id, { text: "de 10 h 09", ago: 60_000 });
  expect(await listDrafts(phone)).toMatchObject({ head: change, drafts: [{ base: 0, text: "de 10 h 09" }] });
  // Whoever has seen the text may replace it, whatever the clocks say.
  expect(await setDraft(phone, id, { text: "corrigé", base: change, ago: 20 * 60_000 })).toBeGreaterThan(change);
});

test("a draft that was sent on one device disappears, unless another one has typed since", async () => {
  const { phone, tablet, id } = await makeDevices();
  const first = await setDraft(phone, id, { text: "Mbote" });
  const second = await setDraft(tablet, id, { text: "Mbote na yo", base: first });
  expect(await setDraft(phone, id, { text: "", base: first })).toBe(0);
  expect(await readTexts(phone)).toEqual(["Mbote na yo"]);
  const ended = await setDraft(phone, id, { text: "", base: second });
  expect(ended).toBeGreaterThan(second);
  // A device that was away learns of the end, a new one of nothing.
  expect(await readTexts(tablet, second)).toEqual([""]);
  expect(await readTexts(tablet)).toEqual([]);
  expect(await setDraft(tablet, id, { text: "Encore", base: second })).toBeGreaterThan(ended);
});

test("drafts end when their person leaves the group, and have the length limit of messages", async () => {
  const { id, others } = await makeSyncedGroup(3);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await setDraft(ben, id, { text: "Mbote" });
  const tooLong = { type: "setDraft", conversation: id, base: 0, ago: 0, text: "a".repeat(messageTextMaxLength + 1) };
  expect(await request(ben, tooLong as never)).toEqual({ error: "invalid_input" });
  await requestAs(ben, "DELETE", `/api/groups/${id}/members/${ben.id}`);
  await waitUntil(async () => hasLeftGroup(await readRow(ben, id)));
  const stored = () =>
    runInDurableObject(env.USER_CHANNEL.getByName(ben.id), (_, { storage }) =>
      storage.sql.exec("SELECT * FROM drafts").toArray(),
    );
  expect(await stored()).toEqual([]);
  expect(await request(ben, { type: "setDraft", conversation: id, base: 0, ago: 0, text: "Encore" })).toEqual({
    error: "conversation_not_found",
  });
});

test("a draft writes one row, and there is a limit for each day that a restart does not lift", async () => {
  const { phone, id } = await makeDevices();
  const countRows = await createRowCounter([env.CONVERSATION.getByName(id), env.USER_CHANNEL.getByName(phone.id)]);
  expect((await countRows(() => setDraft(phone, id, { text: "un" }))).written).toBe(1);
  expect((await countRows(() => setDraft(phone, id, { text: "deux" }))).written).toBe(1);
  expect((await countRows(() => setDraft(phone, id, { text: "deux" }))).written).toBe(0);
  for (let n = 3; n <= draftBurst; n++) await setDraft(phone, id, { text: `texte ${n}` });
  await evictDurableObject(env.USER_CHANNEL.getByName(phone.id));
  const results: object[] = [];
  for (let n = 0; n < draftsUnwrittenMax + 5; n++)
    results.push(await request(phone, { type: "setDraft", conversation: id, base: 0, ago: 0, text: `de plus ${n}` }));
  expect(results.at(-1)).toMatchObject({ error: "rate_limited" });
});
