import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { filePath, partBytes, partCount } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import {
  fileBytesPerDay,
  fileMaxBytes,
  filePartBytes,
  filesReceivingMax,
  storageMaxBytes,
} from "#contract/limits/files.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { makePng, makePngClaiming } from "#tests/worker/support/pictures.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import {
  announceFile,
  completeFile,
  listFileKeys,
  makeRandomBytes,
  readFileState,
  readStoredFile,
  slicePart,
  uploadFile,
  uploadPart,
  uploadParts,
} from "#tests/worker/support/uploads.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

const large = 2 * filePartBytes + 1_000;

test("a file is announced, uploaded in parts in any order and completed", async () => {
  const ana = await makePerson();
  const [id, bytes] = [createUuid(), makeRandomBytes(large)];
  expect(await announceFile(ana, id, large, "notes.bin")).toMatchObject({
    status: 200,
    body: { id, size: large, received: [], ready: null },
  });
  for (const part of [2, 0]) expect((await uploadPart(ana, id, part, slicePart(bytes, part))).status).toBe(204);
  expect((await readFileState(ana, id)).body.received).toEqual([0, 2]);
  expect(await completeFile(ana, id)).toMatchObject({ status: 409, body: { error_code: "file_incomplete" } });
  expect((await uploadPart(ana, id, 1, slicePart(bytes, 1))).status).toBe(204);
  const ready = { id, size: large, received: [0, 1, 2], ready: { type: "application/octet-stream", width: null } };
  expect(await completeFile(ana, id)).toMatchObject({ status: 200, body: ready });
  expect(await readFileState(ana, id)).toMatchObject({ status: 200, body: ready });
  const stored = await readStoredFile(id);
  expect(stored?.bytes.equals(bytes)).toBe(true);
  expect(stored?.key).toMatch(new RegExp(`^${ana.id}_\\d{13}_[\\w-]{22}\\.bin$`));
});

test("a request whose answer was lost can be repeated without effect", async () => {
  const ana = await makePerson();
  const [id, bytes] = [createUuid(), makePng(300, 200)];
  for (let i = 0; i < 2; i++) expect((await announceFile(ana, id, bytes.length)).status).toBe(200);
  for (let i = 0; i < 2; i++) expect((await uploadPart(ana, id, 0, bytes)).status).toBe(204);
  expect((await announceFile(ana, id, bytes.length)).body.received).toEqual([0]);
  const first = await completeFile(ana, id);
  const key = (await readStoredFile(id))?.key;
  expect(await completeFile(ana, id)).toEqual(first);
  expect((await announceFile(ana, id, bytes.length)).body).toEqual(first.body);
  expect((await uploadPart(ana, id, 0, makeRandomBytes(bytes.length) as Uint8Array<ArrayBuffer>)).status).toBe(204);
  expect(await completeFile(ana, id)).toEqual(first);
  expect((await readStoredFile(id))?.key).toBe(key);
  expect(await listFileKeys(ana.id)).toEqual([key]);
});

test.each([
  ["a picture", () => makePng(600, 400)],
  ["anything else", () => makeRandomBytes(large)],
])("%s completed twice at once becomes one file without parts, and both get the same answer", async (_, make) => {
  const ana = await makePerson();
  const bytes = make();
  const id = await uploadParts(ana, bytes);
  const [first, second, third] = await Promise.all([
    completeFile(ana, id),
    completeFile(ana, id),
    completeFile(ana, id),
  ]);
  expect(first.status).toBe(200);
  expect(second).toEqual(first);
  expect(third).toEqual(first);
  expect(await listFileKeys(ana.id)).toEqual([(await readStoredFile(id))?.key]);
  await expect.poll(async () => (await listFileKeys("parts/")).filter((key) => key.includes(id))).toEqual([]);
});

test("a stored part cannot be replaced after it was checked", async () => {
  const ana = await makePerson();
  const [id, bytes] = [createUuid(), makeRandomBytes(500)];
  await announceFile(ana, id, bytes.length);
  await uploadPart(ana, id, 0, slicePart(bytes, 0));
  expect((await uploadPart(ana, id, 0, makeRandomBytes(500) as Uint8Array<ArrayBuffer>)).status).toBe(204);
  await completeFile(ana, id);
  expect((await readStoredFile(id))?.bytes.equals(bytes)).toBe(true);
});

test("an id belongs to one name and one size", async () => {
  const ana = await makePerson();
  const id = createUuid();
  await announceFile(ana, id, 1_000, "a.txt");
  expect(await announceFile(ana, id, 1_001, "a.txt")).toMatchObject({
    status: 400,
    body: { error_code: "invalid_input" },
  });
  expect(await announceFile(ana, id, 1_000, "b.txt")).toMatchObject({
    status: 400,
    body: { error_code: "invalid_input" },
  });
});

test("another person's file is answered as missing on every route", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const otherFile = await uploadParts(ana, makePng(40, 40));
  for (const id of [otherFile, createUuid()]) {
    const gone = { status: 404, body: { error_code: "file_not_found" } };
    if (id === otherFile) expect(await announceFile(ben, id, 100)).toMatchObject(gone);
    expect(await readFileState(ben, id)).toMatchObject(gone);
    expect(await uploadPart(ben, id, 0, makeRandomBytes(100) as Uint8Array<ArrayBuffer>)).toEqual({
      status: 404,
      error: "file_not_found",
    });
    expect(await completeFile(ben, id)).toMatchObject(gone);
    expect(await call("DELETE", filePath(id), { token: ben.token })).toMatchObject(gone);
  }
  expect((await completeFile(ana, otherFile)).status).toBe(200);
});

test("a part must have its exact length, also without Content-Length", async () => {
  const ana = await makePerson();
  const id = createUuid();
  await announceFile(ana, id, large);
  const wrong = { status: 400, error: "file_part_mismatch" };
  const lengths: [number, number][] = [
    [0, filePartBytes - 1],
    [0, filePartBytes + 1],
    [0, 0],
    [2, filePartBytes],
    [2, 999],
    [3, 1],
    [9_999, 1],
  ];
  for (const [part, length] of lengths) {
    const bytes = new Uint8Array(length);
    expect(await uploadPart(ana, id, part, bytes)).toEqual(wrong);
    const { body } = new Response(bytes);
    if (body && length > 0) expect(await uploadPart(ana, id, part, body)).toEqual(wrong);
  }
  expect((await readFileState(ana, id)).body.received).toEqual([]);
  for (const part of ["-1", "1.5", "x", "00001"]) {
    const answer = await site.fetch(`${site.origin}${filePath(id)}/parts/${part}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${ana.token}` },
      body: new Uint8Array(filePartBytes),
    });
    expect(answer.status).toBe(400);
  }
});

test("a file has at least one byte and at most 25 megabytes", async () => {
  const ana = await makePerson();
  const tooLarge = { status: 413, body: { error_code: "file_too_large" } };
  expect(await announceFile(ana, createUuid(), fileMaxBytes + 1)).toMatchObject(tooLarge);
  for (const size of [0, -1, 1.5]) {
    expect(await announceFile(ana, createUuid(), size)).toMatchObject({
      status: 400,
      body: { error_code: "invalid_input" },
    });
  }
  expect((await announceFile(ana, createUuid(), fileMaxBytes)).status).toBe(200);
  expect(await uploadFile(ana, makeRandomBytes(1))).toMatchObject({
    size: 1,
    ready: { type: "application/octet-stream" },
  });
});

test.each([
  ["a path", "../../etc/passwd"],
  ["a Windows path", "C:\\boot.ini"],
  ["nothing but dots", ".."],
  ["no letter", ""],
  ["a line break with a header", "a\r\nSet-Cookie: x=1"],
  ["a NUL", "a\0.png"],
  ["a mark that turns the order of letters", "photo\u202egnp.exe"],
  ["half a character", "a\ud800.png"],
  ["5,000 letters", "a".repeat(5_000)],
])("a name with %s is refused", async (_, name) => {
  const answer = await announceFile(await makePerson(), createUuid(), 10, name);
  expect(answer).toMatchObject({ status: 400, body: { error_code: "invalid_file_name" } });
});

test("a picture of 50,000 pixels a side is refused by its header, without decoding", async () => {
  const ana = await makePerson();
  const id = await uploadParts(ana, makePngClaiming(50_000, 50_000));
  expect(await completeFile(ana, id)).toMatchObject({ status: 400, body: { error_code: "image_too_many_pixels" } });
  expect(await listFileKeys(ana.id)).toEqual([]);
});

test("a cancelled file is removed with its parts, and its id can be used again", async () => {
  const ana = await makePerson();
  const bytes = makePng(40, 40);
  const [receiving, ready] = [await uploadParts(ana, bytes), (await uploadFile(ana, bytes)).id];
  for (const id of [receiving, ready]) {
    expect((await call("DELETE", filePath(id), { token: ana.token })).status).toBe(204);
    expect(await readFileState(ana, id)).toMatchObject({ status: 404 });
    expect((await listFileKeys("parts/")).filter((key) => key.includes(id))).toEqual([]);
    expect(await call("DELETE", filePath(id), { token: ana.token })).toMatchObject({ status: 404 });
  }
  expect(await listFileKeys(ana.id)).toEqual([]);
  expect((await announceFile(ana, ready, 77)).body).toMatchObject({ size: 77, received: [], ready: null });
});

test("the daily quota is a gigabyte per person, counted to the byte", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [id, rest] = [createUuid(), 1_000];
  advanceClock(0); // within one day
  const day = Math.floor(Date.now() / 86_400_000);
  await env.DB.prepare("INSERT INTO upload_days VALUES (?, ?, ?, 'earlier')")
    .bind(ana.id, day, fileBytesPerDay - rest)
    .run();
  const over = await call("PUT", filePath(createUuid()), { token: ana.token, body: { name: "a", size: rest + 1 } });
  expect(over).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
  const many = await Promise.all(Array.from({ length: 8 }, () => announceFile(ana, createUuid(), rest / 4)));
  expect(many.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(many.filter(({ status }) => status === 429)).toHaveLength(4);
  expect((await announceFile(ben, id, rest + 1)).status).toBe(200);
});

test("announcing again costs no quota, and cancelling returns none", async () => {
  const ana = await makePerson();
  const bytes = () =>
    env.DB.prepare("SELECT sum(bytes) AS total FROM upload_days WHERE user_id = ?").bind(ana.id).first<number>("total");
  const id = createUuid();
  for (let i = 0; i < 3; i++) await announceFile(ana, id, 5_000);
  expect(await bytes()).toBe(5_000);
  await call("DELETE", filePath(id), { token: ana.token });
  expect(await bytes()).toBe(5_000);
  await announceFile(ana, id, 5_000);
  expect(await bytes()).toBe(10_000);
});

test.each(["upload_by_user", "upload_by_user_and_day", "part_by_user", "completion_by_user"] as const)(
  "%s limits the references in it",
  async (policy) => {
    const ana = await makePerson();
    const id = await uploadParts(ana, makeRandomBytes(10));
    await drainBucket(policy, ana.id);
    const limited = {
      upload_by_user: () => announceFile(ana, createUuid(), 10),
      upload_by_user_and_day: () => announceFile(ana, createUuid(), 10),
      part_by_user: () => uploadPart(ana, id, 0, new Uint8Array(10)),
      completion_by_user: () => completeFile(ana, id),
    };
    expect((await limited[policy]()).status).toBe(429);
  },
);

test("pictures that exceed the shared memory are told to retry, and succeed", async () => {
  const size = fileMaxBytes;
  const files = await Promise.all(
    Array.from({ length: 3 }, async () => ({ by: await makePerson(), id: createUuid() })),
  );
  for (const { by, id } of files) await announceFile(by, id, size);
  // Store that has all parts, and delays the second one until it is released.
  let tell = () => {};
  const notified = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let waiting = 0;
  const part = (n: number) => `parts/${"0".repeat(13)}_x/${String(n).padStart(3, "0")}`;
  const FILES = {
    list: async () => ({
      objects: Array.from({ length: partCount(size) }, (_, n) => ({ key: part(n), size: partBytes(size, n) })),
    }),
    get: async (key: string) => {
      if (key.endsWith("/000")) return { arrayBuffer: async () => new Uint8Array(makePng(20, 20, "")).buffer };
      waiting++;
      await notified;
      return null;
    },
    delete: async () => undefined,
  };
  const completeHere = ({ by, id }: { by: Person; id: Uuid }) =>
    callWith({ FILES }, "POST", `${filePath(id)}/complete`, { token: by.token });
  const [third, ...first] = files;
  if (!third) throw new Error("no file");
  const answers = first.map(completeHere);
  await waitUntil(() => waiting > 2);
  expect(await completeHere(third)).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  tell();
  for (const answer of await Promise.all(answers)) expect(answer.body).toMatchObject({ error_code: "file_incomplete" });
  expect((await completeHere(third)).body).toMatchObject({ error_code: "file_incomplete" });
});

test("one person's files are completed one after the other, so that they do not occupy others' memory", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const picture = makePng(40, 40);
  const ids = await Promise.all([1, 2, 3].map(() => uploadParts(ana, picture)));
  const other = await uploadParts(ben, picture);
  let atOnce = 0;
  let most = 0;
  const FILES = new Proxy(env.FILES, {
    get: (bucket, key) => {
      const value = Reflect.get(bucket, key);
      if (typeof value !== "function") return value;
      if (key !== "put") return value.bind(bucket);
      return async (name: string, ...rest: unknown[]) => {
        if (name.startsWith(ana.id)) most = Math.max(most, ++atOnce);
        try {
          return await value.call(bucket, name, ...rest);
        } finally {
          if (name.startsWith(ana.id)) atOnce--;
        }
      };
    },
  });
  const completeHere = (by: Person, id: Uuid) =>
    callWith({ FILES }, "POST", `${filePath(id)}/complete`, { token: by.token });
  const answers = await Promise.all([...ids.map((id) => completeHere(ana, id)), completeHere(ben, other)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(most).toBe(1);
});

test("the storage of one person is limited, and removed files free it", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const used = () =>
    env.DB.prepare("SELECT bytes FROM storage_use WHERE user_id = ?").bind(ana.id).first<number>("bytes");
  const picture = makePng(40, 40);
  const { id, size } = await uploadFile(ana, picture);
  expect(size).toBeLessThan(picture.length);
  expect(await used()).toBe(size);
  const receiving = createUuid();
  await announceFile(ana, receiving, 5_000);
  expect(await used()).toBe(size + 5_000);
  await env.DB.prepare("UPDATE storage_use SET bytes = ? WHERE user_id = ?")
    .bind(storageMaxBytes - 999, ana.id)
    .run();
  const full = { status: 507, body: { error_code: "storage_full" } };
  expect(await announceFile(ana, createUuid(), 1_000)).toMatchObject(full);
  expect((await announceFile(ana, receiving, 5_000)).status).toBe(200);
  expect((await announceFile(ben, createUuid(), 1_000)).status).toBe(200);
  await call("DELETE", filePath(id), { token: ana.token });
  expect(await used()).toBe(storageMaxBytes - 999 - size);
  expect((await announceFile(ana, createUuid(), 999)).status).toBe(200);
});

test("the number of one person's open uploads is limited, and a completed one makes room for another", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const first = await uploadParts(ana, makeRandomBytes(10));
  const at = Date.now();
  for (let i = 1; i < filesReceivingMax; i++) {
    await env.DB.prepare(
      "INSERT INTO files SELECT ?, owner_id, name, 1, NULL, NULL, NULL, NULL, NULL, status, 0, ? FROM files WHERE id = ?",
    )
      .bind(createUuid(), at, first)
      .run();
  }
  const more = createUuid();
  const refused = await call("PUT", filePath(more), { token: ana.token, body: { name: "a", size: 10 } });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
  expect((await announceFile(ben, createUuid(), 10)).status).toBe(200);
  expect((await completeFile(ana, first)).status).toBe(200);
  expect((await announceFile(ana, more, 10)).status).toBe(200);
});

test.each([
  ["a picture", () => Buffer.concat([makePng(40, 40), makeRandomBytes(large)])],
  ["any other file", () => Buffer.from(makeRandomBytes(large))],
])("a lost part of %s is requested again, accepted again, and the file completed", async (_, make) => {
  const ana = await makePerson();
  const bytes = make();
  const id = await uploadParts(ana, bytes);
  // The store lists the part but has no bytes of it.
  let isLost = true;
  const FILES = new Proxy(env.FILES, {
    get: (bucket, name) => {
      const value = Reflect.get(bucket, name);
      if (typeof value !== "function") return value;
      return (key: string, ...rest: unknown[]) => {
        const isPart = typeof key === "string" && key.endsWith(`${id}/001`);
        if (name === "get" && isPart && isLost) return Promise.resolve(null);
        if (name === "delete" && isPart) isLost = false;
        return value.call(bucket, key, ...rest);
      };
    },
  });
  const completeHere = () => callWith({ FILES }, "POST", `${filePath(id)}/complete`, { token: ana.token });
  expect(await completeHere()).toMatchObject({ status: 409, body: { error_code: "file_incomplete" } });
  expect((await readFileState(ana, id)).body.received).not.toContain(1);
  expect((await uploadPart(ana, id, 1, slicePart(bytes, 1))).status).toBe(204);
  expect(await completeHere()).toMatchObject({ status: 200 });
});
