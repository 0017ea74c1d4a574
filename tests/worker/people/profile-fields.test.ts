import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { minuteMs } from "#contract/limits/durations.ts";
import type { OwnLink } from "#contract/names/personal-link.ts";
import type { Profile } from "#contract/people.ts";
import type { Settings } from "#contract/settings/settings.ts";
import { connectPeople, type Person, phoneOf } from "#tests/support/people/people.ts";
import { ASSETS } from "#tests/worker/support/app-template.ts";
import { Device, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeGroup } from "#tests/worker/support/make-group.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { publishPost } from "#tests/worker/support/posts.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { openDb } from "#worker/db/client.ts";
import { pushUpdatesAbout } from "#worker/lib/contact-updates.ts";
import { accessCookie, refreshCookie } from "#worker/lib/http/cookies.ts";
import { insertNumberProof, type NumberProofRow } from "#worker/people/numbers/queries.ts";
import { completeNumberProof } from "#worker/people/numbers/transfer.ts";
import { serveAppDocument } from "#worker/service/app-document/serve.ts";

/**
 * The table of docs/decisions/profile-visibility.md: which fields of Ana's profile a reader gets by which way, by their
 * relation. Ana changes every field after the relation began, so that a value says of which time it is.
 */

const fields = ["name", "phone", "handle", "verified", "picture"] as const;
type Field = (typeof fields)[number];
type Values = Record<Exclude<Field, "verified">, string>;
type Scene = { ana: Person; reader: Person; group: string; link: string; old: Values; now: Values; socket: Device };

const ask = async (by: Person, method: string, path: string, body?: unknown): Promise<string> =>
  JSON.stringify((await call(method, path, { token: by.token, ...(body === undefined ? {} : { body }) })).body);

// ── what Ana does ────────────────────────────────────────────────────────────────────────────

const changePicture = async (by: Person, size: number): Promise<string> => {
  const headers = { authorization: `Bearer ${by.token}` };
  const answer = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers,
    body: makePng(size, 9),
  });
  return ((await answer.json()) as Profile).avatar_url ?? "";
};

const changeProfile = async (ana: Person, name: string, size: number): Promise<Values> => {
  const letters = ana.id.slice(-8).replace(/\d/g, (digit) => "ghkmpqrtwx"[Number(digit)] ?? "");
  const handle = `${name.toLowerCase()}${letters}`;
  await call("PATCH", "/api/profile", { token: ana.token, body: { username: `${name} ${letters}` } });
  await call("PUT", "/api/handle", { token: ana.token, body: { handle } });
  return { name: `${name} ${letters}`, phone: ana.phone.slice(1), handle, picture: await changePicture(ana, size) };
};

/** Proves another number, which is verified from then on. */
const verifyNumber = async (ana: Person, phone: string): Promise<void> => {
  const db = openDb(env);
  const now = Date.now();
  const proof: NumberProofRow = {
    ...{ user_id: ana.id, id: createUuid(), session_id: String(decodeJwt(ana.token)["session_id"]), phone },
    ...{ method: "sms_code", adapter: "sms", code_hash: null, lookup: null, attempts: 0, is_refused: false },
    ...{ created_at: now, expires_at: now + minuteMs },
  };
  await insertNumberProof(db, proof);
  expect((await completeNumberProof(db, proof)).outcome).toBe("verified");
  await pushUpdatesAbout(env, ana.id);
};

const settle = async ({ ana, reader }: Pick<Scene, "ana" | "reader">): Promise<void> => {
  const waiting = env.DB.prepare("SELECT count(*) AS n FROM pending_relations WHERE user_id IN (?, ?)");
  await waitUntil(async () => (await waiting.bind(ana.id, reader.id).first("n")) === 0);
  await scheduler.wait(100);
};

// ── relations of the reader to Ana ───────────────────────────────────────────────────────────

const block = ({ ana, reader }: Scene) => ask(ana, "PUT", `/api/blocks/${reader.id}`);
const join = async ({ ana, reader, group }: Scene) => {
  const owner = await makePerson();
  for (const member of [ana, reader]) await connectPeople(site, owner, member);
  await makeGroup(owner, "Famille", [ana, reader], group);
};

const relations = {
  stranger: async (_: Scene) => undefined,
  contact: async ({ ana, reader }: Scene) => {
    await connectPeople(site, ana, reader);
    await sendTexts(ana, privateConversationId(ana.id, reader.id), "Souvenir");
  },
  "recipient of a request": ({ ana, reader }: Scene) => ask(ana, "POST", "/api/requests", { to_user_id: reader.id }),
  "sender of a request": ({ ana, reader }: Scene) => ask(reader, "POST", "/api/requests", { to_user_id: ana.id }),
  "former contact": async (scene: Scene) => {
    await relations.contact(scene);
    const { ana, reader } = scene;
    await ask(ana, "DELETE", `/api/contacts/${reader.id}`);
  },
  "member of a common group": join,
} as const;
type RelationName = keyof typeof relations;

// ── ways on which profiles leave the server ──────────────────────────────────────────────────

const ways = {
  document: ({ reader, ana }: Scene) => ask(reader, "GET", `/api/users/${ana.id}`),
  inbox: ({ reader }: Scene) => ask(reader, "GET", "/api/sync?since=0"),
  /** The last one: each of the changes is pushed. */
  frames: async ({ socket }: Scene) => socket.raw.at(-1) ?? "",
  /** What push notifications and notices are made of. */
  channel: ({ reader, ana }: Scene) =>
    runInDurableObject(env.USER_CHANNEL.getByName(reader.id), (_, { storage }) =>
      storage.sql
        .exec("SELECT relation FROM people WHERE user_id = ?", ana.id)
        .toArray()
        .map(({ relation }) => relation)
        .join("\n"),
    ),
  "first view": async ({ reader }: Scene) => {
    const cookie = `${accessCookie}=${reader.token}; ${refreshCookie}=${reader.refreshToken}`;
    const request = new Request("https://lisolo.test/app", { headers: { "sec-fetch-mode": "navigate", cookie } });
    return (await serveAppDocument(request, { ...env, ASSETS } as unknown as Env)).text();
  },
  "search by the new number": ({ reader, now }: Scene) =>
    ask(reader, "POST", "/api/people/search", { phone: now.phone }),
  "search by the old number": ({ reader, old }: Scene) =>
    ask(reader, "POST", "/api/people/search", { phone: old.phone }),
  "list of numbers": ({ reader, old, now }: Scene) =>
    ask(reader, "POST", "/api/people/lookup", { phones: [`+${old.phone}`, `+${now.phone}`] }),
  "search by handle": async ({ reader, old, now }: Scene) =>
    (await ask(reader, "POST", "/api/handles/search", { handle: old.handle })) +
    (await ask(reader, "POST", "/api/handles/search", { handle: now.handle })),
  link: ({ reader, link }: Scene) => ask(reader, "POST", "/api/links/search", { token: link }),
  members: ({ reader, group }: Scene) => ask(reader, "GET", `/api/groups/${group}/members`),
  contacts: ({ reader }: Scene) => ask(reader, "GET", "/api/contacts"),
  requests: ({ reader }: Scene) => ask(reader, "GET", "/api/requests"),
  "request contexts": ({ reader }: Scene) => ask(reader, "GET", "/api/requests/contexts"),
  feed: ({ reader }: Scene) => ask(reader, "GET", "/api/tala"),
  /** What the reader gets back who forwards an old message of hers. */
  forward: async ({ reader, ana }: Scene) => {
    const [other, source] = [await makePerson(), privateConversationId(ana.id, reader.id)];
    await connectPeople(site, reader, other);
    const [conversation, body] = [privateConversationId(reader.id, other.id), { type: "text", text: "Souvenir" }];
    const message = {
      cid: createUuid(),
      body: { ...body, forwarded: { by: ana.id, name: "?" } },
      source: { conversation: source, seq: 1 },
    };
    await ask(reader, "POST", `/api/conversations/${conversation}/messages`, { messages: [message] });
    return ask(reader, "GET", `/api/conversations/${conversation}/messages`);
  },
  // In this order: each changes the relation.
  "end of a block that is not": ({ reader, ana }: Scene) => ask(reader, "DELETE", `/api/blocks/${ana.id}`),
  block: ({ reader, ana }: Scene) => ask(reader, "PUT", `/api/blocks/${ana.id}`),
  "list of blocks": ({ reader }: Scene) => ask(reader, "GET", "/api/blocks"),
  "document of a blocked person": ({ reader, ana }: Scene) => ask(reader, "GET", `/api/users/${ana.id}`),
  "end of the block": ({ reader, ana }: Scene) => ask(reader, "DELETE", `/api/blocks/${ana.id}`),
  "end of the contact": ({ reader, ana }: Scene) => ask(reader, "DELETE", `/api/contacts/${ana.id}`),
  request: ({ reader, ana }: Scene) => ask(reader, "POST", "/api/requests", { to_user_id: ana.id }),
} as const;
type Way = keyof typeof ways;
type Expected = Partial<Record<Way, string>>;

/** Fields of Ana in an answer, as words: "name, phone". A word of the old profile has a quotation mark: "name'". */
const listFields = (answer: string, { old, now, ana }: Scene): string => {
  const isShown = (field: Field, { [field as keyof Values]: value }: Values) => value !== "" && answer.includes(value);
  // Handles of results repeat what was typed; nobody else of a scene is verified.
  const isVerified = answer.includes(ana.id) && /verified":true/.test(answer);
  return fields
    .flatMap((field) => {
      if (field === "verified") return isVerified ? [field] : [];
      return [...(isShown(field, now) ? [field] : []), ...(isShown(field, old) ? [`${field}'`] : [])];
    })
    .join(", ");
};

/** The same fields as they were before Ana changed them. Nobody had verified the old number. */
const before = (list: string): string =>
  list
    .split(", ")
    .filter((field) => field !== "verified")
    .map((field) => `${field}'`)
    .join(", ");

const everything = "name, phone, handle, verified, picture";
const identity = "name, handle, verified, picture";
const typedNumber = { "search by the new number": everything, "list of numbers": everything };
const byChoice = { "search by handle": identity, link: identity };
/** Statuses for everyone show name and picture. */
const feed = { feed: "name, picture" };
/** Whom somebody blocks has a name and a picture in the list of blocks. */
const blockedStranger: Expected = {
  block: "name, picture",
  "list of blocks": "name, picture",
  "document of a blocked person": "name, picture",
  "end of the block": "name, picture",
};

const table: Record<RelationName, Expected> = {
  stranger: { ...typedNumber, ...byChoice, ...feed, ...blockedStranger, request: identity },
  contact: {
    ...Object.fromEntries(
      ["document", "inbox", "channel", "first view", "contacts", "search by handle", "link"].map((way) => [
        way,
        everything,
      ]),
    ),
    ...{ frames: "name, phone, picture", ...typedNumber, ...feed, forward: "name" },
    ...{ "end of a block that is not": everything, block: everything, "list of blocks": everything },
    ...{ "document of a blocked person": everything, "end of the block": everything },
    ...{ "end of the contact": "name, picture", request: identity },
  },
  "recipient of a request": {
    ...Object.fromEntries(
      ["document", "inbox", "channel", "first view", "search by handle", "link", "requests"].map((way) => [
        way,
        "name, handle, verified",
      ]),
    ),
    ...{ frames: "name", "request contexts": "verified", ...feed },
    "search by the new number": "name, phone, handle, verified",
    "list of numbers": "name, phone, handle, verified",
    "end of a block that is not": "name, handle, verified",
    ...{ ...blockedStranger, "end of the block": "name, handle, verified" },
  },
  "sender of a request": {
    ...Object.fromEntries(["document", "inbox", "channel", "first view", "requests"].map((way) => [way, identity])),
    ...{ frames: "name, picture", ...typedNumber, ...byChoice, ...feed, "end of a block that is not": identity },
    ...{ block: identity, "list of blocks": identity, "document of a blocked person": identity },
    "end of the block": identity,
  },
  "former contact": {
    // The last view is from the moment when the contact ended.
    ...{ inbox: "name', picture'", channel: "name', picture'", "first view": "name', picture'", forward: "name'" },
    ...{ ...typedNumber, ...byChoice, ...feed, ...blockedStranger, request: identity },
  },
  "member of a common group": {
    ...{ members: identity, ...typedNumber, ...byChoice, ...feed, ...blockedStranger, request: identity },
  },
};

/**
 * Whom Ana blocks goes on seeing the old profile wherever they saw one, gets no frame, and finds her by nothing that
 * has changed.
 */
const toBlocked = (expected: Expected): Expected => {
  const hidden: Way[] = ["frames", "search by the new number", "list of numbers", "search by handle", "link"];
  const shown = Object.entries(expected).filter(([way]) => !hidden.includes(way as Way));
  return Object.fromEntries(
    shown.map(([way, list]) => [way, list.includes("'") ? list : before(list)]).filter(([, list]) => list !== ""),
  );
};

const makeScene = async (): Promise<Scene> => {
  const [ana, reader] = [await makePerson(), await makePerson()];
  const old = await changeProfile(ana, "Vieux", 40);
  await publishPost(ana, { content: "Mbote" });
  const { body } = await call("POST", "/api/link", { token: ana.token });
  const link = (body as OwnLink).link?.url.split("/").at(-1) ?? "";
  const socket = await Device.open(reader);
  return { ana, reader, group: createUuid(), link, old, now: old, socket };
};

/** What the reader sees on every way, after Ana changed everything. */
const lookAround = async (scene: Scene): Promise<Expected> => {
  await settle(scene);
  const id = privateConversationId(scene.ana.id, scene.reader.id);
  await sendTexts(scene.ana, id, "Dernier mot"); // a conversation for the first view, if the two may write
  scene.socket.raw.length = 0;
  const now = await changeProfile(scene.ana, "Nouvelle", 60);
  const phone = phoneOf(takePersonNumber());
  await verifyNumber(scene.ana, phone);
  const changed = { ...scene, now: { ...now, phone: phone.slice(1) } };
  await settle(scene);
  const seen: Expected = {};
  for (const [way, read] of Object.entries(ways)) {
    const list = listFields(await read(changed), changed);
    if (list !== "") seen[way as Way] = list;
  }
  return seen;
};

test.each(Object.keys(table) as RelationName[])("a %s sees these fields of a profile", async (relation) => {
  const scene = await makeScene();
  await relations[relation](scene);
  expect(await lookAround(scene)).toEqual(table[relation]);
});

test.each(Object.keys(table) as RelationName[])("a %s who is blocked sees the profile as it was", async (relation) => {
  const scene = await makeScene();
  await relations[relation](scene);
  await block(scene);
  expect(await lookAround(scene)).toEqual(toBlocked(table[relation]));
});

test("settings that show more since the block do not show it to a blocked person, and those that show less do", async () => {
  const scene = await makeScene();
  const { ana, reader } = scene;
  const noValues: Values = { name: "", phone: "", handle: "", picture: "" };
  const change = (settings: Partial<Settings>) => ask(ana, "PATCH", "/api/settings", settings);
  await connectPeople(site, ana, reader);
  const look = async () => listFields(await ways.document(scene), { ...scene, now: noValues });
  await change({ phoneTo: "nobody", pictureTo: "nobody" });
  await block(scene);
  await change({ phoneTo: "contacts", pictureTo: "everyone" });
  expect(await look()).toBe("name', handle'");
  await ask(ana, "DELETE", `/api/blocks/${reader.id}`);
  expect(await look()).toBe("name', phone', handle', picture'");
  await block(scene);
  await change({ phoneTo: "nobody", pictureTo: "nobody" });
  expect(await look()).toBe("name', handle'");
});

test("after the end of a block everything new is seen, and the number has to be confirmed", async () => {
  const scene = await makeScene();
  const { ana, reader } = scene;
  await connectPeople(site, ana, reader);
  await block(scene);
  const now = await changeProfile(ana, "Nouvelle", 60);
  const phone = phoneOf(takePersonNumber());
  await verifyNumber(ana, phone);
  await settle(scene);
  expect(await ways.inbox(scene)).not.toContain("number_notice");
  await ask(ana, "DELETE", `/api/blocks/${reader.id}`);
  await settle(scene);
  const changed = { ...scene, now: { ...now, phone: phone.slice(1) } };
  expect(listFields(await ways.inbox(changed), changed)).toBe(everything);
  expect(await ways.inbox(changed)).toContain('"number_notice":"changed"');
});
