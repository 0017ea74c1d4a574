import * as v from "valibot";
import { personHeader, sessionTransportHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { sessionLock } from "#lib/session/session-lock.ts";

/** The request could not be made now, or its answer is not known. It is worth another attempt. */
export class TemporaryFailure extends Error {}

const answerTimeoutMs = 30_000;
const temporaryStatuses = [401, 408, 425, 429]; // 401: the person has to sign in again; above 499 all are temporary
const expiredCodes: unknown[] = ["no_authorization", "bad_jwt"];

const RenewedSession = v.object({
  user: v.object({ id: v.string() }),
  expires_in: v.number(),
  awaits: v.optional(v.array(v.string())),
});
const Refusal = v.object({ error_code: v.string() });

type Answer = { status: number; body: unknown };

type Method = "GET" | "POST" | "PUT";

const send = async (method: Method, path: string, body: object | undefined, user?: Uuid): Promise<Answer> => {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), answerTimeoutMs);
  try {
    const response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        [sessionTransportHeader]: "cookie",
        ...(user === undefined ? {} : { [personHeader]: user }),
      },
      cache: "no-store",
      signal: timeout.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  } catch {
    throw new TemporaryFailure("no answer");
  } finally {
    clearTimeout(timer);
  }
};

/** Whether the access token is missing or has expired, as it has when the app was closed for a while. */
const isExpired = ({ status, body }: Answer): boolean =>
  status === 401 && v.is(Refusal, body) && expiredCodes.includes(body.error_code);

const renewUnderLock = (user: Uuid): Promise<number> =>
  navigator.locks.request(sessionLock, async () => {
    const { status, body } = await send("POST", "/api/auth/token?grant_type=refresh_token", {});
    const session = v.safeParse(RenewedSession, body);
    if (status === 200 && session.success && session.output.user.id === user && !session.output.awaits)
      return Date.now() + session.output.expires_in * 1_000;
    throw new TemporaryFailure("not signed in");
  });

/** Renewals that this worker waits for. */
const renewals = new Map<Uuid, Promise<number>>();

/**
 * Renews the session under the lock of the app's renewals; one that is under way is awaited instead. Resolves to the time
 * when it expires. Rejects unless it is a complete session of this person.
 */
export const renewSession = (user: Uuid): Promise<number> => {
  const renewal = renewals.get(user) ?? renewUnderLock(user).finally(() => renewals.delete(user));
  renewals.set(user, renewal);
  return renewal;
};

/**
 * Sends an API request of a person with the session's cookies, which are the only part of the session that a service
 * worker has. The server refuses it if another account is signed in. Resolves to undefined if the server refuses it for
 * good, and rejects with a TemporaryFailure if it is worth another attempt.
 */
export const requestAsPerson = async (
  user: Uuid,
  method: Method,
  path: string,
  body?: object,
): Promise<{ body: unknown } | undefined> => {
  await renewals.get(user)?.catch(() => undefined); // the request would be refused meanwhile
  let answer = await send(method, path, body, user);
  if (isExpired(answer)) {
    await renewSession(user);
    answer = await send(method, path, body, user);
  }
  if (answer.status < 300) return { body: answer.body };
  if (answer.status >= 500 || temporaryStatuses.includes(answer.status))
    throw new TemporaryFailure(String(answer.status));
  return undefined;
};
