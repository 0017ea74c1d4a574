import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { numberCodeAttempts, numberCodesOfRange, numberProofMinutes } from "#contract/limits/phone-numbers.ts";
import type { Person } from "#tests/support/people/people.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { findAdapter } from "#worker/lib/number-adapters.ts";
import { takeProofStart } from "#worker/people/numbers/proof-counts.ts";
import { purgeNumberProofs } from "#worker/people/numbers/queries.ts";
import {
  isVerified,
  postCall,
  postMessage,
  readLocalCode,
  signCall,
  startProof,
  toCallWebhook,
  toMessageWebhook,
  typeCode,
  withAdapter,
} from "./number-proofs.ts";

const local = { NUMBER_PROOFS: "", NUMBER_PROOF_SECRETS: "" };
const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;
const otherCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

/** Starts a proof by a code and returns both. */
const sendLocalCode = async (person: Person) => {
  const proof = await startProof(person, "sms_code", local);
  return { proof, code: await readLocalCode(person.phone) };
};
const askOf = async (person: Person): Promise<string> => {
  const { ask } = await startProof(person, "whatsapp_message");
  return ask.kind === "message" ? ask.text : "";
};
/** Lets time pass for a person's open proof. */
const ageProof = (person: Person, ms: number) =>
  env.DB.prepare(
    "UPDATE number_proofs SET created_at = created_at - ?1, expires_at = expires_at - ?1 WHERE user_id = ?2",
  )
    .bind(ms, person.id)
    .run();
const revokeVerification = (person: Person) =>
  env.DB.prepare("UPDATE profiles SET verified_at = NULL WHERE id = ?").bind(person.id).run();

test("a wrong code typed five times ends the proof, of many typed at once too", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  const { proof, code } = await sendLocalCode(ana);
  for (let n = 0; n < numberCodeAttempts; n++)
    expect(codeOf(await typeCode(ana, proof, otherCode(code)))).toBe("number_code_wrong");
  expect(codeOf(await typeCode(ana, proof, code))).toBe("number_proof_expired");
  expect(await isVerified(ana)).toBe(false);

  const bens = await sendLocalCode(ben);
  const answers = await Promise.all(Array.from({ length: 12 }, () => typeCode(ben, bens.proof, otherCode(bens.code))));
  expect(answers.filter((answer) => codeOf(answer) === "number_code_wrong")).toHaveLength(numberCodeAttempts);
});

test("a code is of no use in another session, to another person, after ten minutes, or after a newer one", async () => {
  const [ana, eve] = [await makePerson(), await makePerson()];
  const { proof, code } = await sendLocalCode(ana);
  const session = createSessionRow(ana.id, Date.now());
  await insertSession(openDb(env), session);
  const elsewhere = { token: await signAccessToken(env, { sub: ana.id, sid: session.id, gen: 0 }) };
  expect(codeOf(await typeCode(elsewhere, proof, code))).toBe("number_proof_expired");
  expect(codeOf(await typeCode(eve, proof, code))).toBe("number_proof_expired");
  const newer = await sendLocalCode(ana);
  expect(codeOf(await typeCode(ana, proof, code))).toBe("number_proof_expired");
  await ageProof(ana, numberProofMinutes * 60_000 + 1);
  expect(codeOf(await typeCode(ana, newer.proof, newer.code))).toBe("number_proof_expired");
  expect([await isVerified(ana), await isVerified(eve)]).toEqual([false, false]);
});

test("a proof ends with the session that started it", async () => {
  const ana = await makePerson();
  const text = await askOf(ana);
  await env.DB.prepare("DELETE FROM sessions WHERE user_id = ?").bind(ana.id).run();
  expect((await postMessage(toMessageWebhook(ana.phone, text))).status).toBe(204);
  const row = await env.DB.prepare("SELECT verified_at FROM profiles WHERE id = ?").bind(ana.id).first();
  expect(row).toEqual({ verified_at: null });
});

test("webhooks that are unsigned, signed with another secret or changed verify nothing", async () => {
  const ana = await makePerson();
  const body = toMessageWebhook(ana.phone, await askOf(ana));
  const signed = "sha256=".padEnd(71, "0");
  for (const signature of ["", "sha256=", signed]) expect((await postMessage(body, signature)).status).toBe(403);
  await startProof(ana, "missed_call");
  const called = toCallWebhook(ana.phone);
  const signatures = ["", "t=1,v1=", signCall(called, Date.now(), "another-secret"), signCall(`${called} `)];
  for (const signature of signatures) expect((await postCall(called, signature)).status).toBe(403);
  expect((await postCall(called, signCall(called, Date.now() - 6 * 60_000))).status).toBe(403);
  expect(await isVerified(ana)).toBe(false);
});

test("a message or call from another number verifies nobody", async () => {
  const [ana, eve] = [await makePerson(), await makePerson()];
  const text = await askOf(ana);
  expect((await postMessage(toMessageWebhook(eve.phone, text))).status).toBe(204);
  await startProof(eve, "missed_call");
  expect((await postCall(toCallWebhook(ana.phone))).status).toBe(204);
  expect([await isVerified(ana), await isVerified(eve)]).toEqual([false, false]);
  expect((await postMessage(toMessageWebhook(ana.phone, text))).status).toBe(204);
  expect(await isVerified(ana)).toBe(true);
});

test("a replayed webhook does not complete a later proof", async () => {
  const ana = await makePerson();
  const message = toMessageWebhook(ana.phone, await askOf(ana));
  await postMessage(message);
  await revokeVerification(ana);
  await askOf(ana);
  expect((await postMessage(message)).status).toBe(204);
  expect(await isVerified(ana)).toBe(false);

  const called = toCallWebhook(ana.phone, Date.now() - 60_000);
  await startProof(ana, "missed_call");
  expect((await postCall(called)).status).toBe(204);
  expect(await isVerified(ana)).toBe(false);
  await postCall(toCallWebhook(ana.phone));
  expect(await isVerified(ana)).toBe(true);
});

const own = (phone: string) => ({ phone, isOwn: true });

test("of 1,000 numbers of one prefix that nobody owns, twenty are sent a code; other prefixes go on", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const db = openDb(env);
  const pumped = withAdapter("sms", { id: "pumped" });
  const adapter = findAdapter(pumped, "+243850000000", "sms_code");
  if (!adapter) throw new Error("no adapter");
  const now = Date.now();
  let sent = 0;
  for (let n = 0; n < 1_000; n++)
    if (await takeProofStart(db, adapter, own(`+24385${String(n * 7).padStart(7, "0")}`), now)) sent += 1;
  expect(sent).toBe(numberCodesOfRange);
  expect(await takeProofStart(db, adapter, own("+243850100000"), now)).toBe(true);
  expect(await takeProofStart(db, adapter, own("+243850000000"), now + 24 * 3_600_000)).toBe(true);
  const { results } = await env.DB.prepare(
    "SELECT started FROM number_proof_counts WHERE adapter = 'pumped' AND range = ''",
  ).all();
  expect(results.map(({ started }) => started).sort()).toEqual([1, numberCodesOfRange + 1]);
  await purgeNumberProofs(db, now + 30 * 24 * 3_600_000, 1_000);
  expect(
    await env.DB.prepare("SELECT count(*) AS rows FROM number_proof_counts WHERE adapter = 'pumped'").first(),
  ).toEqual({ rows: 0 });
});

test("a range whose codes are typed is not stopped", async () => {
  const db = openDb(env);
  const adapter = findAdapter(withAdapter("sms", { id: "honest" }), "+243860000000", "sms_code");
  if (!adapter) throw new Error("no adapter");
  const now = Date.now();
  for (let n = 0; n < 3 * numberCodesOfRange; n++) {
    expect(await takeProofStart(db, adapter, own(`+2438600000${String(n).padStart(2, "0")}`), now)).toBe(true);
    if (n % 3 === 0)
      await env.DB.prepare(
        "UPDATE number_proof_counts SET completed = completed + 1 WHERE adapter = 'honest' AND range <> ''",
      ).run();
  }
});
