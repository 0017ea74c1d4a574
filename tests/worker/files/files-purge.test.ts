import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { orphanMaxMs } from "#contract/limits/files.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { countDirectoryWork } from "#tests/worker/support/row-counter.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import {
  announceFile,
  completeFile,
  listFileKeys,
  makeRandomBytes,
  readFileState,
  readStoredFile,
  uploadFile,
  uploadParts,
} from "#tests/worker/support/uploads.ts";
import { openDb } from "#worker/db/client.ts";
import { addFileReference, cancelFileReference, findReadyFiles, releaseFileReference } from "#worker/db/files.ts";
import { purgeFiles } from "#worker/files/purge.ts";
import worker from "#worker/index.ts";

const db = openDb(env);
const conversation = privateConversationId(createUuid(), createUuid());
const later = () => Date.now() + orphanMaxMs + 60_000;
const partsOf = async (id: Uuid) => (await listFileKeys("parts/")).filter((key) => key.includes(id));
const isThere = async (by: Person, id: Uuid) => (await readFileState(by, id)).status === 200;
const ready = async (by: Person) => (await uploadFile(by, makePng(40, 40))).id;

test("files never completed or never referenced are purged after a day, with their parts, and not before", async () => {
  const ana = await makePerson();
  const [receiving, unused, named] = [await uploadParts(ana, makeRandomBytes(500)), await ready(ana), await ready(ana)];
  expect(await addFileReference(db, named, conversation, createUuid())).toBe(true);
  await purgeFiles(env, Date.now() + orphanMaxMs - 60_000);
  for (const id of [receiving, unused, named]) expect(await isThere(ana, id)).toBe(true);
  await purgeFiles(env, later());
  for (const id of [receiving, unused]) expect(await isThere(ana, id)).toBe(false);
  expect(await partsOf(receiving)).toEqual([]);
  expect(await isThere(ana, named)).toBe(true);
  expect(await listFileKeys(ana.id)).toEqual([(await readStoredFile(named))?.key]);
});

test("the hourly job runs the purge", async () => {
  const ana = await makePerson();
  const old = await ready(ana);
  await env.DB.prepare("UPDATE files SET created_at = created_at - ? WHERE id = ?")
    .bind(2 * orphanMaxMs, old)
    .run();
  await worker.scheduled(createScheduledController({ cron: "23 * * * *" }), env);
  expect(await isThere(ana, old)).toBe(false);
  expect(await listFileKeys(ana.id)).toEqual([]);
});

test("a file that a message references while the purge runs stays, or the message is refused", async () => {
  const ana = await makePerson();
  const ids = await Promise.all(Array.from({ length: 6 }, () => ready(ana)));
  const [, ...used] = await Promise.all([
    purgeFiles(env, later()),
    ...ids.map((id) => addFileReference(db, id, conversation, createUuid())),
  ]);
  for (const [i, id] of ids.entries()) {
    expect(await isThere(ana, id)).toBe(used[i]);
    expect((await readStoredFile(id)) !== undefined).toBe(used[i]);
  }
});

test("a file is deleted with the last message that references it", async () => {
  const ana = await makePerson();
  const id = await ready(ana);
  const [first, second] = [createUuid(), createUuid()];
  for (const cid of [first, second, second]) expect(await addFileReference(db, id, conversation, cid)).toBe(true);
  await releaseFileReference(env, id, conversation, first);
  await releaseFileReference(env, id, conversation, first);
  expect((await findReadyFiles(db, ana.id, [id])).map((file) => file.id)).toEqual([id]);
  await releaseFileReference(env, id, conversation, second);
  expect(await findReadyFiles(db, ana.id, [id])).toEqual([]);
  expect(await listFileKeys(ana.id)).toEqual([]);
  expect(await addFileReference(db, id, conversation, createUuid())).toBe(false);
});

test("releasing an unreferenced file removes nothing", async () => {
  const ana = await makePerson();
  const id = await ready(ana);
  await releaseFileReference(env, id, conversation, createUuid());
  expect(await isThere(ana, id)).toBe(true);
});

test("a file whose message was refused may be referenced by another, and is purged after a day if none does", async () => {
  const ana = await makePerson();
  const id = await ready(ana);
  const cid = createUuid();
  await addFileReference(db, id, conversation, cid);
  await cancelFileReference(db, id, conversation, cid);
  expect(await isThere(ana, id)).toBe(true);
  await purgeFiles(env, later());
  expect(await isThere(ana, id)).toBe(false);
});

test("only a complete file of the sender can be referenced", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [receiving, done] = [await uploadParts(ana, makeRandomBytes(500)), await ready(ana)];
  expect(await addFileReference(db, receiving, conversation, createUuid())).toBe(false);
  expect(await addFileReference(db, createUuid(), conversation, createUuid())).toBe(false);
  expect(await findReadyFiles(db, ana.id, [receiving, done, createUuid()])).toMatchObject([
    { id: done, name: "photo.jpg", type: "image/png", width: 40, height: 40 },
  ]);
  expect(await findReadyFiles(db, ben.id, [done])).toEqual([]);
});

test("an interrupted removal is finished, and late parts are removed", async () => {
  const ana = await makePerson();
  const id = await ready(ana);
  await addFileReference(db, id, conversation, createUuid());
  await env.DB.prepare("DELETE FROM file_uses WHERE file_id = ?").bind(id).run();
  await env.DB.prepare("UPDATE files SET status = 'removed' WHERE id = ?").bind(id).run();
  const late = `parts/${Date.now() - 2 * orphanMaxMs}_${createUuid()}/000`;
  await env.FILES.put(late, "late");
  const fresh = await uploadParts(ana, makeRandomBytes(500));
  await purgeFiles(env, Date.now());
  await purgeFiles(env, later() - orphanMaxMs);
  expect(await listFileKeys(ana.id)).toEqual([]);
  expect(await env.DB.prepare("SELECT id FROM files WHERE id = ?").bind(id).first()).toBeNull();
  expect(await listFileKeys("parts/")).not.toContain(late);
  expect((await completeFile(ana, fresh)).status).toBe(200);
});

test("one file that cannot be removed does not delay the others", async () => {
  const ana = await makePerson();
  const [stuck, other] = [await ready(ana), await ready(ana)];
  const key = (await readStoredFile(stuck))?.key;
  const files = new Proxy(env.FILES, {
    get: (bucket, name) => {
      if (name !== "delete") return Reflect.get(bucket, name).bind(bucket);
      return (keys: string | string[]) => {
        if (keys === key) throw new Error("R2 is away");
        return bucket.delete(keys);
      };
    },
  });
  vi.spyOn(console, "error").mockReturnValue();
  await purgeFiles({ ...env, FILES: files }, later());
  expect(await readStoredFile(other)).toBeUndefined();
  expect(await listFileKeys(ana.id)).toEqual([key]);
  vi.restoreAllMocks();
  await purgeFiles(env, later());
  expect(await listFileKeys(ana.id)).toEqual([]);
});

test("the purge reads only the index of removable files, however many are referenced", async () => {
  const asked = new Set<string>();
  const counting = new Proxy(env.DB, {
    get: (database, name) => {
      if (name !== "prepare") return Reflect.get(database, name).bind(database);
      return (query: string) => {
        asked.add(query);
        return database.prepare(query);
      };
    },
  });
  await announceFile(await makePerson(), createUuid(), 10);
  await purgeFiles({ ...env, DB: counting }, Date.now());
  const ofFiles = [...asked].filter((query) => /from "files"|update "files"/.test(query));
  expect(ofFiles.length).toBeGreaterThan(1);
  for (const query of ofFiles) {
    const values = Array.from(query.matchAll(/\?/g), () => 0);
    const plan = await env.DB.prepare(`EXPLAIN QUERY PLAN ${query}`)
      .bind(...values)
      .all<{ detail: string }>();
    const steps = plan.results.map(({ detail }) => detail).filter((detail) => /\bfiles\b|files_to_sweep/.test(detail));
    expect(steps.join("; ")).toContain("files_to_sweep");
    expect(steps.filter((detail) => detail === "SCAN files")).toEqual([]);
  }
});

test("thousands of files of one person delay no others and take few statements of the directory", async () => {
  const [many, few] = [await makePerson(), await makePerson()];
  const old = Date.now() - 3 * orphanMaxMs;
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
     INSERT INTO files SELECT 'left-' || i || ?, ?, 'a', 1, NULL, NULL, NULL, NULL, NULL, 'receiving', 0, ? + i FROM n`,
  )
    .bind(many.id, many.id, old)
    .run();
  const own = await ready(few);
  await env.DB.prepare("UPDATE files SET created_at = ? WHERE id = ?")
    .bind(old + 5_000, own)
    .run();
  const leftOf = ({ id }: Person) =>
    env.DB.prepare("SELECT count(*) AS n FROM files WHERE owner_id = ?").bind(id).first<number>("n");
  // The platform ends an invocation at 1,000 statements (developers.cloudflare.com/d1/platform/limits).
  const { statements } = await countDirectoryWork(() => purgeFiles(env, Date.now()));
  expect(statements).toBeLessThan(100);
  expect(await leftOf(few)).toBe(0);
  expect(await leftOf(many)).toBeGreaterThan(0);
  await purgeFiles(env, Date.now());
  expect(await leftOf(many)).toBe(0);
});
