import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { createUuid } from "#contract/ids.ts";
import type { Person } from "#tests/support/people/people.ts";
import {
  CallClient,
  channelStub,
  evictConversation,
  makeAnsweredCall,
  makeCallEntry,
  makeRingingCall,
  readCallEntries,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { request } from "#tests/worker/support/device.ts";
import { befriend, makePair } from "#tests/worker/support/seeded-people.ts";
import { call as callApi, makePerson } from "#tests/worker/support/site.ts";

/** The sessions of the two sides of a call: the call lasts no longer than they do. */

const signOut = async ({ token }: Pick<Person, "token">, scope: "local" | "global" | "others") => {
  const { status } = await callApi("POST", `/api/auth/logout?scope=${scope}`, { token });
  expect(status).toBe(204);
};

const signInAgain = async (person: Person): Promise<Person> => {
  const { phone, password } = person;
  const { body } = await callApi("POST", "/api/auth/token?grant_type=password", { body: { phone, password } });
  return { ...person, token: (body as Session).access_token };
};

test.each(["local", "global"] as const)(
  "signing out (%s) leaves a connected call, and cancels a ringing one",
  async (scope) => {
    advanceClock(0); // however long the machine takes, they talk for zero seconds
    for (const name of ["ana", "ben"] as const) {
      const talk = await makeAnsweredCall();
      await evictDurableObject(channelStub(talk[name].id));
      await evictConversation(talk.id);
      await signOut(talk[name], scope);
      const [own, other] = name === "ana" ? [talk.anas, talk.bens] : [talk.bens, talk.anas];
      await other.waitForEvent(talk.call, "ended");
      await own.device.closed;
      const reader = name === "ana" ? talk.ben : talk.ana;
      expect((await readCallEntries(reader, talk.id)).map(({ body }) => body)).toEqual([
        makeCallEntry(talk.call, "ended"),
      ]);
    }
    const { ana, ben, id, bens, call } = await makeRingingCall();
    await signOut(ana, scope);
    await bens.waitForEvent(call, "missed");
    expect((await readCallEntries(ben, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, "missed")]);
  },
);

test("a call continues when another session of its person ends, or its own is renewed", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const id = await befriend(ana, ben);
  const other = await signInAgain(ana);
  const [anas, bens] = [await CallClient.open(ana, id), await CallClient.open(ben, id)];
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  await bens.answer(call);
  const body = { refresh_token: ana.refreshToken };
  const renewed = await callApi("POST", "/api/auth/token?grant_type=refresh_token", { body });
  expect(renewed.status).toBe(200);
  await signOut(other, "local");
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
  expect(await anas.heartbeat(call)).toEqual({ passed: true });
  // A renewed token belongs to the same session.
  await signOut({ token: (renewed.body as Session).access_token }, "local");
  await bens.waitForEvent(call, "ended");
});

test("a call dialled and answered by HTTP ends with the session that did it, also if all sessions are ended elsewhere", async () => {
  for (const scope of ["local", "others"] as const) {
    const [ana, ben] = [await makePerson(), await makePerson()];
    const id = await befriend(ana, ben);
    const other = await signInAgain(ben);
    const call = createUuid();
    await request(ana, { type: "dial", conversation: id, call, kind: "audio", device: createUuid() });
    const answered = await request(ben, { type: "answer", conversation: id, call, device: createUuid() });
    expect(answered).toMatchObject({ over: null });
    await signOut(scope === "local" ? ben : other, scope);
    const { over } = await request(ana, { type: "standing", conversation: id, call });
    expect(over, scope).toMatchObject({ status: "ended" });
  }
});

test("a ring continues when a session of the called person ends", async () => {
  const { ben, anas, call } = await makeRingingCall();
  await signOut(ben, "local");
  expect(await anas.request({ type: "standing", call })).toMatchObject({ over: null });
});

test("a session that ends while dialling joins no call", async () => {
  const { ana, ben, id } = await makePair();
  const bens = await CallClient.open(ben, id);
  const call = createUuid();
  const dialling = request(ana, { type: "dial", conversation: id, call, kind: "audio", device: createUuid() });
  await Promise.all([dialling, channelStub(ana.id).closeSessions([ana.session])]);
  await signOut(ana, "local");
  const standing = await bens.request({ type: "standing", call });
  expect(standing.error ?? standing.over?.status).toMatch(/call_not_found|missed/);
});
