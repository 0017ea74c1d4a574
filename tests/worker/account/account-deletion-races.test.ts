import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { createDeletedRelation, type Relation } from "#contract/people.ts";
import { connectPeople } from "#tests/support/people/people.ts";
import { makeAnsweredCall } from "#tests/worker/support/call-client.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { forwardMessage, makeAnonymousForward, makeForward, readBodies } from "#tests/worker/support/forward.ts";
import { readMembers } from "#tests/worker/support/group-oracle.ts";
import { makeGroup, readMemberPage, requestAs, type SeededPerson } from "#tests/worker/support/make-group.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { listPostPictures, publishPost } from "#tests/worker/support/posts.ts";
import { countFileReferences, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, site } from "#tests/worker/support/site.ts";
import {
  countDeletions,
  deleteAccount,
  findTraces,
  finishDeletion,
  isChannelPurged,
  listObjectKeys,
  runChannelAlarm,
} from "#tests/worker/support/stored-data.ts";
import { announceFile, completeFile, uploadPart } from "#tests/worker/support/uploads.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { resumeAccountDeletions } from "#worker/account/resume-deletions.ts";
import { deletionSteps } from "#worker/lib/deletion/deletion-steps.ts";
import * as departing from "#worker/objects/conversation/groups/remove-deleted-user.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";

/** A deletion that fails at any point, or runs concurrently with other operations. */

afterEach(() => {
  vi.restoreAllMocks();
});

const quiet = () => vi.spyOn(console, "error").mockImplementation(() => undefined);

/**
 * Two connected people, with data of Ana in every place that a step checks, including a conversation with another
 * person.
 */
const newScene = async () => {
  const [ana, ben, cleo] = [await seedPerson(), await seedPerson(), await seedPerson()];
  await connectPeople(site, ana, ben);
  const pair = privateConversationId(ana.id, ben.id);
  const file = await seedFile(ana.id);
  await sendTexts(ana, pair, "Mbote");
  await publishPost(ana, { content: "statut" }, makePng(10, 10));
  const group = createUuid();
  await makeGroup(ana, "Famille", [ben], group);
  await waitUntil(async () => (await readRow(ben, group)).head > 0);
  const apart = await befriend(ben, cleo);
  // Nobody can forward a message before they were notified of it.
  await waitUntil(async () => (await readRow(ben, pair)).head === 1);
  expect(await forwardMessage(ben, makeForward("Mbote", ana), { conversation: pair, seq: 1 }, apart)).toBe(1);
  return { ana, ben, cleo, pair, file, group, apart };
};

const checkGone = async (scene: Awaited<ReturnType<typeof newScene>>): Promise<void> => {
  const { ana, ben, cleo, group, file, apart } = scene;
  expect(await readBodies(cleo, apart)).toEqual([makeAnonymousForward("Mbote")]);
  for (const one of [ben, cleo]) await waitUntil(async () => (await readRow(one, apart)).revision === 1);
  const left = await findTraces(ana, [ben.id, cleo.id], [group, apart]);
  const places = ["channel inbox", "channel people", "conversation conversation", "conversation members"];
  expect(left.filter(({ where }) => !places.includes(where))).toEqual([]);
  expect(await countFileReferences(file.id)).toBeUndefined();
  expect(await listPostPictures(ana.id)).toEqual([]);
  const { people } = await request(ben, { type: "changes", since: 0 });
  expect(people.find(({ profile }) => profile.id === ana.id)).toEqual(createDeletedRelation(ana.id));
  expect(await requestAs(ben, "GET", `/api/groups/${group}`)).toMatchObject({ role: "owner", count: 1 });
};

const die = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (_, state) => state.abort("as if the machine had died")).catch(() => undefined);

test.each(Object.keys(deletionSteps) as (keyof typeof deletionSteps)[])(
  "a deletion interrupted before or after the step %s continues by itself",
  async (name) => {
    quiet();
    const scene = await newScene();
    const { ana } = scene;
    const step = deletionSteps[name];
    let deaths = 0;
    vi.spyOn(deletionSteps, name).mockImplementation(async (all, user) => {
      if (user !== ana.id || deaths >= 2) return step(all, user);
      deaths += 1;
      if (deaths === 2) await step(all, user);
      await die(env.USER_CHANNEL.getByName(user));
      throw new Error("dead");
    });
    expect((await deleteAccount(ana)).status).toBe(204);
    await finishDeletion(ana.id);
    expect(deaths).toBe(2);
    await checkGone(scene);
  },
);

test("a conversation that cannot be left delays nothing else, and is left later", async () => {
  quiet();
  const scene = await newScene();
  const { ana, ben, pair, group } = scene;
  let isAway = true;
  const { removeDeletedUser } = departing;
  vi.spyOn(departing, "removeDeletedUser").mockImplementation((log, ...rest) => {
    if (isAway && log.id === pair) throw new Error("overloaded");
    return removeDeletedUser(log, ...rest);
  });
  await deleteAccount(ana);
  await waitUntil(async () => {
    await runChannelAlarm(ana.id);
    return (await readMembers(group))[0]?.state === "out";
  });
  expect(await readRow(ben, pair)).toMatchObject({ open: true });
  expect(await isChannelPurged(ana.id)).toBe(false);
  isAway = false;
  await finishDeletion(ana.id);
  await waitUntil(async () => !(await readRow(ben, pair)).open);
  await checkGone(scene);
});

test("a deletion that the channel was not notified of is found within the hour", async () => {
  quiet();
  const scene = await newScene();
  const { ana } = scene;
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, { deleteAccount: () => Promise.reject(new Error("away")) });
  const body = { user_id: ana.id };
  expect((await callWith({ USER_CHANNEL }, "DELETE", "/api/account", { token: ana.token, body })).status).toBe(204);
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(401);
  expect(await runChannelAlarm(ana.id)).toBe(false);
  await resumeAccountDeletions(env, Date.now());
  await evictDurableObject(env.USER_CHANNEL.getByName(ana.id)).catch(() => undefined);
  await finishDeletion(ana.id);
  await checkGone(scene);
  await resumeAccountDeletions(env, Date.now());
  expect(await countDeletions(ana.id)).toBe(0);
});

test("a deletion that the directory refuses changes nothing", async () => {
  quiet();
  const { ana, ben, pair } = await newScene();
  const DB = new Proxy(env.DB, {
    get: (target, key) => {
      if (key === "batch") return () => Promise.reject(new Error("D1 is away"));
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const body = { user_id: ana.id };
  const refused = await callWith({ DB }, "DELETE", "/api/account", { token: ana.token, body });
  expect(refused).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(200);
  expect((await sendTexts(ben, pair, "tu es là ?")).sent).toHaveLength(1);
  expect((await sendTexts(ana, pair, "oui")).sent).toHaveLength(1);
});

test("messages in flight during a deletion are stored or refused, each as its sender was told", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const pair = await befriend(ana, ben);
  await sendTexts(ben, pair, "avant");
  const words = Array.from({ length: 12 }, (_, i) => `mot ${i}`);
  const sending = words.flatMap((word) => [sendTexts(ana, pair, `ana ${word}`), sendTexts(ben, pair, `ben ${word}`)]);
  const [deleted, ...answers] = await Promise.all([deleteAccount(ana), ...sending]);
  expect(deleted.status).toBe(204);
  await finishDeletion(ana.id);
  const stored = toTexts(await readLog(ben, pair));
  const expectedTexts = words.flatMap((word) => [`ana ${word}`, `ben ${word}`]);
  for (const [index, { error, sent }] of answers.entries()) {
    const isStored = stored.includes(expectedTexts[index] ?? "");
    // A command of Ana that was refused because of her session may not have reached her channel at all.
    if (sent) expect(isStored, expectedTexts[index]).toBe(true);
    else expect([error, isStored]).toEqual([expect.any(String), false]);
  }
  expect(await sendTexts(ben, pair, "après")).toEqual({ error: "not_connected" });
  await waitUntil(async () => !(await readRow(ben, pair)).open);
  expect(await readRow(ben, pair)).toMatchObject({ head: stored.length });
});

test("an open call ends for the other with its entry", async () => {
  const { ana, ben, id, bens, call: talk } = await makeAnsweredCall();
  await deleteAccount(ana);
  await waitUntil(async () => {
    await runChannelAlarm(ana.id);
    return isChannelPurged(ana.id);
  });
  await bens.waitForEvent(talk, "ended");
  await waitUntil(async () => (await readRow(ben, id)).open === false);
  const last = (await readLog(ben, id)).at(-1);
  expect(last?.body).toMatchObject({ type: "call", status: "ended" });
});

test("an upload in progress leaves nothing behind", async () => {
  quiet();
  const ana = await seedPerson();
  const [id, late] = [createUuid(), createUuid()];
  await announceFile(ana, id, 11);
  const answers = await Promise.all([
    uploadPart(ana, id, 0, new TextEncoder().encode("onze octets")),
    deleteAccount(ana),
    announceFile(ana, late, 11),
    completeFile(ana, id),
  ]);
  expect(answers[1].status).toBe(204);
  expect(answers.every(({ status }) => status < 500)).toBe(true);
  await waitUntil(async () => {
    await runChannelAlarm(ana.id);
    return isChannelPurged(ana.id);
  });
  // Bytes that arrive when the deletion seems complete, from a request that was admitted before.
  await env.FILES.put(`${ana.id}_1_late.bin`, "late");
  await finishDeletion(ana.id);
  expect(await env.DB.prepare("SELECT 1 FROM files WHERE owner_id = ?").bind(ana.id).first()).toBeNull();
  expect((await listObjectKeys()).filter(({ text }) => text.includes(ana.id))).toEqual([]);
});

const strangers = async (): Promise<[SeededPerson, SeededPerson]> => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  return [ana, ben];
};

test("a deleted person stays out of a group and a chat that were not notified of it", async () => {
  quiet();
  const [ana, ben] = await strangers();
  const group = createUuid();
  const { removeDeletedUser } = departing;
  let failures = 0;
  vi.spyOn(departing, "removeDeletedUser").mockImplementation((log, ...rest) => {
    if (log.id === group && ++failures === 1) throw new Error("overloaded");
    return removeDeletedUser(log, ...rest);
  });
  await getConversationStub(env, group).createGroup(ben.id, "Équipe", [{ user: ana.id, isHidden: false }]);
  await waitUntil(async () => (await readMembers(group))[1]?.state === "out");
  expect(failures).toBeGreaterThan(1);
  await waitUntil(() => isChannelPurged(ana.id));
  const pair = privateConversationId(ana.id, ben.id);
  await getConversationStub(env, pair).openConnection(createUuid());
  await waitUntil(async () => (await readRow(ben, pair)).open === false);
  await waitUntil(() => isChannelPurged(ana.id));
});

test("a membership that was reserved without a notice is released when it is next read", async () => {
  const [ana, ben] = await strangers();
  const group = createUuid();
  await getConversationStub(env, group).createGroup(ben.id, "Équipe", [{ user: ana.id, isHidden: true }]);
  expect((await readMemberPage(ben, group)).members).toMatchObject([{ left: false }, { profile: null, left: false }]);
  await waitUntil(async () => (await readMemberPage(ben, group)).count === 1);
  expect((await readMembers(group))[1]).toMatchObject({ state: "out" });
});

test("a deleted person is not restored by data read before the deletion", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  await connectPeople(site, ana, ben);
  const { people } = await request(ben, { type: "changes", since: 0 });
  const before = people.find(({ profile }) => profile.id === ana.id) as Relation;
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  await getUserChannelStub(env, ben.id).updateRelations([before]);
  const phone = await Device.attach(ben);
  expect(phone.decodePeople(await phone.hello())).toEqual([createDeletedRelation(ana.id)]);
});
