import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Secret, TOTP } from "otpauth";
import { expect, vi } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import type { Enrolled, FactorChallenge, RecoveryCodes } from "#contract/auth/factors.ts";
import type { Uuid } from "#contract/ids.ts";
import { makeCaptchaToken, type Person, testPassword } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "./site.ts";
import { readDirectory } from "./stored-data.ts";

/** People with a second factor, through the public API. */

type Bearer = { token: string };

/** TOTP code of this secret, offset by steps of 30 seconds. */
export const makeCode = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** Code that is not valid at any moment near the present one. */
export const makeWrongCode = (secret: string): string => {
  const near = [-2, -1, 0, 1, 2].map((steps) => makeCode(secret, steps));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
};

export const enrollFactor = async (by: Bearer, friendly_name?: string): Promise<Enrolled> => {
  const body = { factor_type: "totp", friendly_name };
  const answer = await call("POST", "/api/auth/factors", { token: by.token, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Enrolled;
};

export const challengeFactor = async (by: Bearer, factor: Uuid): Promise<Uuid> => {
  const answer = await call("POST", `/api/auth/factors/${factor}/challenge`, { token: by.token });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return (answer.body as FactorChallenge).id;
};

export const verifyFactor = (by: Bearer, factor: Uuid, challenge_id: Uuid, code: string) =>
  call("POST", `/api/auth/factors/${factor}/verify`, { token: by.token, body: { challenge_id, code } });

/** Requests a challenge and answers it. */
export const verifyCode = async (by: Bearer, factor: Uuid, code: string) =>
  verifyFactor(by, factor, await challengeFactor(by, factor), code);

export const verifyRecoveryCode = (by: Bearer, code: string) =>
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
export const signInByRecoveryCode = async ({ phone }: Pick<Person, "phone">, code: string): Promise<Session> => {
  const gotrue_meta_security = {
    captcha_token: await makeCaptchaToken(site, { action: "recover_by_code", subject: phone }),
  };
  const answer = await call("POST", "/api/auth/recover/code", { body: { phone, code, gotrue_meta_security } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as Session;
};

/** Makes a person with a confirmed code app. Used the code of the previous step, so the present one is still valid. */
export const makePersonWithCodeApp = async () => {
  const person = await makePerson();
  const { id: factor, totp } = await enrollFactor(person);
  const answer = await verifyCode(person, factor, makeCode(totp.secret, -1));
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { access_token, refresh_token } = answer.body as Session;
  return { ...person, token: access_token, refreshToken: refresh_token, factor, secret: totp.secret };
};

/** Signs in up to the pending second factor. */
export const signInPending = async (person: Pick<Person, "phone">): Promise<Session & Bearer> => {
  const session = await signIn(person);
  expect(session.awaits).toBeDefined();
  return { ...session, token: session.access_token };
};

/** Freezes the clock, so that no code expires during a test; `advanceFrozenClock` moves it. */
export const freezeClock = (): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
};
export const advanceFrozenClock = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1_000);
};
/** Resumes the clock and forgets the rate limits that the address used up meanwhile. */
export const resumeClock = async (): Promise<void> => {
  vi.useRealTimers();
  await env.DB.prepare("DELETE FROM rate_limits WHERE key GLOB '*_by_address:*'").run();
};

/** Security notices of a person's devices, oldest first. */
export const readSecurityEvents = async (user: Uuid): Promise<string[]> => {
  const kept = await runInDurableObject(env.USER_CHANNEL.getByName(user), (_, { storage }) =>
    storage.sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'notices'").toArray(),
  );
  const notices = JSON.parse(kept[0]?.value ?? "[]") as { notice: { event: string } }[];
  return notices.map(({ notice }) => notice.event);
};

/** Whether this token may change how its person signs in. */
export const mayChangeCredentials = async (by: Bearer): Promise<boolean> => {
  const { status, body } = await call("POST", "/api/auth/recovery-codes", { token: by.token });
  if (status !== 403) return status === 200;
  expect(body).toMatchObject({ error_code: "reauthentication_needed" });
  return false;
};

/** Every row of every table of the directory, as text. */
export const readDirectoryText = async (): Promise<string> =>
  (await readDirectory()).map(({ text }) => text).join("\n");
