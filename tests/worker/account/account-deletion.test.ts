import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { readPath } from "#contract/files.ts";
import type { Group } from "#contract/groups.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { createDeletedRelation, type Profile } from "#contract/people.ts";
import { connectPeople, testPassword } from "#tests/support/people/people.ts";
import { Device, readLog, readRow, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { forwardMessage, makeForward } from "#tests/worker/support/forward.ts";
import { makeGroup, readMemberPage, requestAs, type SeededPerson } from "#tests/worker/support/make-group.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import {
  listPostPictures,
  publishPost,
  readFeedPage,
  requestPostPicture,
  toShownPosts,
} from "#tests/worker/support/posts.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { seedSecurity } from "#tests/worker/support/seeded-security.ts";
import { call, drainBucket, makePerson, site, toLimitKey } from "#tests/worker/support/site.ts";
import {
  deleteAccount,
  findTraces,
  finishDeletion,
  listPersonalTables,
  readChannel,
  readConversation,
  runChannelAlarm,
} from "#tests/worker/support/stored-data.ts";
import { uploadParts } from "#tests/worker/support/uploads.ts";

/** Data that remains after an account deletion, and data that other people keep. */

const putPicture = async (by: SeededPerson, path: string): Promise<void> => {
  const headers = { authorization: `Bearer ${by.token}`, "content-type": "image/png" };
  const response = await site.fetch(site.origin + path, { method: "PUT", headers, body: makePng(20, 20) });
  expect(response.status, await response.text()).toBe(200);
};

const sendFile = (from: SeededPerson, conversation: string, file: string) =>
  request(from, { type: "send", conversation, messages: [{ cid: createUuid(), body: makeImageBody(file) }] });

const readFile = async (by: SeededPerson, conversation: string, file: string): Promise<string> => {
  const headers = { authorization: `Bearer ${by.token}` };
  const response = await site.fetch(site.origin + readPath(conversation, file), { headers });
  return new TextDecoder().decode(await response.arrayBuffer());
};

/**
 * Ana with all kinds of data: Ben and Cleo are contacts and in her group, Ben has another group with her, she asked
 * Dan, Eve asks her, she blocks Fay and Gil blocks her.
 */
const makeScene = async () => {
  const ana = await seedPerson();
  const [ben, cleo, dan, eve, fay, gil] = [
    await seedPerson(),
    await seedPerson(),
    await seedPerson(),
    await seedPerson(),
    await seedPerson(),
    await seedPerson(),
  ];
  const username = `Anastasie ${ana.id.slice(-6)}`;
  await call("PATCH", "/api/profile", { token: ana.token, body: { username } });
  await requestAs(ana, "PUT", "/api/handle", { handle: "anastasie.k" });
  await requestAs(ana, "POST", "/api/link");
  await putPicture(ana, "/api/profile/avatar");
  for (const other of [ben, cleo, fay, gil]) await connectPeople(site, ana, other);
  await connectPeople(site, ben, cleo);
  await requestAs(ana, "POST", "/api/requests", { to_user_id: dan.id });
  await requestAs(ana, "POST", "/api/people/search", { phone: dan.phone });
  await requestAs(eve, "POST", "/api/requests", { to_user_id: ana.id });
  await requestAs(ana, "PUT", `/api/blocks/${fay.id}`);
  await requestAs(gil, "PUT", `/api/blocks/${ana.id}`);
  const [anasGroup, bensGroup] = [createUuid(), createUuid()];
  await makeGroup(ana, "Famille", [ben, cleo], anasGroup);
  await makeGroup(ben, "Équipe", [ana, cleo], bensGroup);
  await putPicture(ana, `/api/groups/${anasGroup}/picture`);
  const pair = privateConversationId(ana.id, ben.id);
  await sendTexts(ana, pair, "Mbote Ben");
  await sendTexts(ben, pair, "Mbote Ana");
  await sendTexts(ana, anasGroup, "Bonsoir la famille");
  await sendTexts(ana, privateConversationId(ana.id, gil.id), "Tu ne liras jamais ceci");
  const [sent, grouped, withheld, unused] = [
    await seedFile(ana.id),
    await seedFile(ana.id),
    await seedFile(ana.id),
    await seedFile(ana.id),
  ];
  await sendFile(ana, pair, sent.id);
  await sendFile(ana, bensGroup, grouped.id);
  await sendFile(ana, privateConversationId(ana.id, gil.id), withheld.id);
  const received = await seedFile(ben.id);
  await sendFile(ben, pair, received.id);
  const apart = privateConversationId(ben.id, cleo.id);
  // Nobody can forward a message before they were notified of it.
  for (const one of [ana, ben]) await waitUntil(async () => (await readRow(one, pair)).head >= 2);
  await forwardMessage(ben, makeForward("Mbote Ben", { id: ana.id, username }), { conversation: pair, seq: 1 }, apart);
  const withCleo = privateConversationId(ana.id, cleo.id);
  await forwardMessage(ana, makeForward("Mbote Ana", ben), { conversation: pair, seq: 2 }, withCleo);
  await waitUntil(async () => (await readRow(cleo, apart)).head > 0);
  await uploadParts(ana, new TextEncoder().encode("inachevé"), "note.txt");
  const taken = await publishPost(ana, { content: "Effacé" });
  await call("DELETE", `/api/tala/${taken.body.id}`, { token: ana.token });
  await publishPost(ana, { content: "Mon dernier statut" }, makePng(30, 30));
  await publishPost(ana, { content: "Pour moi seule", audience: "nobody" }, makePng(30, 30));
  await request(ana, { type: "mute", conversation: anasGroup, muted: true });
  await call("PATCH", "/api/settings", { token: ana.token, body: { findable: "whole" } });
  const email = await seedSecurity(ana.id, ana.session);
  await drainBucket("sign_in_by_account", toLimitKey(ana.phone));
  await drainBucket("sign_in_by_account_and_address", `${toLimitKey(ana.phone)} ${toLimitKey("192.0.2.1")}`);
  await drainBucket("totp_failure_by_user_and_address", `${ana.id} 192.0.2.1`);
  return {
    ana: { ...ana, username, email },
    others: { ben, cleo, dan, eve, fay, gil },
    groups: { anas: anasGroup, bens: bensGroup },
    pair,
    apart,
    files: { sent, grouped, withheld, unused, received },
  };
};

test("after a deletion no table contains the person, except as an anonymous member of conversations that others keep", async () => {
  const { ana, others, groups, apart, files } = await makeScene();
  const everybody = Object.values(others).map(({ id }) => id);
  const traces = () => findTraces(ana, everybody, [...Object.values(groups), apart]);
  const before = await traces();
  // Check the scenario: only traces that existed before can prove their absence after.
  const found = new Set(before.map(({ where }) => where));
  // Data of other people: a number and a key that start with hers.
  const elses = [toLimitKey(`${ana.phone}1`), `${toLimitKey(ana.phone)}1`];
  const longer = elses.flatMap((key) => [`sign_in_by_account:${key}`, `sign_in_by_account_and_address:${key} x`]);
  for (const key of longer) await env.DB.prepare("INSERT INTO rate_limits VALUES (?, 9e15)").bind(key).run();
  for (const where of ["users", "profiles", "connections", "connection_requests", "blocks", "sessions", "files"])
    expect(found).toContain(where);
  for (const where of await listPersonalTables()) expect(found).toContain(where);
  for (const where of [
    "rate_limits",
    "upload_days",
    "tala_posts",
    "settings",
    "AVATARS",
    "FILES",
    "channel people",
    "forwards",
  ])
    expect(found).toContain(where);

  const limitsOf = async (key: string): Promise<string[]> => {
    const all = env.DB.prepare("SELECT key FROM rate_limits WHERE instr(key, ?) > 0 ORDER BY key").bind(key);
    return (await all.all<{ key: string }>()).results.map((row) => row.key);
  };
  const anasLimitKey = toLimitKey(ana.phone);
  expect(await limitsOf(anasLimitKey)).toHaveLength(4); // two of them belong to other people

  expect((await deleteAccount(ana)).status).toBe(204);
  await finishDeletion(ana.id);
  expect(await limitsOf(anasLimitKey)).toEqual(longer.slice(2).sort());
  expect(await limitsOf(elses[0] ?? "")).toEqual(longer.slice(0, 2).sort());
  // Messages that nobody can read any more are removed by the conversation's alarm.
  await waitUntil(async () => (await countFileReferences(files.withheld.id)) === undefined);

  for (const one of [others.ben, others.cleo]) await waitUntil(async () => (await readRow(one, apart)).revision > 0);
  const after = await traces();
  for (const { where, text: row } of after) {
    expect(row, where).not.toContain(ana.phone);
    expect(row, where).not.toContain(ana.username);
    expect(row, where).not.toContain(ana.email);
  }
  // The id remains in the name of the conversation, in the member table of a log, and in the lists of others.
  const kept = [
    "file_uses",
    "forwards",
    "channel inbox",
    "channel people",
    "channel calls",
    "conversation conversation",
  ];
  expect(after.filter(({ where }) => ![...kept, "conversation members"].includes(where))).toEqual([]);
  for (const { where, text: row } of after) {
    if (where === "file_uses" || where === "forwards")
      expect(JSON.parse(row)).toMatchObject({ conversation_id: expect.stringContaining(ana.id) });
    if (where === "channel people") expect(JSON.parse(JSON.parse(row).relation)).toEqual(createDeletedRelation(ana.id));
  }
  expect(await readChannel(ana.id)).toEqual([{ where: "channel meta", text: '{"key":"gone","value":"1"}' }]);
  expect(await listPostPictures(ana.id)).toEqual([]);
  expect(await countFileReferences(files.unused.id)).toBeUndefined();
});

test("the others keep received messages and files, and see that the account is deleted", async () => {
  const { ana, others, groups, pair, files } = await makeScene();
  const { ben, cleo, dan, eve, fay } = others;
  const phone = await Device.open(ben);
  expect((await deleteAccount(ana)).status).toBe(204);
  // Ben is notified while the deletion is still running.
  await runChannelAlarm(ana.id);
  const gone = await phone.next((frame): frame is Extract<typeof frame, readonly ["p", ...unknown[]]> => {
    return Array.isArray(frame) && frame[0] === "p" && frame[2][9] === 2;
  });
  expect(gone[2].slice(1, 5)).toEqual(["", "", null, 0]);
  await finishDeletion(ana.id);

  for (const one of [ben, cleo, dan, eve, fay]) {
    const { people } = await request(one, { type: "changes", since: 0 });
    expect(people.find(({ profile }) => profile.id === ana.id)).toEqual(createDeletedRelation(ana.id));
    expect(await requestAs<Profile>(one, "GET", `/api/users/${ana.id}`)).toBe("user_not_found");
    expect(await requestAs(one, "POST", "/api/requests", { to_user_id: ana.id })).toBe("user_not_found");
  }
  const log = await readLog(ben, pair);
  expect(toTexts(log)).toEqual(["Mbote Ben", "Mbote Ana", "<image>", "<image>"]);
  await waitUntil(async () => !(await readRow(ben, pair)).open);
  expect(await readRow(ben, pair)).toMatchObject({ gone: false });
  expect(await sendTexts(ben, pair, "Tu es là ?")).toEqual({ error: "not_connected" });
  for (const file of [files.sent, files.received]) expect(await readFile(ben, pair, file.id)).toBe("bytes");
  expect(await readFile(cleo, groups.bens, files.grouped.id)).toBe("bytes");

  // Her group has a successor and its picture, and she is a member of neither group.
  const group = (await requestAs<Group>(ben, "GET", `/api/groups/${groups.anas}`)) as Group;
  expect(group).toMatchObject({ role: "owner", count: 2, name: "Famille" });
  const picture = await site.fetch(`${site.origin}/api/avatars/${group.picture}?size=50`, {
    headers: { authorization: `Bearer ${cleo.token}` },
  });
  expect(picture.status).toBe(200);
  await picture.arrayBuffer();
  const { members } = await readMemberPage(cleo, groups.bens, "?numbers=0,1,2");
  expect(members.filter(({ left }) => left)).toMatchObject([{ profile: null }]);
  expect(toTexts(await readLog(cleo, groups.anas))).toEqual(expect.arrayContaining(["Bonsoir la famille", "<event>"]));
});

test("once the deletion is answered no session is valid, and the number can be registered again", async () => {
  const ana = await makePerson();
  const ben = await seedPerson();
  await befriend(ana, ben);
  const [phone, tablet] = [await Device.open(ana), await Device.open(ana)];
  expect((await deleteAccount(ana)).status).toBe(204);
  for (const device of [phone, tablet]) expect(await device.closed).toMatchObject({ code: 4401 });
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(401);
  const refresh = { refresh_token: ana.refreshToken };
  const renewed = await call("POST", "/api/auth/token?grant_type=refresh_token", { body: refresh });
  expect(renewed).toMatchObject({ status: 410, body: { error_code: "account_deleted" } });
  const again = { phone: ana.phone, password: testPassword };
  expect((await call("POST", "/api/auth/token?grant_type=password", { body: again })).body).toMatchObject({
    error_code: "invalid_credentials",
  });
  expect(await requestAs(ben, "POST", "/api/people/search", { phone: ana.phone })).toEqual([]);

  // Another person gets the number and nothing of her data.
  await env.DB.batch([
    env.DB.prepare("INSERT INTO users SELECT ?1, ?2, 'none', 1, 1").bind(createUuid(), ana.phone),
    env.DB.prepare(
      "INSERT INTO profiles (id, username, phone, created_at) SELECT id, 'Nouvelle', phone, 1 FROM users WHERE phone = ?",
    ).bind(ana.phone),
  ]);
  await finishDeletion(ana.id);
  expect(await requestAs(ben, "POST", "/api/people/search", { phone: ana.phone })).toMatchObject([
    { username: "Nouvelle", state: "none" },
  ]);
  expect(await requestAs(ben, "GET", "/api/contacts")).toMatchObject({ contacts: [] });
});

test("an account is deleted only by its owner, and the request can be repeated if the answer is lost", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  expect((await call("DELETE", "/api/account", { body: { user_id: ana.id } })).status).toBe(401);
  expect(await deleteAccount(ben, ana.id)).toMatchObject({ status: 404, body: { error_code: "user_not_found" } });
  expect((await call("DELETE", "/api/account", { token: ana.token, body: {} })).status).toBe(400);
  expect((await call("GET", "/api/auth/user", { token: ana.token })).status).toBe(200);
  const answers = await Promise.all([deleteAccount(ana), deleteAccount(ana)]);
  expect(answers.map(({ status }) => status)).toEqual([204, 204]);
  await finishDeletion(ana.id);
  expect((await deleteAccount(ana)).status).toBe(204);
  expect((await deleteAccount(ana, ben.id)).status).toBe(404);
  expect((await call("GET", "/api/auth/user", { token: ben.token })).status).toBe(200);
});

test("when the other of two accounts is deleted too, their messages and files are deleted", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  const pair = await befriend(ana, ben);
  const file = await seedFile(ana.id);
  await sendTexts(ana, pair, "à deux");
  await sendFile(ana, pair, file.id);
  await waitUntil(async () => (await readRow(ben, pair)).head === 2);
  await deleteAccount(ana);
  await finishDeletion(ana.id);
  expect(await countFileReferences(file.id)).toBe(1);
  await deleteAccount(ben);
  await finishDeletion(ben.id);
  await waitUntil(async () => (await countFileReferences(file.id)) === undefined);
  expect((await readConversation(pair)).filter(({ where }) => where === "conversation messages")).toEqual([]);
});

test("a status and its picture are deleted with their author", async () => {
  const ana = await seedPerson();
  const reader = await seedPerson();
  const { body } = await publishPost(ana, { content: "au revoir" }, makePng(30, 30));
  expect((await requestPostPicture(reader, ana.id, body.id)).status).toBe(200);
  const isShown = async () => toShownPosts(await readFeedPage(reader)).some(({ id }) => id === body.id);
  expect(await isShown()).toBe(true);
  await deleteAccount(ana);
  // At the location of the deletion, the cached page is removed at once.
  await waitUntil(async () => !(await isShown()));
  await finishDeletion(ana.id);
  expect((await requestPostPicture(reader, ana.id, body.id)).status).toBe(404);
  expect(await env.DB.prepare("SELECT 1 FROM tala_posts WHERE id = ?").bind(body.id).first()).toBeNull();
});
