import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { GroupInvitations } from "#contract/groups.ts";
import { type ConversationId, createUuid, privateConversationId } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import {
  accessTable,
  callerOf,
  groupTable,
  type Role,
  type Row,
  roles,
  type World,
} from "#tests/support/people/access-table.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { request as command, sendTexts } from "#tests/worker/support/device.ts";
import { makeGroup } from "#tests/worker/support/make-group.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { publishPost } from "#tests/worker/support/posts.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { uploadFile, uploadParts } from "#tests/worker/support/uploads.ts";
import { api } from "#worker/api.ts";
import { getOrCreateUserHandle } from "#worker/auth/passkeys/passkeys.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { passkeys } from "#worker/db/security-schema.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";

const sendFile = async (from: Person, conversation: ConversationId, file: string): Promise<void> => {
  const body = { type: "file", file, name: "mbote.txt", mime: "application/octet-stream", size: 11 } as const;
  const answer = await command(from, { type: "send", conversation, messages: [{ cid: createUuid(), body }] });
  if (answer.error) throw new Error(`the file was not sent: ${answer.error}`);
};

const insertPasskeyRow = async (id: string, { id: owner }: Person): Promise<void> => {
  const db = openDb(env);
  await getOrCreateUserHandle(db, owner);
  const none = { public_key: "", counter: 0, transports: "", is_synced: false, created_at: 1 };
  await db.insert(passkeys).values({ id, user_id: owner, credential_id: id, name: "Clé", ...none });
};

const makeWorld = async (): Promise<World> => {
  const [ana, cal, rita, dina] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  const [bob, sam] = [await makePerson(), await makePerson()];
  await Promise.all([cal, rita, dina].map((other) => connectPeople(site, ana, other)));
  const { id: sent } = await uploadFile(ana, new TextEncoder().encode("Mbote na yo"), "mbote.txt");
  const group = createUuid();
  await makeGroup(ana, "Famille", [cal, rita, dina], group);
  for (const conversation of [...[cal, rita, dina].map((other) => privateConversationId(ana.id, other.id)), group]) {
    await sendTexts(ana, conversation, "Mbote");
    await sendFile(ana, conversation, sent);
  }
  await call("DELETE", `/api/groups/${group}/members/${rita.id}`, { token: ana.token });
  await call("DELETE", `/api/contacts/${rita.id}`, { token: ana.token });
  await call("PUT", `/api/blocks/${dina.id}`, { token: ana.token });
  const text = "douze octets";
  const brought = await uploadParts(ana, new TextEncoder().encode(JSON.stringify(text)), "octets.json");
  const asked = await call("POST", "/api/requests", { token: ana.token, body: { to_user_id: bob.id } });
  await call("POST", `/api/groups/${group}/members`, { token: ana.token, body: { members: [bob.id] } });
  const received = await call("GET", "/api/group-invitations", { token: bob.token });
  const invitation = (received.body as GroupInvitations).invitations[0]?.id ?? "";
  const pictured = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ana.token}` },
    body: makePng(20, 20),
  });
  const { avatar_url: avatar } = (await pictured.json()) as { avatar_url: string };
  const status = createUuid();
  await publishPost(ana, { id: status, content: "Mbote" }, makePng(20, 20));
  const factor = createUuid();
  await env.DB.prepare(
    "INSERT INTO factors (id, user_id, friendly_name, secret, created_at, updated_at) VALUES (?, ?, 'Code', '', 1, 1)",
  )
    .bind(factor, ana.id)
    .run();
  const passkey = createUuid();
  await insertPasskeyRow(passkey, ana);
  const request = (asked.body as Relation).request_id ?? "";
  const unfinished = { id: brought, bytes: text, name: "octets.json" };
  return {
    ana,
    cal,
    rita,
    dina,
    bob,
    sam,
    request,
    invitation,
    avatar,
    upload: unfinished,
    sent,
    group,
    factor,
    passkey,
    post: status,
    call: createUuid(),
  };
};

const dial = async ({ ana, cal, call: call_id }: World): Promise<void> => {
  const body = { callee_id: cal.id, type: "audio", call_id };
  const rung = await call("POST", "/api/calls", { token: ana.token, body });
  if (rung.status !== 200) throw new Error(`it does not ring: ${JSON.stringify(rung.body)}`);
};

/** Token of the person with a revoked session. */
const endedToken = async (person: Person): Promise<string> => {
  const session = createSessionRow(person.id, Date.now());
  await insertSession(openDb(env), session);
  const token = await signAccessToken(env, { sub: person.id, sid: session.id, gen: 0 });
  expect((await call("POST", "/api/auth/logout?scope=local", { token })).status).toBe(204);
  return token;
};

/** Answer of the route to a person in this role. */
const ask = async (route: string, row: Row, world: World, role: Role): Promise<number> => {
  const [method = "", pattern = ""] = route.split(" ");
  const caller = callerOf(world, role, row);
  const token = caller && (role === "revoked" ? await endedToken(caller) : caller.token);
  const body = row.body?.(world, role);
  const response = await site.fetch(site.origin + (row.path?.(world, role) ?? pattern), {
    method,
    redirect: "manual",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...row.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  response.webSocket?.accept();
  response.webSocket?.close();
  if (response.status !== 101) await response.arrayBuffer();
  return response.status;
};

const routes = [
  ...new Set(api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`)),
];

test("the access table has a row for every route of the API, and no others", () => {
  expect(Object.keys(accessTable).sort()).toEqual([...routes].sort());
});

/** Reading tests share one set of people; each changing test has its own. */
let shared: Promise<World> | undefined;
const worldFor = async (route: string, { isCalling }: Row): Promise<World> => {
  if (isCalling) {
    const world = await makeWorld();
    await dial(world);
    return world;
  }
  if (!route.startsWith("GET ")) return makeWorld();
  shared ??= makeWorld();
  return shared;
};

const check = async (route: string, row: Row | undefined): Promise<void> => {
  if (!row) throw new Error(`${route} has no row`);
  const world = await worldFor(route, row);
  const answers: Partial<Record<Role, number>> = {};
  for (const role of roles) answers[role] = await ask(route, row, world, role);
  expect(answers).toEqual(row.expected);
};

test.each(routes)("%s answers each role as the access table says", (route) => check(route, accessTable[route]));

const ofConversations = routes.filter((route) => /(conversations|mutes)\/:id(?!.*receipts)/.test(route));

test("every route of a conversation has a row for groups too", () => {
  expect(Object.keys(groupTable).sort()).toEqual(ofConversations.sort());
});

test.each(ofConversations)("%s answers each role of a group as the access table says", (route) =>
  check(route, groupTable[route]),
);
