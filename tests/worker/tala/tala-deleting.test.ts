import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, packUuid, type Uuid } from "#contract/ids.ts";
import { postGoneMax } from "#contract/limits/tala.ts";
import type { Person } from "#tests/support/people/people.ts";
import { Device } from "#tests/worker/support/device.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import {
  deletePost,
  listPostPictures,
  publishPost,
  readFeedPage,
  requestPostPicture,
  toShownPosts,
} from "#tests/worker/support/posts.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import { callRawWith } from "#tests/worker/support/wrapped-site.ts";
import worker from "#worker/index.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

const ofPerson = async (reader: Person, author: Uuid) =>
  toShownPosts(await readFeedPage(reader)).filter((post) => post.author === author);

test("a deleted status and its picture are removed from the feed at once", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [id, other] = [createUuid(), createUuid()];
  await publishPost(ana, { id, content: "Oubliez ça" }, makePng(20, 20));
  await publishPost(ana, { id: other, content: "Gardez ça" }, makePng(20, 20));
  expect(await ofPerson(ben, ana.id)).toHaveLength(2);
  expect(await deletePost(ana, id)).toMatchObject({ status: 204 });
  expect((await ofPerson(ben, ana.id)).map((post) => post.id)).toEqual([other]);
  expect((await requestPostPicture(ben, ana.id, id)).status).toBe(404);
  expect((await requestPostPicture(ben, ana.id, other)).status).toBe(200);
  expect((await listPostPictures(ana.id)).every((key) => key.includes(other))).toBe(true);
});

test("its author's devices are notified at once, and nobody else's are", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const [phone, desk, bens] = [await Device.open(ana), await Device.open(ana), await Device.open(ben)];
  const id = createUuid();
  await publishPost(ana, { id, content: "Oubliez ça" });
  expect(await deletePost(ben, id)).toMatchObject({ status: 403 });
  expect(await deletePost(ana, id)).toMatchObject({ status: 204 });
  for (const device of [phone, desk]) expect(await device.nextOf("d")).toEqual(["d", packUuid(id)]);
  await bens.request((ref) => ["c", ref, bens.base, null]);
  expect(bens.frames.filter((frame) => Array.isArray(frame) && frame[0] === "d")).toEqual([]);
});

test("deleting it again succeeds, and sending it again does not restore it", async () => {
  const ana = await makePerson();
  const id = createUuid();
  await publishPost(ana, { id, content: "Une fois" }, makePng(20, 20));
  for (let time = 0; time < 3; time++) expect(await deletePost(ana, id)).toMatchObject({ status: 204 });
  const late = await publishPost(ana, { id, content: "Une fois" }, makePng(20, 20));
  expect(late).toMatchObject({ status: 404, body: { error_code: "post_not_found" } });
  expect(await ofPerson(ana, ana.id)).toEqual([]);
  expect(await listPostPictures(ana.id)).toEqual([]);
});

test("a status deleted before it arrived is never published, and its id stays free for others", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const id = createUuid();
  expect(await deletePost(ana, id)).toMatchObject({ status: 204 });
  expect((await publishPost(ana, { id, content: "En retard" })).status).toBe(404);
  expect((await publishPost(ben, { id, content: "À temps" })).status).toBe(201);
});

test("nobody can delete another person's status", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const id = createUuid();
  await publishPost(ana, { id, content: "À moi" }, makePng(20, 20));
  expect(await deletePost(ben, id)).toEqual({ status: 403, error: "not_your_post" });
  expect(await ofPerson(ben, ana.id)).toHaveLength(1);
  expect((await requestPostPicture(ben, ana.id, id)).status).toBe(200);
});

test("a picture that could not be removed is removed when the deletion is repeated", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const ana = await makePerson();
  const id = createUuid();
  await publishPost(ana, { id, content: "Oubliez" }, makePng(20, 20));
  const AVATARS = { delete: () => Promise.reject(new Error("away")) };
  const failed = await callRawWith({ AVATARS }, `/api/tala/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${ana.token}` },
  });
  expect(failed.status).toBe(500);
  expect(await listPostPictures(ana.id)).toHaveLength(2);
  expect(await ofPerson(ana, ana.id)).toEqual([]);
  expect(await deletePost(ana, id)).toMatchObject({ status: 204 });
  expect(await listPostPictures(ana.id)).toEqual([]);
  log.mockRestore();
});

test("too many deletions are refused with the time to wait", async () => {
  const ana = await makePerson();
  const answers: number[] = [];
  for (let i = 0; i <= rateLimitPolicies.post_deletion_by_user.burst; i++) {
    answers.push((await deletePost(ana, createUuid())).status);
  }
  expect(answers.filter((status) => status === 204).length).toBeGreaterThanOrEqual(
    rateLimitPolicies.post_deletion_by_user.burst,
  );
});

test("the mark of a deleted status is removed after a month, and not before", async () => {
  const ana = await makePerson();
  const [old, young] = [createUuid(), createUuid()];
  for (const id of [old, young]) await deletePost(ana, id);
  const month = 30 * 24 * 3_600_000;
  const age = (id: Uuid, ms: number) =>
    env.DB.prepare("UPDATE tala_gone SET gone_at = gone_at - ? WHERE id = ?").bind(ms, id).run();
  await age(old, month + 60_000);
  await age(young, month - 60_000);
  await worker.scheduled(createScheduledController(), env);
  const { results } = await env.DB.prepare("SELECT id FROM tala_gone WHERE user_id = ?").bind(ana.id).all();
  expect(results).toEqual([{ id: young }]);
});

test("deleting an account deletes its statuses", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await publishPost(ana, { content: "Adieu" });
  await deletePost(ana, createUuid());
  await env.DB.prepare("DELETE FROM users WHERE id = ?").bind(ana.id).run();
  await publishPost(ben, { content: "Je reste" });
  expect(await ofPerson(ben, ana.id)).toEqual([]);
  const gone = await env.DB.prepare("SELECT id FROM tala_gone WHERE user_id = ?").bind(ana.id).all();
  expect(gone.results).toEqual([]);
});

test("the newest hundred deletions of unknown statuses are remembered per person", async () => {
  const ana = await makePerson();
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
     INSERT INTO tala_gone SELECT ?, 'gone-' || i, i FROM n`,
  )
    .bind(ana.id)
    .run();
  const id = createUuid();
  await deletePost(ana, id);
  const { results } = await env.DB.prepare("SELECT id FROM tala_gone WHERE user_id = ? ORDER BY gone_at")
    .bind(ana.id)
    .all<{ id: string }>();
  expect(results).toHaveLength(postGoneMax);
  expect(results.at(-1)).toEqual({ id });
  expect(results[0]).toEqual({ id: "gone-52" });
});

test("the marks of deleted statuses are removed after a month however many there are, whoever left them", async () => {
  const ana = await makePerson();
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500)
     INSERT INTO tala_gone SELECT ?, 'old-' || i, i FROM n`,
  )
    .bind(ana.id)
    .run();
  await worker.scheduled(createScheduledController(), env);
  const { results } = await env.DB.prepare("SELECT id FROM tala_gone WHERE user_id = ?").bind(ana.id).all();
  expect(results).toEqual([]);
});
