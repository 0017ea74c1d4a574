import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import { Challenge } from "#contract/auth/sign-in.ts";
import type { Uuid } from "#contract/ids.ts";

/**
 * People created through the public API, as any client would: from tests inside workerd (`fetch` is then the Worker's
 * own), from Node against a running server, and from scripts.
 */
export type Site = { origin: string; fetch: (url: string, init: RequestInit) => Promise<Response> };

export type Call = { token?: string | undefined; body?: unknown; headers?: Record<string, string> };
export type Answer = { status: number; headers: Headers; body: unknown };

/** Sends one JSON request. Does not throw for a refusal. */
export const callSite = async (site: Site, method: string, path: string, call: Call = {}): Promise<Answer> => {
  const headers: Record<string, string> = { ...call.headers };
  if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
  if (call.body !== undefined) headers["content-type"] ??= "application/json";
  const response = await site.fetch(site.origin + path, {
    method,
    headers,
    redirect: "manual",
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
};

/** Solves a challenge of `POST /api/auth/challenge` into a `captcha_token`, however long a busy machine needs. */
export const solveForToken = async (challenge: Challenge): Promise<string> => {
  const solution = await solveChallenge({ challenge, deriveKey, timeout: 0 });
  if (!solution) throw new Error("the proof of work has no solution");
  return btoa(JSON.stringify({ challenge, solution }));
};

export const makeCaptchaToken = async (
  site: Site,
  purpose: ChallengeRequest,
  headers: Record<string, string> = {},
): Promise<string> => {
  const { status, body } = await callSite(site, "POST", "/api/auth/challenge", { headers, body: purpose });
  if (status !== 200) throw new Error(`no challenge: ${status} ${JSON.stringify(body)}`);
  return solveForToken(v.parse(Challenge, body));
};

export type Person = {
  id: Uuid;
  phone: string;
  password: string;
  username: string;
  token: string;
  refreshToken: string;
};

export const testPassword = "Masolo2026";
/** Unassigned numbers from +243 81 000 00xx on. */
export const phoneOf = (n: number): string => `+24381000${String(n).padStart(4, "0")}`;
export const nameOf = (n: number): string => `Personne ${n}`;

/**
 * Address of person number `n`. People are spread over networks, because proofs of work get harder for a busy network.
 */
const addressOf = (n: number): string => `10.${(n >> 8) & 255}.${n & 255}.${(n >> 16) & 255}`;

/** Signs up person number `n`, who must not exist yet on this site. */
export const makePerson = async (site: Site, n: number, username = nameOf(n)): Promise<Person> => {
  const phone = phoneOf(n);
  const headers = { "cf-connecting-ip": addressOf(n) };
  const { status, body } = await callSite(site, "POST", "/api/auth/signup", {
    headers,
    body: {
      phone,
      password: testPassword,
      data: { username },
      gotrue_meta_security: {
        captcha_token: await makeCaptchaToken(site, { action: "sign_up", subject: phone }, headers),
      },
    },
  });
  if (status !== 200) throw new Error(`${phone} could not sign up: ${status} ${JSON.stringify(body)}`);
  const session = v.parse(Session, body);
  return {
    id: session.user.id,
    phone,
    password: testPassword,
    username,
    token: session.access_token,
    refreshToken: session.refresh_token,
  };
};

/** Connects two people: `from` asks and `to` accepts. */
export const connectPeople = async (site: Site, from: Person, to: Person): Promise<void> => {
  const asked = await callSite(site, "POST", "/api/requests", { token: from.token, body: { to_user_id: to.id } });
  const request = v.parse(v.object({ request_id: v.string() }), asked.body).request_id;
  const accepted = await callSite(site, "POST", `/api/requests/${request}/accept`, { token: to.token });
  if (accepted.status !== 200) throw new Error(`not accepted: ${accepted.status} ${JSON.stringify(accepted.body)}`);
};

/** The same person with another session, as on a second device. */
export const signInAgain = async (site: Site, person: Person): Promise<Person> => {
  const { phone, password } = person;
  const { body } = await callSite(site, "POST", "/api/auth/token?grant_type=password", { body: { phone, password } });
  const { access_token: token, refresh_token: refreshToken } = v.parse(Session, body);
  if (refreshToken === undefined) throw new Error("no refresh token");
  return { ...person, token, refreshToken };
};
