import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, packUuid, privateConversationId } from "#contract/ids.ts";
import type { Profile, Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { Device, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { publishPost, readFeedPage, requestFeedPage } from "#tests/worker/support/posts.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/**
 * A blocked person must not be able to tell. All their possible requests are sent, and the answers are compared byte
 * for byte.
 */

const block = (by: Person, other: Person) => call("PUT", `/api/blocks/${other.id}`, { token: by.token });
const unblock = (by: Person, other: Person) => call("DELETE", `/api/blocks/${other.id}`, { token: by.token });
const changeAvatar = async (by: Person, size: number): Promise<string> => {
  const answer = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${by.token}` },
    body: makePng(size, size),
  });
  return ((await answer.json()) as Profile).avatar_url ?? "";
};

/** Raw answer: status, headers, body. */
const raw = async (by: Person, method: string, path: string, body?: unknown): Promise<string> => {
  const answer = await site.fetch(site.origin + path, {
    method,
    headers: {
      authorization: `Bearer ${by.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const headers = [...answer.headers].map((header) => header.join(": ")).sort();
  return [`${method} ${path} ${answer.status}`, ...headers, Buffer.from(await answer.arrayBuffer()).toString()].join(
    "\n",
  );
};

/** Everything that one person can read about another, and of their own data that concerns them. */
const viewOf = async (me: Person, other: Person, avatar: string): Promise<string[]> => {
  const conversation = `/api/conversations/${privateConversationId(me.id, other.id)}`;
  const answers: string[] = [];
  for (const path of [
    "/api/auth/user",
    `/api/users/${other.id}`,
    "/api/contacts",
    "/api/requests",
    "/api/blocks",
    "/api/mutes",
    "/api/conversations",
    "/api/sync?since=0",
    `${conversation}/messages`,
    `${conversation}/messages?after=0`,
    `${conversation}/revisions?since=0`,
    `/api/avatars/${avatar}?size=50`,
  ]) {
    answers.push((await raw(me, "GET", path)).replace(/"now":\d+/, '"now":0'));
  }
  answers.push(await raw(me, "POST", "/api/people/search", { phone: other.phone }));
  answers.push(await raw(me, "POST", `${conversation}/search`, { query: "mbote" }));
  return answers;
};

/** Earlier relation of the two. */
const standings = {
  strangers: async () => undefined,
  contacts: async (ana: Person, dina: Person) => {
    await connectPeople(site, ana, dina);
    const id = privateConversationId(ana.id, dina.id);
    await sendTexts(ana, id, "Mbote", "Boni?");
    await sendTexts(dina, id, "Malamu");
    await request(ana, { type: "mark", conversation: id, delivered: 3, read: 2 });
  },
  "asked by the one who is blocked": async (ana: Person, dina: Person) => {
    await call("POST", "/api/requests", { token: dina.token, body: { to_user_id: ana.id } });
  },
  "asked by the one who blocks": async (ana: Person, dina: Person) => {
    await call("POST", "/api/requests", { token: ana.token, body: { to_user_id: dina.id } });
  },
  "contacts once": async (ana: Person, dina: Person) => {
    await standings.contacts(ana, dina);
    await call("DELETE", `/api/contacts/${dina.id}`, { token: ana.token });
  },
};
const cases = Object.keys(standings) as (keyof typeof standings)[];

/** Makes two people, the first with a picture, and waits until all notices of their relation were sent. */
const meet = async (standing: keyof typeof standings) => {
  const ana = await makePerson();
  await scheduler.wait(2); // so that the first person has the lower member number, whatever their random ids
  const dina = await makePerson();
  const avatar = await changeAvatar(ana, 40);
  await standings[standing](ana, dina);
  await settle(ana, dina);
  return { ana, dina, avatar };
};

/** Waits until no notice is pending and two reads are equal. */
const settle = async (...people: Person[]): Promise<void> => {
  const waiting = env.DB.prepare("SELECT count(*) AS n FROM pending_relations WHERE user_id = ?");
  for (const person of people) await waitUntil(async () => (await waiting.bind(person.id).first("n")) === 0);
  const look = async () => {
    const answers = await Promise.all(people.map((person) => request(person, { type: "changes", since: 0 })));
    return JSON.stringify(answers.map(({ now: _, ...rest }) => rest));
  };
  await waitUntil(async () => {
    const before = await look();
    await scheduler.wait(150);
    return (await look()) === before;
  });
};

test.each(cases)(
  "every route a person can read returns the same bytes while they are blocked (%s)",
  async (standing) => {
    const { ana, dina, avatar } = await meet(standing);
    const phone = await Device.open(dina);
    const heard = phone.raw.length;
    const before = await viewOf(dina, ana, avatar);
    await block(ana, dina);
    await changeAvatar(ana, 50);
    await settle(ana, dina);
    const during = await viewOf(dina, ana, avatar);
    await changeAvatar(ana, 60);
    await settle(ana, dina);
    expect(during).toEqual(before);
    expect(await viewOf(dina, ana, avatar)).toEqual(before);
    expect(phone.raw.slice(heard)).toEqual([]);
  },
);

/** Actions of a blocked person, in order. */
const attempts: [string, (me: Person, other: Person) => Promise<string>][] = [
  ["ask", (me, other) => raw(me, "POST", "/api/requests", { to_user_id: other.id })],
  ["ask again", (me, other) => raw(me, "POST", "/api/requests", { to_user_id: other.id })],
  ["accept", async (me) => raw(me, "POST", `/api/requests/${await receivedBy(me)}/accept`)],
  ["write", (me, other) => raw(me, "POST", `${chat(me, other)}/messages`, { messages: [text("Yo!"), text("Oza?")] })],
  ["multicast", (me, other) => raw(me, "POST", "/api/messages", spreadTo(me, other))],
  ["deleteForEveryone", (me, other) => raw(me, "DELETE", `${chat(me, other)}/messages/3`)],
  ["delete what came after", (me, other) => raw(me, "DELETE", `${chat(me, other)}/messages/4`)],
  ["delete another's", (me, other) => raw(me, "DELETE", `${chat(me, other)}/messages/1`)],
  ["mark", (me, other) => raw(me, "PUT", `${chat(me, other)}/marks`, { delivered: 9, read: 9 })],
  ["page", (me, other) => raw(me, "GET", `${chat(me, other)}/messages`)],
  ["search", (me, other) => raw(me, "POST", `${chat(me, other)}/search`, { query: "yo" })],
  ["revisions", (me, other) => raw(me, "GET", `${chat(me, other)}/revisions?since=0`)],
  ["clear", (me, other) => raw(me, "POST", `${chat(me, other)}/clear`, { upTo: 1 })],
  ["mute", (me, other) => raw(me, "PUT", `/api/mutes/${privateConversationId(me.id, other.id)}`)],
  ["remove", (me, other) => raw(me, "DELETE", `/api/contacts/${other.id}`)],
  ["write when removed", (me, other) => raw(me, "POST", `${chat(me, other)}/messages`, { messages: [text("Hé")] })],
  ["ask when removed", (me, other) => raw(me, "POST", "/api/requests", { to_user_id: other.id })],
  ["clearHistory", (me, other) => raw(me, "DELETE", chat(me, other))],
  ["block in turn", (me, other) => raw(me, "PUT", `/api/blocks/${other.id}`)],
  ["ask while blocking", (me, other) => raw(me, "POST", "/api/requests", { to_user_id: other.id })],
  ["unblock", (me, other) => raw(me, "DELETE", `/api/blocks/${other.id}`)],
];
/** After these actions everything they can read is compared too. */
const looksAfter = ["delete another's", "unblock"];
const chat = (me: Person, other: Person) => `/api/conversations/${privateConversationId(me.id, other.id)}`;
const text = (of: string) => ({ cid: createUuid(), body: { type: "text", text: of } });
const spreadTo = (me: Person, other: Person) => ({
  body: { type: "text", text: "À tous" },
  to: [{ conversation: privateConversationId(me.id, other.id), cid: createUuid() }],
});
const receivedBy = async (me: Person): Promise<string> => {
  const { body } = await call("GET", "/api/requests", { token: me.token });
  return (body as { received: { id: string }[] }).received[0]?.id ?? createUuid();
};

/**
 * Answer without what differs between any two pairs of people: ids, numbers, names, times, and how many changes close
 * together were combined.
 */
const anonymous = (answer: string, { ana, dina, avatar }: { ana: Person; dina: Person; avatar: string }): string => {
  const seen = new Map<string, string>();
  let plain = answer.replaceAll(avatar, "<avatar>");
  for (const [name, person] of Object.entries({ ana, dina })) {
    for (const known of [person.id, person.phone, person.phone.slice(1), person.username]) {
      plain = plain.replaceAll(known, name);
    }
  }
  return plain
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!seen.has(id)) seen.set(id, `<id ${seen.size}>`);
      return seen.get(id) ?? "";
    })
    .replace(/"epoch":"[^"]+"/g, '"epoch":"<epoch>"')
    .replace(/"counter":\d+/g, '"counter":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\b\d{13}\b/g, "<time>");
};

test.each(cases)("every command of a blocked person is answered as without the block (%s)", async (standing) => {
  const played = await Promise.all(
    [false, true].map(async (isBlocked) => {
      const pair = await meet(standing);
      if (isBlocked) await block(pair.ana, pair.dina);
      const answers: string[] = [];
      for (const [name, attempt] of attempts) {
        answers.push(`${name}: ${await attempt(pair.dina, pair.ana)}`);
        if (!looksAfter.includes(name)) continue;
        await settle(pair.dina);
        answers.push(...(await viewOf(pair.dina, pair.ana, pair.avatar)));
      }
      return answers.map((one) => anonymous(one, pair));
    }),
  );
  expect(played[1]).toEqual(played[0]);
});

test("a conversation with a blocking person begins when writing is allowed, not when the block was made", async () => {
  const { ana, dina } = await meet("asked by the one who blocks");
  await block(ana, dina);
  await scheduler.wait(20);
  const before = Date.now();
  await call("POST", `/api/requests/${await receivedBy(dina)}/accept`, { token: dina.token });
  await settle(ana, dina);
  const { rows } = await request(dina, { type: "changes", since: 0 });
  expect(rows).toMatchObject([{ open: true, head: 0 }]);
  expect(rows[0]?.at).toBeGreaterThanOrEqual(before);
});

const seenBy = async (viewer: Person, of: Person): Promise<(string | null | undefined)[]> => {
  const get = async (path: string) => (await call("GET", path, { token: viewer.token })).body;
  const { people } = await request(viewer, { type: "changes", since: 0 });
  const { body: found } = await call("POST", "/api/people/search", { token: viewer.token, body: { phone: of.phone } });
  return [
    ((await get(`/api/users/${of.id}`)) as Profile).avatar_url,
    (found as Profile[])[0]?.avatar_url,
    ((await get("/api/contacts")) as { contacts: Profile[] }).contacts.find(({ id }) => id === of.id)?.avatar_url,
    people.find(({ profile }) => profile.id === of.id)?.profile.avatar_url,
  ];
};
const everywhere = (avatar: string) => [avatar, avatar, avatar, avatar];
const statusOf = async (viewer: Person, key: string) =>
  (await call("GET", `/api/avatars/${key}?size=512`, { token: viewer.token })).status;

test("a blocked person keeps seeing the picture from the start of the block, which is stored as long, and then the new one", async () => {
  const [ana, dina, eli, cal] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  const first = await changeAvatar(ana, 40);
  for (const other of [dina, eli, cal]) await connectPeople(site, ana, other);
  await block(ana, dina);
  const second = await changeAvatar(ana, 50);
  await block(ana, eli);
  await block(ana, dina); // again: her view stays
  const third = await changeAvatar(ana, 60);
  await settle(ana, dina, eli, cal);
  expect(await seenBy(dina, ana)).toEqual(everywhere(first));
  expect(await seenBy(eli, ana)).toEqual(everywhere(second));
  expect(await seenBy(cal, ana)).toEqual(everywhere(third));
  expect(await Promise.all([first, second, third].map((key) => statusOf(dina, key)))).toEqual([200, 200, 200]);

  await unblock(ana, dina);
  await settle(ana, dina);
  expect(await seenBy(dina, ana)).toEqual(everywhere(third));
  await waitUntil(async () => (await statusOf(dina, first)) === 404);
  expect(await statusOf(eli, second)).toBe(200);
  await unblock(ana, eli);
  await waitUntil(async () => (await statusOf(eli, second)) === 404);
  expect(await statusOf(ana, third)).toBe(200);
});

test("a picture kept for several blocked people is deleted with the last of them", async () => {
  const [ana, dina, eli] = [await makePerson(), await makePerson(), await makePerson()];
  const first = await changeAvatar(ana, 40);
  await Promise.all([block(ana, dina), block(ana, eli)]);
  await changeAvatar(ana, 50);
  await unblock(ana, dina);
  await scheduler.wait(100);
  expect(await statusOf(eli, first)).toBe(200);
  await unblock(ana, eli);
  await waitUntil(async () => (await statusOf(eli, first)) === 404);
});

test("a person without a picture at the start of a block has none for the blocked person, in a request too", async () => {
  const [ana, dina] = [await makePerson(), await makePerson()];
  await block(ana, dina);
  await changeAvatar(ana, 40);
  const asked = await call("POST", "/api/requests", { token: dina.token, body: { to_user_id: ana.id } });
  expect((asked.body as Relation).profile.avatar_url).toBeNull();
  const { body } = await call("GET", "/api/requests", { token: dina.token });
  expect(body).toMatchObject({ sent: [{ to_user: { id: ana.id, avatar_url: null } }] });
});

test("statuses show a blocked reader the same picture of their author as the profile does, and everybody else the new one", async () => {
  const [ana, dina, eli] = [await makePerson(), await makePerson(), await makePerson()];
  const first = await changeAvatar(ana, 40);
  for (const other of [dina, eli]) await connectPeople(site, ana, other);
  await publishPost(ana, { content: "Avant" });
  await block(ana, dina);
  const second = await changeAvatar(ana, 50);
  await publishPost(ana, { content: "Après" });
  const shownTo = async (reader: Person) => {
    const { authors } = await readFeedPage(reader);
    return authors.find(([author]) => author === packUuid(ana.id))?.[2];
  };
  const etags = await Promise.all([dina, eli].map(async (one) => (await requestFeedPage(one)).headers.get("etag")));
  expect([await shownTo(dina), await shownTo(eli), await shownTo(ana)]).toEqual([first, second, second]);
  expect(new Set(etags).size).toBe(2);
  const profile = (await call("GET", `/api/users/${ana.id}`, { token: dina.token })).body as Profile;
  expect(profile.avatar_url).toBe(first);
});
