import { env } from "cloudflare:workers";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { numberContestDays, numberUnusedDays } from "#contract/limits/phone-numbers.ts";
import type { SettingsChange } from "#contract/settings/settings.ts";
import { connectPeople, makeCaptchaToken, type Person, phoneOf } from "#tests/support/people/people.ts";
import { request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { readMails } from "#tests/worker/support/mailbox.ts";
import { makeGroup } from "#tests/worker/support/make-group.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { signInWithProof } from "#tests/worker/support/sign-in.ts";
import { call, makePerson, refillBuckets, site } from "#tests/worker/support/site.ts";
import { advanceFrozenClock, freezeClock, resumeClock } from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { openDb } from "#worker/db/client.ts";
import { readTrust } from "#worker/people/trust.ts";
import {
  eventsOf,
  newPassword,
  postMessage,
  prove,
  readOwnNumber,
  register,
  registerPerson,
  renew,
  requestProof,
  toMessageWebhook,
  withAdapters,
} from "./number-proofs.ts";

/** Attacks on the ownership of numbers, and its changes (docs/decisions/number-takeover.md). */

const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;
const daySeconds = 24 * 3_600;

const signIn = async (phone: string, password: string) =>
  (await signInWithProof(phone, password, { "cf-connecting-ip": `10.77.${takePersonNumber() % 250}.1` })).answer;
const search = async (by: Person, phone: string) =>
  (await callWith(withAdapters(), "POST", "/api/people/search", { token: by.token, body: { phone } })).body as {
    id: string;
    verified?: true;
  }[];
const relationOf = async (of: Person, about: Person) =>
  (await request(of, { type: "changes", since: 0 })).people.find(({ profile }) => profile.id === about.id);

test("squatting, then the owner arrives", async () => {
  const [squatter, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, squatter, ben);
  const group = createUuid();
  await makeGroup(squatter, "Famille", [ben], group);
  const address = `${squatter.id}@example.org`;
  await env.DB.prepare("INSERT INTO account_security (user_id, email) VALUES (?, ?)").bind(squatter.id, address).run();

  const owner = await registerPerson(squatter.phone);
  const own = { phone: squatter.phone, verified_at: null };
  expect(await readOwnNumber(owner)).toMatchObject(own);
  expect(await readOwnNumber(squatter)).toMatchObject(own);
  expect((await call("GET", `/api/users/${owner.id}`, { token: owner.token })).body).toMatchObject({
    phone: squatter.phone,
  });
  // The claim is shown to nobody, and both sign in by the number.
  expect((await search(ben, squatter.phone)).map(({ id }) => id)).toEqual([squatter.id]);
  const byNumber = [await signIn(owner.phone, newPassword), await signIn(squatter.phone, squatter.password)];
  expect(byNumber.map(({ body }) => body)).toMatchObject([{ user: { id: owner.id } }, { user: { id: squatter.id } }]);

  expect(await prove(owner)).toMatchObject({ phone: squatter.phone, verified_at: expect.any(Number) });
  expect((await search(ben, squatter.phone)).map(({ id, verified }) => [id, verified])).toEqual([[owner.id, true]]);

  // The former holder keeps the account, its sessions, chats and groups, under a handle that it can change.
  const { phone, handle, verified_at } = await readOwnNumber(squatter);
  expect({ phone, verified_at }).toEqual({ phone: "", verified_at: null });
  expect(handle).toMatch(/^u[a-z2-9]{9}$/);
  expect((await signIn(`@${handle}`, squatter.password)).body).toMatchObject({ user: { id: squatter.id, phone: "" } });
  // The former number signs in too, for those who never read the notice.
  expect((await signIn(squatter.phone, squatter.password)).body).toMatchObject({
    user: { id: squatter.id, phone: "" },
  });
  expect((await signIn(squatter.phone, newPassword)).body).toMatchObject({ user: { id: owner.id } });
  expect((await call("GET", "/api/contacts", { token: squatter.token })).body).toMatchObject({
    contacts: [{ id: ben.id }],
  });
  expect((await call("GET", `/api/groups/${group}`, { token: squatter.token })).status).toBe(200);
  const renamed = { token: squatter.token, body: { handle: "former.holder" } };
  expect((await call("PUT", "/api/handle", renamed)).status).toBe(200);
  expect(codeOf(await call("DELETE", "/api/handle", { token: squatter.token }))).toBe("handle_needed");
  await waitUntil(async () => (await eventsOf(squatter)).includes("number_lost"));
  const [mail] = await readMails(address);
  expect(mail?.text).toContain(`@${handle}`);
  expect(mail?.text).not.toContain(squatter.phone.slice(-6));

  // Without a number it reaches few new people, however old it is.
  const later = Date.now() + 60 * daySeconds * 1_000;
  expect(await readTrust(withAdapters(), openDb(env), squatter.id, later)).toEqual({ tier: "new", canVerify: true });

  // A contact sees the account without the number, and a notice until it is confirmed.
  await waitUntil(async () => (await relationOf(ben, squatter))?.number_notice === "left");
  expect(await relationOf(ben, squatter)).toMatchObject({ state: "contact", profile: { phone: "" } });
  const confirmed = await call("DELETE", `/api/number/notices/${squatter.id}`, { token: ben.token });
  expect(confirmed).toMatchObject({ status: 200, body: { state: "contact" } });
  expect(confirmed.body).not.toHaveProperty("number_notice");
  await waitUntil(async () => (await relationOf(ben, squatter))?.number_notice === undefined);
  expect(codeOf(await call("DELETE", `/api/number/notices/${owner.id}`, { token: ben.token }))).toBe("user_not_found");

  // Another number in place of the lost one is new to the contacts; the owner's contacts would learn of none.
  await prove(squatter, phoneOf(takePersonNumber()));
  expect(codeOf(await signIn(squatter.phone, squatter.password))).toBe("invalid_credentials");
  await waitUntil(async () => (await relationOf(ben, squatter))?.number_notice === "changed");
  expect(await eventsOf(owner)).not.toContain("number_changed");
});

test("takeover reveals no old chat, group, request or call to the taker", async () => {
  const [squatter, ben, cal, dan] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, squatter, ben);
  const group = createUuid();
  await makeGroup(squatter, "Famille", [ben], group);
  const chat = privateConversationId(squatter.id, ben.id);
  await sendTexts(ben, chat, "Mbote");
  await call("POST", "/api/requests", { token: cal.token, body: { to_user_id: squatter.id } });
  await call("POST", "/api/requests", { token: squatter.token, body: { to_user_id: dan.id } });
  await call("PUT", "/api/handle", { token: squatter.token, body: { handle: "kept.handle" } });

  const owner = await registerPerson(squatter.phone);
  await prove(owner);
  const lists = ["contacts", "requests", "requests/contexts", "conversations", "blocks", "mutes"];
  const seen = await Promise.all(lists.map(async (list) => (await call("GET", `/api/${list}`, owner)).body));
  const fresh = await makePerson();
  const empty = await Promise.all(lists.map(async (list) => (await call("GET", `/api/${list}`, fresh)).body));
  expect(seen).toEqual(empty);
  const changes = await request(owner, { type: "changes", since: 0 });
  expect(changes).toMatchObject({ rows: [], calls: [], notices: [] });
  expect(changes.people.filter(({ profile }) => profile.id !== owner.id)).toEqual([]);
  for (const id of [chat, privateConversationId(owner.id, ben.id), group])
    expect((await call("GET", `/api/conversations/${id}/messages`, { token: owner.token })).status).toBe(404);
  expect((await call("GET", `/api/groups/${group}`, { token: owner.token })).status).toBe(404);
  expect((await call("GET", `/api/users/${squatter.id}`, { token: owner.token })).status).toBe(404);
  // Requests stay between the accounts, and the own handle is kept.
  const pending = (await call("GET", "/api/requests", { token: squatter.token })).body;
  expect(pending).toMatchObject({ received: [{ from_user_id: cal.id }], sent: [{ to_user_id: dan.id }] });
  expect((await readOwnNumber(squatter)).handle).toBe("kept.handle");
});

test("two verify at once", async () => {
  const squatter = await makePerson();
  const claimants = [await registerPerson(squatter.phone), await registerPerson(squatter.phone)];
  const texts = [];
  for (const { token } of claimants) {
    const body = { method: "whatsapp_message" };
    const started = await callWith(withAdapters(), "POST", "/api/number/proofs", { token, body });
    texts.push((started.body as { ask: { text: string } }).ask.text);
  }
  await Promise.all(texts.map((text) => postMessage(toMessageWebhook(squatter.phone, text))));
  const states = await Promise.all([squatter, ...claimants].map((person) => readOwnNumber(person)));
  expect(states.filter(({ verified_at }) => verified_at !== null)).toHaveLength(1);
  expect(states.filter(({ refused_method }) => refused_method)).toHaveLength(1);
  expect(states[0]).toMatchObject({ phone: "", refused_method: null });
  const { results } = await env.DB.prepare(
    "SELECT users.phone AS phone FROM users JOIN profiles ON profiles.id = users.id AND profiles.phone = users.phone WHERE users.phone = ?",
  )
    .bind(squatter.phone)
    .all();
  expect(results).toHaveLength(1);
});

test("recycled SIM after 45 days", async () => {
  freezeClock();
  onTestFinished(resumeClock);
  const [ana, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  await prove(ana);
  const unused = await makePerson();
  await prove(unused);
  await env.DB.prepare("DELETE FROM sessions WHERE user_id = ?").bind(unused.id).run();

  advanceFrozenClock((numberUnusedDays - 1) * daySeconds);
  for (const holder of [ana, unused]) {
    const early = await registerPerson(holder.phone);
    expect(await prove(early)).toMatchObject({ refused_method: "whatsapp_message", verified_at: null });
  }
  expect((await readOwnNumber(await renew(ana, false))).contested_until).not.toBeNull();
  await env.DB.prepare("UPDATE profiles SET contested_at = NULL").run();

  advanceFrozenClock(2 * daySeconds); // Ana has been active a moment ago, the other person has not
  const [late, taker] = [await registerPerson(ana.phone), await registerPerson(unused.phone)];
  expect(await prove(late)).toMatchObject({ refused_method: "whatsapp_message", verified_at: null });
  expect(await prove(taker)).toMatchObject({ phone: unused.phone, verified_at: expect.any(Number) });
  expect((await call("GET", "/api/contacts", taker)).body).toMatchObject({ contacts: [] });
  expect(await readOwnNumber(await renew(unused))).toMatchObject({ phone: "", handle: expect.any(String) });

  advanceFrozenClock((numberUnusedDays + 1) * daySeconds);
  const owner = await registerPerson(ana.phone);
  expect(await prove(owner)).toMatchObject({ verified_at: expect.any(Number) });
  const bens = await renew(ben);
  await waitUntil(async () => (await relationOf(bens, ana))?.number_notice === "left");
  const anas = await renew(ana);
  expect((await call("GET", "/api/contacts", anas)).body).toMatchObject({ contacts: [{ id: ben.id }] });
});

test("a holder who uses the account is asked to verify the number again, and keeps it by doing so", async () => {
  freezeClock();
  onTestFinished(resumeClock);
  const [ana, dina] = [await makePerson(), await makePerson()];
  for (const holder of [ana, dina]) await prove(holder);
  for (const { phone } of [ana, dina]) {
    const other = await registerPerson(phone);
    expect(await prove(other)).toMatchObject({ refused_method: "whatsapp_message", phone, verified_at: null });
  }
  for (const holder of [ana, dina]) await waitUntil(async () => (await eventsOf(holder)).includes("number_contested"));
  expect(await prove(ana)).toMatchObject({ verified_at: expect.any(Number), contested_until: null });

  advanceFrozenClock((numberContestDays + 1) * daySeconds);
  for (const holder of [ana, dina]) await renew(holder);
  const [anas, dinas] = [await registerPerson(ana.phone), await registerPerson(dina.phone)];
  expect(await prove(anas)).toMatchObject({ refused_method: "whatsapp_message", verified_at: null });
  expect(await prove(dinas)).toMatchObject({ refused_method: null, verified_at: expect.any(Number) });
});

test("a code for a number in use is refused as such, only after it was typed", async () => {
  const sent: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation((_, init) => {
    sent.push(String(init?.body));
    return Promise.resolve(new Response("{}", { status: 201 }));
  });
  const ana = await makePerson();
  await prove(ana);
  const eve = await registerPerson(ana.phone);
  const started = await requestProof(eve, "sms_code");
  expect(started.status).toBe(201);
  const code = /code est (\d{6})/.exec(sent[0] ?? "")?.[1];
  const { id } = started.body as { id: string };
  const typed = { token: eve.token, body: { code } };
  const path = `/api/number/proofs/${id}/code`;
  expect(codeOf(await callWith(withAdapters(), "POST", path, typed))).toBe("number_in_use");
  expect(codeOf(await callWith(withAdapters(), "POST", path, typed))).toBe("number_proof_expired");
});

test("a person changes their number after showing a factor; contacts see the new one and a notice", async () => {
  const [ana, ben, cal] = [await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  await prove(ana);
  const phone = phoneOf(takePersonNumber());
  const stolen = await renew(ana, false);
  const body = { method: "whatsapp_message", phone };
  expect(codeOf(await callWith(withAdapters(), "POST", "/api/number/proofs", { token: stolen.token, body }))).toBe(
    "reauthentication_needed",
  );
  const methods = await callWith(withAdapters(), "POST", "/api/number/methods", { token: ana.token, body: { phone } });
  expect(methods.body).toEqual({ phone, methods: ["whatsapp_message", "missed_call", "whatsapp_code", "sms_code"] });

  expect(await prove(ana, phone)).toMatchObject({ phone, verified_at: expect.any(Number) });
  await waitUntil(async () => (await relationOf(ben, ana))?.number_notice === "changed");
  expect(await relationOf(ben, ana)).toMatchObject({ profile: { phone } });
  expect((await signIn(phone, ana.password)).status).toBe(200);
  expect(codeOf(await signIn(ana.phone, ana.password))).toBe("invalid_credentials");
  await waitUntil(async () => (await eventsOf(stolen)).includes("number_changed"));
  expect(await search(cal, ana.phone)).toEqual([]);
  // The former number is free for the next person, at once.
  expect((await register(ana.phone)).status).toBe(200);

  // Contacts who do not see the number learn nothing of a change.
  for (const body of [
    { phoneTo: "nobody" },
    { phoneTo: "contacts_except", exceptions: { phoneTo: [ben.id] } },
  ] satisfies SettingsChange[]) {
    expect((await call("PATCH", "/api/settings", { token: ana.token, body })).status).toBe(200);
    await call("DELETE", `/api/number/notices/${ana.id}`, { token: ben.token });
    await prove(ana, phoneOf(takePersonNumber()));
    await waitUntil(async () => (await relationOf(ben, ana))?.profile.phone === "");
    expect((await relationOf(ben, ana))?.number_notice).toBeUndefined();
  }
});

test("registration answers alike and does the same work for a number of somebody and of nobody", async () => {
  const held: Person[] = [];
  for (let n = 0; n < 4; n++) held.push(await makePerson());
  const [verified] = held;
  if (verified) await prove(verified);
  const measure = async (phone: string) => {
    await refillBuckets("sign_in_by_address");
    const queries: string[] = [];
    const DB = {
      prepare: (query: string) => {
        queries.push(query);
        return env.DB.prepare(query);
      },
      batch: (list: D1PreparedStatement[]) => env.DB.batch(list),
    };
    const captcha_token = await makeCaptchaToken(site, { action: "sign_up", subject: phone });
    const body = { phone, password: newPassword, gotrue_meta_security: { captcha_token } };
    let answer: Awaited<ReturnType<typeof callWith>> | undefined;
    const rows = await countDirectoryRows(async () => {
      answer = await callWith({ ...withAdapters(), DB }, "POST", "/api/auth/signup", { body });
    });
    if (!answer) throw new Error("no answer");
    const { user, ...session } = answer.body as Session;
    const shape = { ...user, id: "", created_at: "", updated_at: "" };
    const token = session.access_token;
    const own = await callWith(withAdapters(), "GET", "/api/number", { token });
    const profile = await callWith(withAdapters(), "GET", `/api/users/${user.id}`, { token });
    const seen = { status: answer.status, shape, own: own.body, profile: { ...(profile.body as object), id: "" } };
    const text = JSON.stringify(seen)
      .replaceAll(phone, "NUMBER")
      .replaceAll(/\d{13}/g, "TIME");
    return { text, keys: Object.keys(session), queries, rows };
  };
  const free = [];
  const taken = [];
  for (const { phone } of held) {
    taken.push(await measure(phone));
    free.push(await measure(phoneOf(takePersonNumber())));
  }
  const median = (list: { rows: { read: number; written: number } }[], kind: "read" | "written") =>
    list.map(({ rows }) => rows[kind]).sort((a, b) => a - b)[Math.floor((list.length - 1) / 2)] ?? 0;
  expect(new Set([...free, ...taken].map(({ text }) => text)).size).toBe(1);
  expect(new Set([...free, ...taken].map(({ keys, queries }) => JSON.stringify([keys, queries]))).size).toBe(1);
  // The full-text index of the numbers writes a row more or less from time to time.
  for (const kind of ["read", "written"] as const)
    expect(Math.abs(median(taken, kind) - median(free, kind))).toBeLessThanOrEqual(1);
});
