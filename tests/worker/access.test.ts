import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { privateConversationId } from "../../contract/ids";
import type { Relation } from "../../contract/people";
import { api } from "../../worker/api";
import { insertSession, newSession } from "../../worker/auth/sessions";
import { openDb } from "../../worker/db/client";
import { signAccessToken } from "../../worker/lib/access-token";
import { accessTable, callerOf, type Role, type Row, roles, type World } from "../support/access-table";
import { connectPeople, type Person } from "../support/people";
import { post } from "./device";
import { makePng } from "./pictures";
import { call, newPerson, site } from "./site";

const makeWorld = async (): Promise<World> => {
  const [ana, cal, rita, dina] = [await newPerson(), await newPerson(), await newPerson(), await newPerson()];
  const [bob, sam] = [await newPerson(), await newPerson()];
  await Promise.all([cal, rita, dina].map((other) => connectPeople(site, ana, other)));
  for (const other of [cal, rita, dina]) await post(ana, privateConversationId(ana.id, other.id), "Mbote");
  await call("DELETE", `/api/contacts/${rita.id}`, { token: ana.token });
  await call("PUT", `/api/blocks/${dina.id}`, { token: ana.token });
  const asked = await call("POST", "/api/requests", { token: ana.token, body: { to_user_id: bob.id } });
  const pictured = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ana.token}` },
    body: makePng(20, 20),
  });
  const { avatar_url: avatar } = (await pictured.json()) as { avatar_url: string };
  return { ana, cal, rita, dina, bob, sam, request: (asked.body as Relation).request_id ?? "", avatar };
};

/** A token of the person's whose session has ended. */
const endedToken = async (person: Person): Promise<string> => {
  const session = newSession(person.id, Date.now());
  await insertSession(openDb(env), session);
  const token = await signAccessToken(env, { sub: person.id, sid: session.id, gen: 0 });
  expect((await call("POST", "/api/auth/logout?scope=local", { token })).status).toBe(204);
  return token;
};

/** What the route answers to somebody in this role. */
const ask = async (route: string, row: Row, world: World, role: Role): Promise<number> => {
  const [method = "", pattern = ""] = route.split(" ");
  const caller = callerOf(world, role, row);
  const token = caller && (role === "revoked" ? await endedToken(caller) : caller.token);
  const body = row.body?.(world, role);
  const response = await site.fetch(site.origin + (row.path?.(world, role) ?? pattern), {
    method,
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

test("every route of the API has its row in the access table, and every row its route", () => {
  expect(Object.keys(accessTable).sort()).toEqual([...routes].sort());
});

/** What only reads shares a world; what changes something has one of its own. */
let shared: Promise<World> | undefined;
const worldFor = (route: string): Promise<World> => {
  if (!route.startsWith("GET ")) return makeWorld();
  shared ??= makeWorld();
  return shared;
};

test.each(routes)(
  "%s answers each person by how they stand to it",
  async (route) => {
    const row = accessTable[route];
    if (!row) throw new Error(`${route} has no row`);
    const world = await worldFor(route);
    const answers: Partial<Record<Role, number>> = {};
    for (const role of roles) answers[role] = await ask(route, row, world, role);
    expect(answers).toEqual(row.expected);
  },
  30_000,
);
