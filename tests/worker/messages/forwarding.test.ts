import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { type ConversationId, createUuid, packUuid } from "#contract/ids.ts";
import { multicastMax } from "#contract/limits/messages.ts";
import type { Body, ForwardSource } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  countFileReferences,
  makeDocumentBody,
  makeImageBody,
  makeVoiceBody,
  seedFile,
} from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const makeText = (text: string, by?: Person): Body =>
  by ? { type: "text", text, forwarded: { by: by.id, name: by.username } } : { type: "text", text };

/** Ana is connected to Ben and to Clara, who do not know each other. */
const makeThree = async () => {
  const { ana, ben, id } = await makePair();
  const clara = await seedPerson();
  return { ana, ben, clara, id, to: await befriend(ana, clara) };
};

const forward = async (from: Person, body: Body, source: ForwardSource | undefined, to: ConversationId) => {
  const message = { cid: createUuid(), body, ...(source ? { source } : {}) };
  const { error, sent } = await request(from, { type: "send", conversation: to, messages: [message] });
  return error ?? sent[0]?.seq;
};

test("a text is forwarded with the name of its author, also when forwarded again", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  await sendTexts(ben, id, "Mbote");
  expect(await forward(ana, makeText("Mbote", ben), { conversation: id, seq: 1 }, to)).toBe(1);
  expect((await readLog(clara, to))[0]?.body).toEqual(makeText("Mbote", ben));
  const [dina] = [await seedPerson()];
  const further = await befriend(clara, dina);
  // Both the forwarding member and the original author are valid names.
  expect(await forward(clara, makeText("Mbote", ben), { conversation: to, seq: 1 }, further)).toBe(1);
  expect(await forward(clara, makeText("Mbote", ana), { conversation: to, seq: 1 }, further)).toBe(2);
  expect(await forward(clara, makeText("Mbote", dina), { conversation: to, seq: 1 }, further)).toBe("original_gone");
  // Own messages need no forward mark; other people's do.
  await sendTexts(ana, to, "de moi");
  expect(await forward(ana, makeText("de moi"), { conversation: to, seq: 2 }, id)).toBe(2);
  expect(await forward(ana, makeText("Mbote"), { conversation: id, seq: 1 }, to)).toBe("original_gone");
  expect(await forward(ana, makeText("Mbote"), { conversation: to, seq: 1 }, id)).toBe("original_gone");
});

test("a forwarded text is marked as such on a device that receives it live", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  await sendTexts(ben, id, "Mbote");
  const phone = await Device.open(clara);
  expect(await forward(ana, makeText("Mbote", ben), { conversation: id, seq: 1 }, to)).toBe(1);
  expect(phone.decodeMessages(await phone.nextOf("m"))).toMatchObject([{ seq: 1, body: makeText("Mbote", ben) }]);
});

test("forwarding can neither forge an author nor read a foreign conversation", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  await sendTexts(ben, id, "Mbote", "à effacer", "caché");
  const at = (seq: number, conversation = id) => ({ conversation, seq });
  expect(await forward(ana, makeText("Je te déteste", ben), at(1), to)).toBe("invalid_input");
  expect(await forward(ana, makeText("Mbote", clara), at(1), to)).toBe("original_gone");
  expect(await forward(ana, makeText("Mbote", ben), at(9), to)).toBe("original_gone");
  expect(await forward(ana, makeText("Mbote", ben), undefined, to)).toBe("invalid_input");
  expect(await forward(clara, makeText("Mbote", ben), at(1), to)).toBe("original_gone");
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 2 });
  expect(await forward(ana, makeText("à effacer", ben), at(2), to)).toBe("original_gone");
  await request(ana, { type: "clearHistory", conversation: id, upTo: 3, keep: true });
  expect(await forward(ana, makeText("caché", ben), at(3), to)).toBe("original_gone");
  expect(await readLog(ana, to)).toEqual([]);
  expect(await forward(ben, makeText("Mbote", ben), at(1), id)).toBe(4);
});

test("a file is forwarded unchanged, whoever uploaded it, and remains while one message references it", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  const [image, other] = [await seedFile(ben.id), await seedFile(ben.id)];
  const body = makeImageBody(image.id, "La plage");
  await forward(ben, body, undefined, id);
  const forwarded = { by: ben.id, name: ben.username };
  const at = { conversation: id, seq: 1 };
  expect(await forward(ana, { ...makeImageBody(other.id), forwarded }, at, to)).toBe("original_gone");
  expect(await forward(ana, { ...makeVoiceBody(image.id), forwarded }, at, to)).toBe("original_gone");
  expect(await forward(ana, { ...makeImageBody(image.id), width: 5, size: 6, thumb: "xx", forwarded }, at, to)).toBe(1);
  expect((await readLog(clara, to))[0]?.body).toEqual({ ...makeImageBody(image.id), forwarded });
  expect(await getConversationStub(env, to).canReadFile(clara.id, image.id)).toBe(true);
  await request(ben, { type: "deleteForEveryone", conversation: id, seq: 1 });
  await waitUntil(async () => (await countFileReferences(image.id)) === 1);
  expect(await env.FILES.head(image.key)).not.toBeNull();
  // The first message is deleted; the second can still be forwarded.
  expect(await forward(ana, { ...makeImageBody(image.id), forwarded }, at, to)).toBe("original_gone");
  expect(await forward(ana, { ...makeImageBody(image.id), forwarded }, { conversation: to, seq: 1 }, id)).toBe(2);
  await request(ana, { type: "deleteForEveryone", conversation: to, seq: 1 });
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  await waitUntil(async () => (await countFileReferences(image.id)) === undefined);
  expect(await env.FILES.head(image.key)).toBeNull();
});

test("another person's file is not forwarded from a conversation that has ended", async () => {
  const { ana, ben, id, to } = await makeThree();
  const [image, document] = [await seedFile(ben.id), await seedFile(ana.id, { type: "application/pdf" })];
  await forward(ben, makeImageBody(image.id), undefined, id);
  await forward(ana, makeDocumentBody(document.id, "vacances.jpg"), undefined, id);
  await sendTexts(ben, id, "un texte");
  const connection = await env.DB.prepare("DELETE FROM connections WHERE conversation_id = ? RETURNING id").bind(id);
  await getConversationStub(env, id).closeConnection((await connection.first<string>("id")) ?? "");
  const forwarded = { by: ben.id, name: ben.username };
  expect(await forward(ana, { ...makeImageBody(image.id), forwarded }, { conversation: id, seq: 1 }, to)).toBe(
    "original_gone",
  );
  const own = { ...makeDocumentBody(document.id, "vacances.jpg"), forwarded: { by: ana.id, name: ana.username } };
  expect(await forward(ana, own, { conversation: id, seq: 2 }, to)).toBe(1);
  expect(await forward(ana, makeText("un texte", ben), { conversation: id, seq: 3 }, to)).toBe(2);
});

test("one body is sent to many in one frame, each message answered separately and the source read once", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  await sendTexts(ben, id, "Mbote");
  const stranger = await makePair();
  const [phone, tablet] = [await Device.open(ana), await Device.open(ana)];
  const original = vi.spyOn(Conversation.prototype, "findOriginal");
  const cids = Array.from({ length: 4 }, () => createUuid());
  const targets = [id, stranger.id, to, to].map((conversation, i) => ({ conversation, cid: cids[i] ?? "" }));
  const command = {
    type: "multicast",
    body: makeText("Mbote", ben),
    source: { conversation: id, seq: 1 },
    to: targets,
  } as const;
  const refs = phone.multicast({ ...command, to: targets });
  const outcomes: Awaited<ReturnType<typeof phone.waitForOutcome>>[] = [];
  for (const ref of refs) outcomes.push(await phone.waitForOutcome(ref));
  expect(outcomes).toMatchObject([{ seq: 2 }, { error: "conversation_not_found" }, { seq: 1 }, { seq: 2 }]);
  expect(original).toHaveBeenCalledTimes(1);
  await waitUntil(() => tablet.seqs.length === 3);
  expect(toTexts(await readLog(clara, to))).toEqual(["Mbote", "Mbote"]);
  expect(await readLog(stranger.ana, stranger.id)).toEqual([]);
  // The same again by HTTP: every message is stored already.
  const again = await request(ana, { ...command, to: targets });
  expect(again).toEqual({
    sent: [0, 2, 3].map((i) => ({ ...targets[i], ...outcomes[i], epoch: expect.any(String) })),
    refused: [{ cid: cids[1], error: "conversation_not_found" }],
  });
});

test("a file sent to many is referenced by as many messages as were accepted", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  const image = await seedFile(ana.id);
  const targets = [id, to].map((conversation) => ({ conversation, cid: createUuid() }));
  const spread = await request(ana, { type: "multicast", body: makeImageBody(image.id, "à tous"), to: targets });
  expect(spread.sent).toHaveLength(2);
  expect(await countFileReferences(image.id)).toBe(2);
  for (const [person, conversation] of [
    [ben, id],
    [clara, to],
  ] as const) {
    expect((await readLog(person, conversation))[0]?.body).toEqual(makeImageBody(image.id, "à tous"));
  }
  const refused = await request(ana, {
    type: "multicast",
    body: makeImageBody(createUuid()),
    to: [{ conversation: id, cid: createUuid() }],
  });
  expect(refused).toMatchObject({ sent: [], refused: [{ error: "file_not_found" }] });
});

test("an unreadable frame to many is answered with codes, for each message if only those are invalid", async () => {
  const { ana, id } = await makePair();
  const phone = await Device.open(ana);
  const targets = (count: number) => Array.from({ length: count }, () => ({ conversation: id, cid: createUuid() }));
  for (const [body, to] of [
    [makeText("x"), []],
    [makeText("x"), targets(multicastMax + 1)],
    [{ ...makeImageBody(createUuid()), width: -1 }, targets(1)],
  ] as const) {
    phone.multicast({ type: "multicast", body, to: [...to] });
    expect(await phone.nextOf("x")).toEqual(["x", "malformed_frame"]);
  }
  for (const [text, error] of [
    ["  ", "empty_message"],
    ["x".repeat(8_001), "message_too_long"],
    ["sonne\u0007", "invalid_text"],
  ] as const) {
    const refs = phone.multicast({ type: "multicast", body: makeText(text), to: targets(2) });
    for (const ref of refs) expect(await phone.waitForOutcome(ref)).toEqual({ error });
  }
  const cid = packUuid(createUuid());
  // A source and a conversation with handles that were never assigned.
  phone.send(["f", 900, "x", [77, 1], [[id, cid]]]);
  expect(await phone.waitForOutcome(900)).toEqual({ error: "original_gone" });
  phone.send(["f", 910, "x", null, [[77, cid]]]);
  expect(await phone.waitForOutcome(910)).toEqual({ error: "conversation_not_found" });
  phone.send(["s", 920, id, cid, "x", [77, 1]]);
  expect(await phone.waitForOutcome(920)).toEqual({ error: "original_gone" });
  expect(await readLog(ana, id)).toEqual([]);
});

test("a forwarded message has its author's real name, not the one sent with it", async () => {
  const { ana, ben, clara, id, to } = await makeThree();
  await sendTexts(ben, id, "Transférez 200 $");
  await sendTexts(ana, to, "Mbote");
  const named = (by: Person, text: string, name: string): Body => ({
    type: "text",
    text,
    forwarded: { by: by.id, name },
  });
  expect(
    await forward(ana, named(ben, "Transférez 200 $", "Rawbank Service Client"), { conversation: id, seq: 1 }, to),
  ).toBe(2);
  expect((await readLog(clara, to))[1]?.body).toEqual(makeText("Transférez 200 $", ben));
  // The device that sent a wrong name receives the correct one.
  expect((await readLog(ana, to))[1]?.body).toEqual(makeText("Transférez 200 $", ben));
  expect((await readRow(ana, to)).revision).toBeGreaterThan(0);
  // A forward of an own message, or of a forward, names the original author only.
  expect(await forward(ana, named(ana, "Mbote", "Police"), { conversation: to, seq: 1 }, id)).toBe(2);
  expect((await readLog(ben, id))[1]?.body).toEqual(makeText("Mbote", ana));
  await call("PATCH", "/api/profile", { token: ben.token, body: { username: "Ben Ilunga" } });
  const further = await befriend(clara, await seedPerson());
  expect(await forward(clara, named(ben, "Transférez 200 $", "Rawbank"), { conversation: to, seq: 2 }, further)).toBe(
    1,
  );
  expect((await readLog(clara, further))[0]?.body).toEqual(named(ben, "Transférez 200 $", "Ben Ilunga"));
});
