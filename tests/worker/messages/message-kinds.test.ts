import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { previewMaxLength } from "#contract/limits/messages.ts";
import type { Body } from "#contract/messages/body.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import {
  countFileReferences,
  makeDocumentBody,
  makeImageBody,
  makeVoiceBody,
  seedFile,
} from "#tests/worker/support/seeded-files.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

const send = (from: Person, conversation: string, body: Body, cid = createUuid()) =>
  request(from, { type: "send", conversation, messages: [{ cid, body }] });
const placesOf = ({ sent }: CommandResults["send"]) => sent.map(({ seq }) => seq);
const names = (conversation: string, person: Person, file: Uuid) =>
  getConversationStub(env, conversation).canReadFile(person.id, file);

test("a picture, a document and a voice message are described by the directory, whatever the sender claims", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await Device.open(ben);
  const image = await seedFile(ana.id);
  const document = await seedFile(ana.id, { type: "application/pdf", name: "contrat.pdf" });
  const voice = await seedFile(ana.id, { type: "audio/webm" });
  await send(ana, id, { ...makeImageBody(image.id, "La plage"), width: 1, height: 1, size: 9, mime: "image/png" });
  await send(ana, id, { ...makeDocumentBody(document.id, "menteur.txt"), mime: "image/png" });
  await send(ana, id, { ...makeVoiceBody(voice.id), size: 7 });
  const expected = [
    makeImageBody(image.id, "La plage"),
    makeDocumentBody(document.id, "contrat.pdf"),
    makeVoiceBody(voice.id),
  ];
  expect((await readLog(ben, id)).map(({ body }) => body)).toEqual(expected);
  await waitUntil(() => phone.seqs.length === 3);
  expect(phone.decodeMessages(await phone.nextOf("m"))[0]?.body).toEqual(expected[0]);
  expect(await readRow(ben, id)).toMatchObject({ unread: 3, preview: expected[2], whole: true });
});

test("a file that is incomplete, another person's or of another kind cannot be referenced", async () => {
  const { ana, ben, id } = await makePair();
  const [bens, halfway] = [await seedFile(ben.id), await seedFile(ana.id, { status: "receiving" })];
  const [image, sound] = [await seedFile(ana.id), await seedFile(ana.id, { type: "audio/ogg" })];
  for (const [body, error] of [
    [makeImageBody(bens.id), "file_not_found"],
    [makeImageBody(halfway.id), "file_not_found"],
    [makeImageBody(createUuid()), "file_not_found"],
    [makeImageBody(sound.id), "file_kind_mismatch"],
    [makeVoiceBody(image.id), "file_kind_mismatch"],
    [{ ...makeImageBody(image.id), forwarded: { by: ben.id, name: "Ben" } }, "invalid_input"],
    [{ type: "text", text: "pas de lui", forwarded: { by: ben.id, name: "Ben" } }, "invalid_input"],
  ] as const) {
    expect(await send(ana, id, body), JSON.stringify(body)).toEqual({ error });
  }
  expect(await readLog(ana, id)).toEqual([]);
  for (const file of [bens, halfway, image, sound]) expect(await countFileReferences(file.id)).toBe(0);
});

test("a text sent together with a refused file is stored nevertheless", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  const image = await seedFile(ana.id);
  const messages = [
    makeImageBody(createUuid()),
    { type: "text", text: "au milieu" } as const,
    makeImageBody(image.id),
  ].map((body) => ({ cid: createUuid(), body }));
  const refs = messages.map((message) => device.sendMessage(id, message));
  expect(await device.waitForOutcome(refs[0] as number)).toEqual({ error: "file_not_found" });
  expect(await device.waitForOutcome(refs[1] as number)).toMatchObject({ seq: 1 });
  expect(await device.waitForOutcome(refs[2] as number)).toMatchObject({ seq: 2 });
  const byHttp = await request(ana, { type: "send", conversation: id, messages });
  expect(placesOf(byHttp)).toEqual([1, 2]);
});

test("a message with a file that is sent again keeps its position, also if the file is gone", async () => {
  const { ana, id } = await makePair();
  const [image, cid] = [await seedFile(ana.id), createUuid()];
  const first = await send(ana, id, makeImageBody(image.id), cid);
  expect(await countFileReferences(image.id)).toBe(1);
  expect(await send(ana, id, makeImageBody(image.id), cid)).toEqual(first);
  expect(await countFileReferences(image.id)).toBe(1);
  expect(await send(ana, id, makeImageBody(createUuid()), cid)).toEqual(first);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
  await waitUntil(async () => (await countFileReferences(image.id)) === undefined);
  expect(await send(ana, id, makeImageBody(image.id), cid)).toEqual(first);
});

test("a message that was deleted and is sent again does not reference its file again, though another message still does", async () => {
  const { ana, id } = await makePair();
  const [image, cid] = [await seedFile(ana.id), createUuid()];
  const first = await send(ana, id, makeImageBody(image.id), cid);
  await send(ana, id, makeImageBody(image.id));
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 1 });
  await waitUntil(async () => (await countFileReferences(image.id)) === 1);
  expect(await send(ana, id, makeImageBody(image.id), cid)).toEqual(first);
  expect(await countFileReferences(image.id)).toBe(1);
});

test("a file can be referenced by another message if the first one is refused", async () => {
  const { ana, ben, id } = await makePair();
  const image = await seedFile(ana.id);
  await getConversationStub(env, id).setBlocked(ana.id, true);
  expect(await send(ana, id, makeImageBody(image.id))).toEqual({ error: "contact_blocked" });
  expect(await countFileReferences(image.id)).toBe(0);
  await getConversationStub(env, id).setBlocked(ana.id, false);
  expect(placesOf(await send(ana, id, makeImageBody(image.id)))).toEqual([1]);
  expect(await names(id, ben, image.id)).toBe(true);
});

test("a file can be read by those who can see a message that references it, and no longer", async () => {
  const { ana, ben, id } = await makePair();
  const other = await makePair();
  const [first, second, third] = [await seedFile(ana.id), await seedFile(ana.id), await seedFile(ben.id)];
  await send(ana, id, makeImageBody(first.id));
  await send(ana, id, makeImageBody(second.id));
  await send(ana, id, makeImageBody(first.id));
  await send(ben, id, makeImageBody(third.id));
  for (const file of [first, second, third]) {
    expect(await names(id, ana, file.id)).toBe(true);
    expect(await names(id, ben, file.id)).toBe(true);
    expect(await names(id, other.ana, file.id)).toBe(false);
    expect(await names(other.id, ana, file.id)).toBe(false);
  }
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 2 });
  expect(await names(id, ana, second.id)).toBe(false);
  await request(ben, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
  expect(await names(id, ben, first.id)).toBe(true);
  await request(ben, { type: "clearHistory", conversation: id, upTo: 3, keep: true });
  expect(await names(id, ben, first.id)).toBe(false);
  expect(await names(id, ana, first.id)).toBe(true);
  await getConversationStub(env, id).closeConnection(await connectionOf(id));
  expect(await names(id, ana, third.id)).toBe(false);
  expect(await names(id, ana, first.id)).toBe(true);
  expect(await names(id, ben, third.id)).toBe(true);
});

const connectionOf = async (conversation: string): Promise<Uuid> => {
  const query = env.DB.prepare("SELECT id FROM connections WHERE conversation_id = ?").bind(conversation);
  return (await query.first<Uuid>("id")) ?? "";
};

test("captions are truncated in the list like texts, and never to something invisible", async () => {
  const { ana, ben, id } = await makePair();
  const [image, document] = [await seedFile(ana.id), await seedFile(ana.id, { type: "application/pdf" })];
  await send(ana, id, makeImageBody(image.id, "m".repeat(previewMaxLength + 1)));
  await waitUntil(async () => (await readRow(ben, id)).head === 1);
  expect(await readRow(ben, id)).toMatchObject({ whole: false, preview: { type: "image", text: "m".repeat(160) } });
  await send(ana, id, makeDocumentBody(document.id, "a.pdf", `${" \u200b".repeat(previewMaxLength)}enfin`));
  await waitUntil(async () => (await readRow(ben, id)).head === 2);
  expect(await readRow(ben, id)).toMatchObject({ whole: false, preview: { type: "file", text: "enfin" } });
  await sendTexts(ana, id, `${" ".repeat(previewMaxLength)}là`);
  await waitUntil(async () => (await readRow(ben, id)).head === 3);
  expect(await readRow(ben, id)).toMatchObject({ whole: false, preview: { type: "text", text: "là" } });
});

test("a search covers captions, file names and forwarded texts, and nothing else", async () => {
  const { ana, ben, id } = await makePair();
  const image = await seedFile(ana.id, { name: "zebre.jpg" });
  const document = await seedFile(ana.id, { type: "application/pdf", name: "Zèbre été.pdf" });
  const voice = await seedFile(ana.id, { type: "audio/webm", name: "zebre.webm" });
  await send(ana, id, makeImageBody(image.id, "un ZÈBRE"));
  await send(ana, id, makeDocumentBody(document.id, "x.pdf", "sans rapport"));
  await send(ana, id, makeVoiceBody(voice.id));
  await sendTexts(ana, id, "le zèbre deux", "rien");
  await request(ana, {
    type: "send",
    conversation: id,
    messages: [
      {
        cid: createUuid(),
        body: { type: "text", text: "le zèbre deux", forwarded: { by: ana.id, name: "zzz" } },
        source: { conversation: id, seq: 4 },
      },
    ],
  });
  const search = async (query: string) =>
    (await request(ben, { type: "search", conversation: id, query, before: 100 })).messages.map(({ seq }) => seq);
  expect(await search("zebre")).toEqual([6, 4, 2, 1]);
  expect(await search("zzz")).toEqual([]);
  expect(await search("vacances")).toEqual([]);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq: 4 });
  expect(await search("zebre")).toEqual([6, 2, 1]);
  // Nothing remains of a combining mark alone.
  expect(await search("\u0301")).toEqual([]);
});
