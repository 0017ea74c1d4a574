import { describe, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { type Body, withReply } from "#contract/messages/body.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup, makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { makeDocumentBody, makeImageBody, makeVoiceBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";

const send = (from: Person, conversation: string, body: Body, source?: { conversation: string; seq: number }) =>
  request(from, {
    type: "send",
    conversation,
    messages: [{ cid: createUuid(), body, ...(source ? { source } : {}) }],
  }) as Promise<CommandResults["send"]>;
const sendReply = (from: Person, conversation: string, text: string, reply: number) =>
  send(from, conversation, { type: "text", text, reply });
const readBody = async (person: Person, conversation: string, seq: number) =>
  (await readLog(person, conversation)).find((message) => message.seq === seq)?.body;

describe("a reply", () => {
  test("names the message it answers to both people, and costs at most 6 bytes more than its text", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, ...Array.from({ length: 41 }, (_, n) => `m${n + 1}`), "On se voit quand ?");
    const phone = await Device.open(ben);
    await sendReply(ben, id, "Demain", 42);
    await sendTexts(ben, id, "Demain");
    await waitUntil(async () => (await readRow(ana, id)).head === 44);
    expect(await readBody(ana, id, 43)).toEqual({ type: "text", text: "Demain", reply: 42 });
    const [reply, text] = [await phone.nextOf("m"), await phone.nextOf("m")].map(
      (frame) => JSON.stringify(frame).length,
    );
    expect((reply ?? 0) - (text ?? 0)).toBeGreaterThan(0);
    expect((reply ?? 0) - (text ?? 0)).toBeLessThanOrEqual(6);
    expect((await readRow(ana, id)).unread).toBe(2);
  });

  test("may be a picture, a document or a voice message, and is found by its text", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ben, id, "Montre");
    const bodies = [
      makeImageBody((await seedFile(ana.id)).id, "La plage"),
      makeDocumentBody((await seedFile(ana.id, { type: "application/pdf", name: "contrat.pdf" })).id, "contrat.pdf"),
      makeVoiceBody((await seedFile(ana.id, { type: "audio/webm" })).id),
    ].map((body) => withReply(body, 1));
    for (const body of bodies) await send(ana, id, body);
    await sendReply(ana, id, "Voilà tout", 1);
    expect((await readLog(ben, id)).slice(1, 4).map(({ body }) => body)).toEqual(bodies);
    const found = await request(ben, { type: "search", conversation: id, query: "voila", before: 99 });
    expect(found.messages.map(({ body }) => body)).toEqual([{ type: "text", text: "Voilà tout", reply: 1 }]);
  });

  test("to a message that does not exist is stored without the reference, and its author's devices learn it", async () => {
    const { ana, id } = await makePair();
    await sendReply(ana, id, "à soi-même", 1);
    await sendReply(ana, id, "à l'avenir", 9);
    expect((await readLog(ana, id)).map(({ body }) => body)).toEqual([
      { type: "text", text: "à soi-même" },
      { type: "text", text: "à l'avenir" },
    ]);
    const { messages } = await request(ana, { type: "revised", conversation: id, since: 0 });
    expect(messages.map(({ seq, body }) => [seq, "reply" in body])).toEqual([
      [1, false],
      [2, false],
    ]);
  });

  test("to a message that was deleted or cleared meanwhile is sent and keeps its reference", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "à regretter", "à effacer");
    await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await request(ben, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
    await sendReply(ben, id, "trop tard", 1);
    await sendReply(ben, id, "quand même", 2);
    expect((await readLog(ben, id)).map(({ body }) => body)).toEqual([
      { type: "text", text: "trop tard", reply: 1 },
      { type: "text", text: "quand même", reply: 2 },
    ]);
    expect(toTexts(await readLog(ana, id))).toEqual(["<deleted>", "à effacer", "trop tard", "quand même"]);
  });

  test("loses its text and its reference when it is deleted", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ana, id, "question");
    await sendReply(ben, id, "réponse", 1);
    await request(ben, { type: "deleteForEveryone", conversation: id, seq: 2 });
    expect(await readBody(ana, id, 2)).toEqual({ type: "deleted" });
  });

  test("reveals nothing of a group's history to a member who joined later, who cannot refer to it either", async () => {
    const { id, owner } = await makeSyncedGroup(2);
    await sendTexts(owner, id, "secret d'avant");
    const late = await seedPerson();
    await befriend(owner, late);
    await requestAs(owner, "POST", `/api/groups/${id}/members`, { members: [late.id] });
    await waitUntil(async () => (await readRow(late, id)).head > 2);
    await sendReply(owner, id, "à propos", 2);
    await sendReply(late, id, "je devine", 2);
    const log = await readLog(late, id);
    expect(JSON.stringify(log)).not.toContain("secret");
    expect(log.slice(-2).map(({ body }) => body)).toEqual([
      { type: "text", text: "à propos", reply: 2 },
      { type: "text", text: "je devine" },
    ]);
  });

  test("is not a reply any more when it is forwarded or broadcast", async () => {
    const { ana, ben, id } = await makePair();
    await sendTexts(ben, id, "question");
    await sendReply(ana, id, "réponse", 1);
    const file = await seedFile(ana.id);
    await send(ana, id, withReply(makeImageBody(file.id), 1));
    const group = (await makeGroup(ana, "Amis", [ben])) as { id: string };
    const source = (seq: number) => ({ conversation: id, seq });
    await send(ana, group.id, { type: "text", text: "réponse", reply: 1 }, source(2));
    await send(ana, group.id, withReply(makeImageBody(file.id), 1), source(3));
    await request(ana, {
      type: "multicast",
      body: { type: "text", text: "à tous", reply: 1 },
      to: [{ conversation: group.id, cid: createUuid() }],
    });
    const bodies = (await readLog(ben, group.id)).slice(-3).map(({ body }) => body);
    expect(bodies.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    expect(bodies.filter((body) => "reply" in body)).toEqual([]);
  });
});
