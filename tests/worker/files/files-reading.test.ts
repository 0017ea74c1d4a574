import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type FileState, otherType, readPath } from "#contract/files.ts";
import { type ConversationId, createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { request } from "#tests/worker/support/device.ts";
import { makeSyncedGroup } from "#tests/worker/support/make-group.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { makePair, type Pair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, site } from "#tests/worker/support/site.ts";
import { listFileKeys, makeRandomBytes, uploadFile } from "#tests/worker/support/uploads.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

const bodyOf = ({ id, size, ready }: FileState, name: string): AttachedBody => ({
  type: "file",
  file: id,
  name,
  mime: ready?.type ?? otherType,
  size,
});

/** Sends a message and returns its seq. */
const send = async (from: Person, conversation: ConversationId, body: AttachedBody): Promise<number> => {
  const answer = await request(from, { type: "send", conversation, messages: [{ cid: createUuid(), body }] });
  if (answer.error) throw new Error(`not sent: ${answer.error}`);
  return answer.sent[0]?.seq ?? 0;
};

const share = async ({ ana, id }: Pair, bytes: Uint8Array, name = "notes.bin") => {
  const state = await uploadFile(ana, bytes, name);
  const seq = await send(ana, id, bodyOf(state, name));
  return { file: state.id, seq, body: bodyOf(state, name) };
};

const get = (by: Person | undefined, path: string, headers: Record<string, string> = {}, method = "GET") =>
  site.fetch(site.origin + path, {
    method,
    headers: { ...(by ? { authorization: `Bearer ${by.token}` } : {}), ...headers },
  });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

test("readers of the message can read the file, which is never executed or cached by others", async () => {
  const pair = await makePair();
  const picture = makePng(40, 40, "");
  const { file } = await share(pair, picture, "été.png");
  for (const reader of [pair.ana, pair.ben]) {
    const response = await get(reader, readPath(pair.id, file));
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, no-cache",
      "accept-ranges": "bytes",
      "content-disposition": "inline; filename=\"_t_.png\"; filename*=UTF-8''%C3%A9t%C3%A9.png",
    });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; .*sandbox/);
    const bytes = await bytesOf(response);
    expect(headers["content-length"]).toBe(String(bytes.length));
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  }
});

test("a HEAD request has the headers of GET, without the bytes", async () => {
  const pair = await makePair();
  const { file } = await share(pair, makeRandomBytes(5_000));
  const path = readPath(pair.id, file);
  for (const range of [undefined, "bytes=10-19", "bytes=9999-"]) {
    const headers: Record<string, string> = range === undefined ? {} : { range };
    const [whole, head] = [await get(pair.ben, path, headers), await get(pair.ben, path, headers, "HEAD")];
    expect(head.status).toBe(whole.status);
    expect([...head.headers]).toEqual([...whole.headers]);
    expect((await bytesOf(head)).length).toBe(0);
    await whole.arrayBuffer();
  }
});

test.each([
  ["a page called picture", "photo.png", "<!doctype html><script>alert(1)</script>", otherType],
  ["an SVG", "logo.svg", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', otherType],
  ["a PDF", "contrat.pdf", "%PDF-1.7\n1 0 obj", "application/pdf"],
])("%s is only served as a download", async (_, name, content, type) => {
  const pair = await makePair();
  const { file } = await share(pair, Buffer.from(content), name);
  const response = await get(pair.ben, readPath(pair.id, file));
  expect(response.headers.get("content-type")).toBe(type);
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; /);
  expect((await bytesOf(response)).toString()).toBe(content);
});

test("a file name is returned unchanged and cannot break a header", async () => {
  const pair = await makePair();
  const name = `l'été "100%" (1)*; filename=x.html ñ 文件 😀.txt`;
  const { file } = await share(pair, makeRandomBytes(10), name);
  const disposition = (await get(pair.ben, readPath(pair.id, file))).headers.get("content-disposition") ?? "";
  const [, plain, encoded = ""] = /^attachment; filename="([^"]*)"; filename\*=UTF-8''([^;]*)$/.exec(disposition) ?? [];
  expect(plain).toBe("l'_t_ _100__ (1)*; filename=x.html _ __ __.txt");
  expect(encoded).toMatch(/^[A-Za-z0-9!#$&+.^_`|~%-]+$/);
  expect(decodeURIComponent(encoded)).toBe(name);
});

test.each([
  ["bytes=0-99", 0, 100],
  ["bytes=100-", 100, 4_900],
  ["bytes=-100", 4_900, 100],
  ["bytes=4999-4999", 4_999, 1],
  ["bytes=4000-99999", 4_000, 1_000],
  ["bytes=-99999", 0, 5_000],
])("a range %s is answered with these bytes", async (range, offset, length) => {
  const pair = await makePair();
  const bytes = makeRandomBytes(5_000);
  const { file } = await share(pair, bytes);
  const response = await get(pair.ben, readPath(pair.id, file), { range });
  expect(response.status).toBe(206);
  expect(response.headers.get("content-range")).toBe(`bytes ${offset}-${offset + length - 1}/5000`);
  expect(response.headers.get("content-length")).toBe(String(length));
  expect((await bytesOf(response)).equals(bytes.subarray(offset, offset + length))).toBe(true);
});

test("a range beyond the end is refused, and a malformed one is ignored", async () => {
  const pair = await makePair();
  const { file } = await share(pair, makeRandomBytes(5_000));
  for (const range of ["bytes=5000-", "bytes=5000-6000", "bytes=-0"]) {
    const response = await get(pair.ben, readPath(pair.id, file), { range });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */5000");
  }
  for (const range of ["bytes=9-1", "bytes=-", "bytes=a-b", "lines=1-2", "bytes=0-1,3-4", "0-1"]) {
    const response = await get(pair.ben, readPath(pair.id, file), { range });
    expect(response.status).toBe(200);
    expect((await bytesOf(response)).length).toBe(5_000);
  }
});

test("a client that has a file gets 304, and a range continues only the same file", async () => {
  const pair = await makePair();
  const { file } = await share(pair, makeRandomBytes(5_000));
  const path = readPath(pair.id, file);
  const etag = (await get(pair.ben, path)).headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[^"]+"$/);
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
    const response = await get(pair.ben, path, { "if-none-match": known, range: "bytes=0-9" });
    expect(response.status).toBe(304);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect((await bytesOf(response)).length).toBe(0);
  }
  expect((await get(pair.ben, path, { "if-none-match": '"x"' })).status).toBe(200);
  expect((await get(pair.ben, path, { range: "bytes=0-9", "if-range": etag })).status).toBe(206);
  for (const other of ['"x"', `W/${etag}`, "Sat, 21 Nov 2026 00:00:00 GMT"]) {
    expect((await get(pair.ben, path, { range: "bytes=0-9", "if-range": other })).status).toBe(200);
  }
});

/** Requests of the same path in every form. */
const requests: [string, Record<string, string>][] = [
  ["GET", {}],
  ["HEAD", {}],
  ["GET", { range: "bytes=0-9" }],
  ["GET", { range: "bytes=99999999-" }],
  ["HEAD", { range: "bytes=0-9" }],
  ["GET", { "if-none-match": "*" }],
  ["POST", {}],
  ["PUT", {}],
  ["PATCH", {}],
  ["DELETE", {}],
  ["OPTIONS", {}],
];

const answersTo = async (by: Person | undefined, path: string): Promise<string[]> => {
  const answers: string[] = [];
  for (const [method, headers] of requests) {
    const response = await get(by, path, headers, method);
    answers.push(JSON.stringify([response.status, [...response.headers].sort(), await response.text()]));
  }
  return answers;
};

test("an unreadable file gets the same answer as a missing one, in every form of request", async () => {
  const [pair, other] = [await makePair(), await makePair()];
  const { ana, ben, id } = pair;
  const sam = await seedPerson();
  const { file: kept } = await share(pair, makeRandomBytes(100));
  const { file: deleted, seq } = await share(pair, makeRandomBytes(100));
  expect((await request(ana, { type: "deleteForEveryone", conversation: id, seq })).error).toBeUndefined();
  const unsent = (await uploadFile(ana, makeRandomBytes(100))).id;
  const { file: othersFile } = await share(other, makeRandomBytes(100));

  const nothing = await answersTo(ben, readPath(id, createUuid()));
  expect(JSON.parse(nothing[0] ?? "")[0]).toBe(404);
  expect(JSON.parse(JSON.parse(nothing[0] ?? "")[2])).toMatchObject({ error_code: "file_not_found" });
  expect(JSON.parse(nothing[1] ?? "")[0]).toBe(404);
  const refused: [string, Person, string][] = [
    ["a stranger", sam, readPath(id, kept)],
    ["a stranger in a conversation of their own", sam, readPath(privateConversationId(sam.id, ana.id), kept)],
    ["a deleted message's", ben, readPath(id, deleted)],
    ["a deleted message's, to its author", ana, readPath(id, deleted)],
    ["one never sent", ben, readPath(id, unsent)],
    ["one never sent, to its owner", ana, readPath(id, unsent)],
    ["one of another conversation", ben, readPath(id, othersFile)],
    ["a path", ben, readPath(id, "..%2f..%2fsecret")],
    ["no conversation", ben, readPath("x", kept)],
    ["a key of the store", ben, readPath(id, encodeURIComponent((await listFileKeys(ana.id))[0] ?? ""))],
  ];
  for (const [name, by, path] of refused) expect([name, await answersTo(by, path)]).toEqual([name, nothing]);
  for (const [method, headers] of requests) {
    expect((await get(undefined, readPath(id, kept), headers, method)).status).toBe(401);
  }
  const wrong = await get(ben, readPath(id, kept), {}, "POST");
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET"]);
  expect(await wrong.json()).toMatchObject({ error_code: "method_not_allowed" });
});

test("response times do not reveal whether a foreign conversation exists: its object is not called", async () => {
  const pair = await makePair();
  const sam = await seedPerson();
  const { file } = await share(pair, makeRandomBytes(100));
  const called: string[] = [];
  const CONVERSATION = {
    getByName: (name: string) => {
      called.push(name);
      return env.CONVERSATION.getByName(name);
    },
  };
  const read = (by: Person, id: ConversationId) =>
    callWith({ CONVERSATION }, "GET", readPath(id, file), { token: by.token });
  expect((await read(sam, pair.id)).status).toBe(404);
  expect(called).toEqual([]);
  expect((await read(sam, privateConversationId(sam.id, pair.ana.id))).status).toBe(404);
  expect((await read(sam, createUuid())).status).toBe(404);
  const group = await makeSyncedGroup(2);
  expect((await read(sam, group.id)).status).toBe(404);
  expect(called).toEqual([]);
  expect((await read(pair.ben, pair.id)).status).toBe(200);
  expect(called).toEqual([pair.id]);
});

test("before completion nobody but the owner finds a file, by any method", async () => {
  const { ana, ben } = await makePair();
  const file = (await uploadFile(ana, makeRandomBytes(100))).id;
  const answersOf = async (by: Person, path: string, methods: string[]) => {
    const answers: unknown[] = [];
    for (const method of methods) {
      const response = await get(by, path, {}, method);
      answers.push([response.status, ((await response.json()) as { error_code?: string }).error_code]);
    }
    return answers;
  };
  const nothing = [404, "file_not_found"];
  const paths = {
    "": ["GET", "POST", "PATCH", "DELETE", "OPTIONS"],
    "/parts/0": ["GET", "POST", "PATCH", "DELETE", "OPTIONS"],
    "/complete": ["GET", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"],
  };
  for (const [path, methods] of Object.entries(paths)) {
    for (const id of [file, createUuid()])
      expect(await answersOf(ben, `/api/files/${id}${path}`, methods)).toEqual(methods.map(() => nothing));
    expect(await answersOf(ana, `/api/files/${file}${path}`, ["PATCH"])).toEqual([[405, "method_not_allowed"]]);
  }
});

test("access to the other's files ends with the contact, and a blocked person's files are never delivered", async () => {
  const [ended, blocked] = [await makePair(), await makePair()];
  const { file } = await share(ended, makeRandomBytes(100));
  expect((await get(ended.ben, readPath(ended.id, file))).status).toBe(200);
  await call("DELETE", `/api/contacts/${ended.ana.id}`, { token: ended.ben.token });
  await expect.poll(async () => (await get(ended.ben, readPath(ended.id, file))).status).toBe(404);
  expect((await get(ended.ana, readPath(ended.id, file))).status).toBe(200);

  expect((await call("PUT", `/api/blocks/${blocked.ana.id}`, { token: blocked.ben.token })).status).toBe(200);
  const { file: withheld } = await share(blocked, makeRandomBytes(100));
  expect((await get(blocked.ana, readPath(blocked.id, withheld))).status).toBe(200);
  expect((await get(blocked.ben, readPath(blocked.id, withheld))).status).toBe(404);
});

test("a forwarded file outlives its original message, and is deleted with the last message that references it", async () => {
  const [first, second] = [await makePair(), await makePair()];
  const { ana, ben, id } = first;
  const { file, seq, body } = await share(first, makeRandomBytes(300));
  const conversation = await connect(ben, second.ana);
  const source = { conversation: id, seq };
  const forwarded = { ...body, forwarded: { by: ana.id, name: ana.username } };
  const spread = await request(ben, {
    type: "multicast",
    body: forwarded,
    source,
    to: [{ conversation, cid: createUuid() }],
  });
  const place = spread.error ? 0 : (spread.sent[0]?.seq ?? 0);
  await request(ana, { type: "deleteForEveryone", conversation: id, seq });
  expect((await get(ben, readPath(id, file))).status).toBe(404);
  expect((await bytesOf(await get(second.ana, readPath(conversation, file)))).length).toBe(300);
  await request(ben, { type: "deleteForEveryone", conversation, seq: place });
  expect((await get(second.ana, readPath(conversation, file))).status).toBe(404);
  await expect.poll(() => listFileKeys(ana.id)).toEqual([]);
  expect(await env.DB.prepare("SELECT count(*) AS n FROM files WHERE id = ?").bind(file).first("n")).toBe(0);
});

const connect = async (a: Person, b: Person): Promise<ConversationId> => {
  const asked = await call("POST", "/api/requests", { token: a.token, body: { to_user_id: b.id } });
  const request_id: Uuid = (asked.body as { request_id: Uuid }).request_id;
  const accepted = await call("POST", `/api/requests/${request_id}/accept`, { token: b.token });
  if (accepted.status !== 200) throw new Error(`not connected: ${accepted.status}`);
  return privateConversationId(a.id, b.id);
};

test("a referenced file cannot be cancelled", async () => {
  const pair = await makePair();
  const { file } = await share(pair, makeRandomBytes(100));
  const answer = await call("DELETE", `/api/files/${file}`, { token: pair.ana.token });
  expect(answer).toMatchObject({ status: 409, body: { error_code: "file_in_use" } });
  expect((await get(pair.ben, readPath(pair.id, file))).status).toBe(200);
});
