import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Secret, TOTP } from "otpauth";
import { expect, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Enrolled, FactorChallenge, RecoveryCodes } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { makeCaptchaToken, type Person, testPassword } from "#tests/support/people/people.ts";
import { readDirectory } from "./recount.ts";
import { call, newPerson, site } from "./site.ts";

/** People with a second factor, through the public API. */

type Bearer = { token: string };

/** TOTP code of this secret, offset by steps of 30 seconds. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Code that is not valid at any moment near the present one. */
export const wrongCodeOf = (secret: string): string => {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
};

export const enrol = async (by: Bearer, friendly_name?: string): Promise<Enrolled> => {
  const body = { factor_type: "totp", friendly_name };
  const answer = await call("POST", "/api/auth/factors", { token: by.token, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Enrolled;
};

export const challenge = async (by: Bearer, factor: Uuid): Promise<Uuid> => {
  const answer = await call("POST", `/api/auth/factors/${factor}/challenge`, { token: by.token });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return (answer.body as FactorChallenge).id;
};

export const verify = (by: Bearer, factor: Uuid, challenge_id: Uuid, code: string) =>
  call("POST", `/api/auth/factors/${factor}/verify`, { token: by.token, body: { challenge_id, code } });

/** Requests a challenge and answers it. */
export const showCode = async (by: Bearer, factor: Uuid, code: string) =>
  verify(by, factor, await challenge(by, factor), code);

export const showRecoveryCode = (by: Bearer, code: string) =>
  call("POST", "/api/auth/recovery-codes/verify", { token: by.token, body: { code } });

export const makeRecoveryCodes = async (by: Bearer): Promise<string[]> => {
  const { status, body } = await call("POST", "/api/auth/recovery-codes", { token: by.token });
  expect(status).toBe(200);
  return (body as RecoveryCodes).codes;
};

export const signIn = async ({ phone }: Pick<Person, "phone">): Promise<Session> => {
  const body = { phone, password: testPassword };
  const answer = await call("POST", "/api/auth/token?grant_type=password", { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Session;
};

/** Signs in with a recovery code instead of the password. */
export const signInByCode = async ({ phone }: Pick<Person, "phone">, code: string): Promise<Session> => {
  const gotrue_meta_security = {
    captcha_token: await makeCaptchaToken(site, { action: "recover_by_code", subject: phone }),
  };
  const answer = await call("POST", "/api/auth/recover/code", { body: { phone, code, gotrue_meta_security } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Session;
};

/** Makes a person with a confirmed code app. Used the code of the previous step, so the present one is still valid. */
export const newGuarded = async () => {
  const person = await newPerson();
  const { id: factor, totp } = await enrol(person);
  const answer = await showCode(person, factor, codeOf(totp.secret, -1));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { access_token, refresh_token } = answer.body as Session;
  return { ...person, token: access_token, refreshToken: refresh_token, factor, secret: totp.secret };
};

/** Signs in up to the pending second factor. */
export const signInHalfway = async (person: Pick<Person, "phone">): Promise<Session & Bearer> => {
  const session = await signIn(person);
  expect(session.awaits).toBeDefined();
  return { ...session, token: session.access_token };
};

/** Freezes the clock, so that no code expires during a test; `advanceFrozenClock` moves it. */
export const stopClock = (): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
};
export const wait = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1_000);
};
/** Resumes the clock and forgets the rate limits that the address used up meanwhile. */
export const startClock = async (): Promise<void> => {
  vi.useRealTimers();
  await env.DB.prepare("DELETE FROM rate_limits WHERE key GLOB '*_by_address:*'").run();
};

/** Security notices of a person's devices, oldest first. */
export const eventsOf = async (user: Uuid): Promise<string[]> => {
  const kept = await runInDurableObject(env.USER_CHANNEL.getByName(user), (_, { storage }) =>
    storage.sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'notices'").toArray(),
  );
  const notices = JSON.parse(kept[0]?.value ?? "[]") as { notice: { event: string } }[];
  return notices.map(({ notice }) => notice.event);
};

/** Whether this token may change how its person signs in. */
export const mayChange = async (by: Bearer): Promise<boolean> => {
  const { status, body } = await call("POST", "/api/auth/recovery-codes", { token: by.token });
  if (status !== 403) return status === 200;
  expect(body).toMatchObject({ error_code: "reauthentication_needed" });
  return false;
};

/** Every row of every table of the directory, as text. */
export const readAllRows = async (): Promise<string> => (await readDirectory()).map(({ text }) => text).join("\n");
