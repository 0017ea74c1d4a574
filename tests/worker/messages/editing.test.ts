import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { earlierTextLifetimeMs, editWindowMs, messageTextMaxLength } from "#contract/limits/messages.ts";
import type { Body } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { forwardMessage, makeForward } from "#tests/worker/support/forward.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { makeDocumentBody, makeImageBody, makeVoiceBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { readConversation } from "#tests/worker/support/stored-data.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Edits of own texts and captions (docs/decisions/message-editing.md). */

const send = async (from: Person, conversation: ConversationId, body: Body, cid: Uuid = createUuid()) => {
  const { sent } = await request(from, { type: "send", conversation, messages: [{ cid, body }] });
  return sent[0]?.seq ?? 0;
};
const edit = (by: Person, conversation: ConversationId, target: number | Uuid, text: string, known = 0) =>
  request(by, { type: "editMessage", conversation, target, text, edit: known });
const readBody = async (person: Person, conversation: ConversationId, seq: number) =>
  (await readLog(person, conversation)).find((message) => message.seq === seq)?.body;
/** Earlier texts that the conversation stores. */
const listEarlierTexts = async (conversation: ConversationId): Promise<string[]> =>
  (await readConversation(conversation))
    .filter(({ where }) => where.endsWith(" earlier_texts"))
    .map(({ text }) => (JSON.parse(text) as { text: string }).text);
const runSql = (conversation: ConversationId, query: string, ...values: unknown[]) =>
  runInDurableObject(env.CONVERSATION.getByName(conversation), (_, { storage }) => {
    storage.sql.exec(query, ...values);
  });
const deletePending = (by: Person, conversation: ConversationId, cid: Uuid) =>
  request(by, { type: "deletePending", conversation, cid });

describe("an edit", () => {
  test("changes the text on every device of both people, its preview and what a search finds, and counts nothing", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "rendez-vous à huit heures", "d'accord ?");
    await waitUntil(async () => (await readRow(ben, id)).unread === 2);
    const devices = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
    expect(await edit(ana, id, 2, "d'accord Ben ?")).toEqual({ revision: 1, edited: 1 });
    for (const device of devices)
      expect(await device.nextEdit()).toMatchObject({ seq: 2, revision: 1, edited: 1, text: "d'accord Ben ?" });
    await edit(ana, id, 1, "rendez-vous à neuf heures");
    for (const device of devices) expect(await device.nextEdit()).toMatchObject({ seq: 1, revision: 2 });
    for (const person of [ana, ben]) {
      expect((await readLog(person, id)).map(({ body }) => body)).toEqual([
        { type: "text", text: "rendez-vous à neuf heures", edited: 1 },
        { type: "text", text: "d'accord Ben ?", edited: 1 },
      ]);
      expect((await readRow(person, id)).preview).toEqual({ type: "text", text: "d'accord Ben ?", edited: 1 });
      const find = async (query: string) =>
        (await request(person, { type: "search", conversation: id, query, before: 99 })).messages.map(({ seq }) => seq);
      expect(await find("huit")).toEqual([]);
      expect(await find("NEUF")).toEqual([1]);
    }
    expect(await readRow(ben, id)).toMatchObject({ head: 2, unread: 2, revision: 2 });
    const { messages } = await request(ben, { type: "revised", conversation: id, since: 0 });
    expect(messages.map(({ seq }) => seq)).toEqual([2, 1]);
    // Counters without a gap: each edit is one change of each inbox.
    for (const device of devices) expect(new Set(device.counters).size).toBe(device.counters.length);
  });

  test("of a caption keeps the file, may empty it, and of a text may not", async () => {
    const { ana, ben, id } = await makePair();
    const image = makeImageBody((await seedFile(ana.id)).id, "La plage");
    const pdf = await seedFile(ana.id, { type: "application/pdf", name: "contrat.pdf" });
    const document = makeDocumentBody(pdf.id, "contrat.pdf");
    await send(ana, id, image);
    await send(ana, id, document);
    await sendTexts(ana, id, "texte");
    expect(await edit(ana, id, 1, "")).toMatchObject({ edited: 1 });
    expect(await edit(ana, id, 2, "à signer")).toMatchObject({ edited: 1 });
    const { text: _, ...bare } = image as Extract<Body, { type: "image" }>;
    expect(await readBody(ben, id, 1)).toEqual({ ...bare, edited: 1 });
    expect(await readBody(ben, id, 2)).toEqual({ ...document, text: "à signer", edited: 1 });
    for (const blank of ["", " \u200b "]) expect(await edit(ana, id, 3, blank)).toEqual({ error: "empty_message" });
    expect(await edit(ana, id, 3, "x".repeat(messageTextMaxLength + 1))).toEqual({ error: "message_too_long" });
    expect(await readBody(ben, id, 3)).toEqual({ type: "text", text: "texte" });
  });

  test("is refused for messages of others, forwards, voice messages and system messages", async () => {
    const { id, owner, others } = await makeSyncedGroup(2);
    const [ben] = others;
    if (!ben) throw new Error("too few");
    const voice = await send(owner, id, makeVoiceBody((await seedFile(owner.id, { type: "audio/webm" })).id));
    const theirs = await send(ben, id, { type: "text", text: "de Ben" });
    const forward = await forwardMessage(owner, makeForward("de Ben", ben), { conversation: id, seq: theirs }, id);
    expect(await edit(owner, id, voice, "x")).toEqual({ error: "invalid_input" });
    expect(await edit(owner, id, Number(forward), "x")).toEqual({ error: "invalid_input" });
    expect(await edit(owner, id, theirs, "x")).toEqual({ error: "not_your_message" });
    expect(await edit(owner, id, 1, "x")).toEqual({ error: "not_your_message" });
    expect(await edit(owner, id, 99, "x")).toEqual({ error: "message_not_found" });
    expect(await edit(ben, id, createUuid(), "x")).toEqual({ error: "message_not_found" });
    expect((await readRow(ben, id)).revision).toBe(0);
  });

  test("cannot be claimed by a new message", async () => {
    const { ana, id } = await makePair();
    const body: Body = { type: "text", text: "jamais modifié", edited: 1 };
    const sent = await request(ana, { type: "send", conversation: id, messages: [{ cid: createUuid(), body }] });
    expect(sent).toEqual({ error: "invalid_input" });
    const to = [{ conversation: id, cid: createUuid() }];
    expect(await request(ana, { type: "multicast", body, to })).toEqual({ error: "invalid_input" });
  });

  test("is possible for 24 hours by the server's clock, and its repetition afterwards too", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "un", "deux");
    await edit(ana, id, 2, "deux bis");
    await runSql(id, "UPDATE messages SET at = at - ?", editWindowMs - 60_000);
    expect(await edit(ana, id, 1, "un bis")).toMatchObject({ edited: 1 });
    await runSql(id, "UPDATE messages SET at = at - 60000");
    expect(await edit(ana, id, 1, "un ter", 1)).toEqual({ error: "edit_too_late" });
    expect(await edit(ana, id, 2, "deux bis")).toMatchObject({ edited: 1 });
    expect(toTexts(await readLog(ben, id))).toEqual(["un bis", "deux bis"]);
  });

  test("that is repeated changes nothing, also after later edits", async () => {
    const { ana, ben, id } = await makePair();
    const cid = createUuid();
    await send(ana, id, { type: "text", text: "un" }, cid);
    const first = await edit(ana, id, cid, "deux");
    await evictDurableObject(env.CONVERSATION.getByName(id));
    expect(await edit(ana, id, cid, "deux")).toEqual(first);
    expect(await edit(ana, id, 1, "trois", 1)).toEqual({ revision: 2, edited: 2 });
    expect(await edit(ana, id, cid, "deux")).toEqual({ revision: 2, edited: 2 });
    expect(await readBody(ben, id, 1)).toEqual({ type: "text", text: "trois", edited: 2 });
    // The person returns to an earlier text.
    expect(await edit(ana, id, cid, "deux", 2)).toEqual({ revision: 3, edited: 3 });
    expect(await listEarlierTexts(id)).toEqual(["un", "deux", "trois"]);
  });

  test("of a member who left, or in a conversation that ended or is blocked, is refused", async () => {
    const { id, owner, others } = await makeSyncedGroup(2);
    const [ben] = others;
    if (!ben) throw new Error("too few");
    const seq = await send(ben, id, { type: "text", text: "avant" });
    await requestAs(owner, "DELETE", `/api/groups/${id}/members/${ben.id}`);
    expect(await edit(ben, id, seq, "après")).toEqual({ error: "conversation_not_found" });
    const pair = await makePair();
    await sendTexts(pair.ana, pair.id, "avant");
    const stub = getConversationStub(env, pair.id);
    await stub.setBlocked(pair.ana.id, true);
    expect(await edit(pair.ana, pair.id, 1, "après")).toEqual({ error: "contact_blocked" });
    expect(await readBody(owner, id, seq)).toEqual({ type: "text", text: "avant" });
  });

  test("brings a blocked person's new words to nobody, and the blocked person notices nothing", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "avant");
    await waitUntil(async () => (await readRow(ben, id)).head === 1);
    const stub = getConversationStub(env, id);
    await stub.setBlocked(ben.id, true);
    await sendTexts(ana, id, "pendant");
    expect(await edit(ana, id, 1, "secret")).toMatchObject({ edited: 1 });
    expect(await edit(ana, id, 2, "pendant bis")).toMatchObject({ edited: 1 });
    expect(toTexts(await readLog(ana, id))).toEqual(["secret", "pendant bis"]);
    const phone = await Device.open(ben);
    const findAs = async (person: Person, query: string) =>
      (await request(person, { type: "search", conversation: id, query, before: 99 })).messages.length;
    for (const isBlocked of [true, false]) {
      await stub.setBlocked(ben.id, isBlocked);
      await evictDurableObject(env.CONVERSATION.getByName(id));
      expect(await readBody(ben, id, 1)).toEqual({ type: "text", text: "avant" });
      const { messages } = await request(ben, { type: "revised", conversation: id, since: 0 });
      expect(toTexts(messages)).toEqual(["avant"]);
      expect((await readRow(ben, id)).preview).toEqual({ type: "text", text: "avant" });
      expect([await findAs(ana, "secret"), await findAs(ben, "secret"), await findAs(ben, "avant")]).toEqual([1, 0, 1]);
      expect(await stub.findOriginal(ben.id, 1)).toMatchObject({ body: { type: "text", text: "avant" } });
    }
    expect(await edit(ana, id, 2, "pendant ter", 1)).toMatchObject({ edited: 2 });
    expect(await edit(ana, id, 1, "après", 1)).toMatchObject({ edited: 2 });
    await waitUntil(() => phone.raw.join().includes("après"));
    expect(toTexts(await readLog(ben, id))).toEqual(["après"]);
    expect(phone.raw.join()).not.toMatch(/secret|pendant/);
    expect(toTexts(await readLog(ana, id))).toEqual(["après", "pendant ter"]);
  });

  test("of the newest message by a blocked person stays out of the other's conversation list", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "avant");
    await waitUntil(async () => (await readRow(ben, id)).head === 1);
    const stub = getConversationStub(env, id);
    await stub.setBlocked(ben.id, true);
    await edit(ana, id, 1, "secret");
    await waitUntil(async () => JSON.stringify((await readRow(ana, id)).preview).includes("secret"));
    await stub.setBlocked(ben.id, false);
    await request(ben, { type: "mark", conversation: id, delivered: 1, read: 1 });
    await runDurableObjectAlarm(env.CONVERSATION.getByName(id));
    for (const isRestarted of [false, true]) {
      if (isRestarted) await evictDurableObject(env.CONVERSATION.getByName(id));
      if (isRestarted) await runDurableObjectAlarm(env.CONVERSATION.getByName(id));
      expect(await readRow(ben, id)).toMatchObject({ head: 1, preview: { type: "text", text: "avant" } });
    }
  });

  test("keeps the mentions whose names stay, and ends the others", async () => {
    const { id, owner, others } = await makeSyncedGroup(3);
    const [ben, cleo] = others;
    if (!ben || !cleo) throw new Error("too few");
    const mentions = [
      [0, 4, 1],
      [8, 5, 2],
    ];
    const seq = await send(owner, id, { type: "text", text: "@Ben et @Cleo venez", mentions });
    await waitUntil(async () => (await readRow(cleo, id)).mentions.length === 1);
    const phone = await Device.open(ben);
    await edit(owner, id, seq, "Alors @Ben viens");
    expect(phone.decodeMessages(await phone.nextOf("e"))).toMatchObject([
      { seq, body: { text: "Alors @Ben viens", mentions: [[6, 4, 1]], edited: 1 } },
    ]);
    expect((await readRow(ben, id)).mentions).toEqual([seq]);
    await waitUntil(async () => (await readRow(cleo, id)).mentions.length === 0);
    // An exact count of the conversation finds the same.
    const readTo = (person: Person) => request(person, { type: "mark", conversation: id, delivered: 1, read: 1 });
    for (const person of [ben, cleo]) await readTo(person);
    expect((await readRow(cleo, id)).mentions).toEqual([]);
    await edit(owner, id, seq, "Sans personne", 1);
    expect(await phone.nextEdit()).toMatchObject({ seq, edited: 2, text: "Sans personne" });
    expect(await readBody(ben, id, seq)).toEqual({ type: "text", text: "Sans personne", edited: 2 });
    await waitUntil(async () => (await readRow(ben, id)).mentions.length === 0);
  });

  test("of a mention of everyone does not renew the owner's right to another within the hour", async () => {
    const { id, owner } = await makeSyncedGroup(2);
    const body: Body = { type: "text", text: "@tous venez", mentions: [[0, 5]] };
    const seq = await send(owner, id, body);
    expect(await edit(owner, id, seq, "venez")).toMatchObject({ edited: 1 });
    const again = await request(owner, { type: "send", conversation: id, messages: [{ cid: createUuid(), body }] });
    expect(again).toEqual({ error: "everyone_mentioned_recently" });
  });
});

describe("earlier texts", () => {
  test("are kept for reports, sent to nobody, and deleted with the message", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "version originale", "autre");
    await edit(ana, id, 1, "version corrigée");
    await edit(ana, id, 2, "autre bis");
    expect(await listEarlierTexts(id)).toEqual(["version originale", "autre"]);
    const phone = await Device.open(ben);
    expect(JSON.stringify([await readLog(ben, id), await readRow(ben, id), phone.raw])).not.toContain("originale");
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    expect(await listEarlierTexts(id)).toEqual(["autre"]);
    const stored = JSON.stringify(await readConversation(id));
    expect(stored).not.toMatch(/originale|corrigée/);
  });

  test("are purged after thirty days by an alarm that wakes the conversation for nothing else", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "un", "deux");
    const object = env.CONVERSATION.getByName(id);
    await edit(ana, id, 1, "un bis");
    await waitUntil(async () => (await readRow(ben, id)).revision === 1);
    await runDurableObjectAlarm(object);
    const readAlarm = () => runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    await waitUntil(async () => ((await readAlarm()) ?? 0) > Date.now() + earlierTextLifetimeMs - 60_000);
    expect(await listEarlierTexts(id)).toEqual(["un"]);
    // A new instance finds nothing undelivered in an alarm that is far ahead.
    await evictDurableObject(object);
    const phone = await Device.open(ben);
    await sendTexts(ana, id, "trois");
    await phone.nextLive();
    await runSql(id, "UPDATE earlier_texts SET at = at - ?", earlierTextLifetimeMs + 1);
    await evictDurableObject(object);
    await edit(ana, id, 2, "deux bis");
    await runDurableObjectAlarm(object);
    expect(await listEarlierTexts(id)).toEqual(["deux"]);
    await runSql(id, "DELETE FROM earlier_texts");
  });
});

describe("edit and deletion", () => {
  test.each(["by position", "by client id"])("%s: the deletion wins in both orders", async (how) => {
    const { ana, ben, id } = await makePair();
    const cids = [createUuid(), createUuid()] as const;
    for (const cid of cids) await send(ana, id, { type: "text", text: "regretté" }, cid);
    const targets = how === "by position" ? [1, 2] : cids;
    const [first = 0, second = 0] = targets;
    await edit(ana, id, first, "corrigé");
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await deletePending(ana, id, cids[1]);
    for (const target of [first, second])
      expect(await edit(ana, id, target, "revenu")).toEqual({ error: "message_withdrawn" });
    for (const person of [ana, ben]) expect(toTexts(await readLog(person, id))).toEqual(["<deleted>", "<deleted>"]);
    expect(await listEarlierTexts(id)).toEqual([]);
  });

  test("an edit of a message that was deleted before it arrived is refused", async () => {
    const { ana, id } = await makePair();
    const cid = createUuid();
    await deletePending(ana, id, cid);
    expect(await edit(ana, id, cid, "trop tard")).toEqual({ error: "message_withdrawn" });
  });
});

describe("edit and forward", () => {
  test("a copy keeps its text and is not marked as edited", async () => {
    const { ana, ben, id } = await makePair();
    const to = await befriend(ben, await seedPerson());
    const image = makeImageBody((await seedFile(ana.id)).id, "La plage");
    await sendTexts(ana, id, "original");
    await send(ana, id, image);
    const forwarded = { by: ana.id, name: ana.username };
    const source = (seq: number) => ({ conversation: id, seq });
    await forwardMessage(ben, makeForward("original", ana), source(1), to);
    await edit(ana, id, 1, "corrigé");
    await edit(ana, id, 2, "La mer");
    await forwardMessage(ben, makeForward("corrigé", ana), source(1), to);
    await forwardMessage(ben, { ...image, text: "La mer", forwarded } as Body, source(2), to);
    expect((await readLog(ben, to)).map(({ body }) => body)).toEqual([
      makeForward("original", ana),
      makeForward("corrigé", ana),
      { ...image, text: "La mer", forwarded },
    ]);
  });

  test("a forward of a text that was edited meanwhile is refused with its reason", async () => {
    const { ana, ben, id } = await makePair();
    const to = await befriend(ben, await seedPerson());
    await sendTexts(ana, id, "original", "autre");
    await edit(ana, id, 1, "corrigé");
    const forward = (seq: number) => forwardMessage(ben, makeForward("original", ana), { conversation: id, seq }, to);
    expect(await forward(1)).toBe("original_edited");
    expect(await forward(2)).toBe("invalid_input");
    expect(await readLog(ben, to)).toEqual([]);
  });
});

test("two devices that edit the same message show the last edit that arrived", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  const [phone, tablet, phoneB] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const expectEdit = async (text: string, edited: number) => {
    for (const device of [phone, tablet, phoneB]) expect(await device.nextEdit()).toMatchObject({ text, edited });
  };
  expect((await phone.request((ref) => ["E", ref, id, 1, "du téléphone"]))[0]).toBe("y");
  await expectEdit("du téléphone", 1);
  expect((await tablet.request((ref) => ["E", ref, id, 1, "de la tablette"]))[0]).toBe("y");
  await expectEdit("de la tablette", 2);
  // The first device did not learn of its answer and repeats the edit.
  expect((await phone.request((ref) => ["E", ref, id, 1, "du téléphone"]))[0]).toBe("y");
  expect(await readBody(ben, id, 1)).toEqual({ type: "text", text: "de la tablette", edited: 2 });
});

test("an edit is delivered although the conversation dies between storing it and telling anybody", async () => {
  const { ana, ben, id } = await makePair();
  const cid = createUuid();
  await send(ana, id, { type: "text", text: "un" }, cid);
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  const phone = await Device.open(ben);
  await runInDurableObject(env.CONVERSATION.getByName(id), async (object, state) => {
    void object.editMessage(ana.id, { target: cid, edit: 0, text: "deux" });
    await state.storage.sync();
    state.abort("as if the machine had died");
  }).catch(() => undefined);
  await runDurableObjectAlarm(env.CONVERSATION.getByName(id));
  expect(await phone.nextEdit()).toMatchObject({ seq: 1, text: "deux" });
  expect(await edit(ana, id, cid, "deux")).toMatchObject({ edited: 1 });
  expect(await readRow(ben, id)).toMatchObject({ revision: 1, unread: 1 });
});
