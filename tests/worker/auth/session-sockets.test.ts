import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { Session } from "#contract/auth/auth.ts";
import { sessionCheckMs } from "#contract/limits/sockets.ts";
import { encodeAppFrame } from "#contract/wire/app-frames.ts";
import { closeCodes, protocolVersion } from "#contract/wire/server-frames.ts";
import { testPassword } from "#tests/support/people/people.ts";
import { advanceClock, withTimeout } from "#tests/worker/support/clock.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { api } from "#worker/api.ts";
import { rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";

/** Opens a socket with this token; `closed` is its close code. */
const openSocket = async (token: string) => {
  const response = await site.fetch(`${site.origin}/api/socket`, {
    headers: { upgrade: "websocket", authorization: `Bearer ${token}` },
  });
  const socket = response.webSocket;
  if (!socket) throw new Error(`no socket: ${response.status}`);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  socket.accept();
  return { socket, closed };
};
const within2s = <T>(promise: Promise<T>) => withTimeout(2_000, promise);

const twoDevices = async () => {
  const person = await makePerson();
  const body = { phone: person.phone, password: testPassword };
  const second = (await call("POST", "/api/auth/token?grant_type=password", { body })).body as Session;
  return { person, second };
};

test("signing out everywhere closes every socket of the person", async () => {
  const { person, second } = await twoDevices();
  const [here, there] = [await openSocket(person.token), await openSocket(second.access_token)];
  await call("POST", "/api/auth/logout?scope=global", { token: person.token });
  expect(await within2s(Promise.all([here.closed, there.closed]))).toEqual([
    closeCodes.signedOut,
    closeCodes.signedOut,
  ]);
});

test("signing out on one device closes that device's socket only", async () => {
  const { person, second } = await twoDevices();
  const [here, there] = [await openSocket(person.token), await openSocket(second.access_token)];
  await call("POST", "/api/auth/logout?scope=local", { token: person.token });
  expect(await within2s(here.closed)).toBe(closeCodes.signedOut);
  expect(there.socket.readyState).toBe(WebSocket.READY_STATE_OPEN);
  there.socket.close();
});

test("a refresh token used twice closes its session's socket", async () => {
  const person = await makePerson();
  const refresh = async (refresh_token: string) =>
    (await call("POST", "/api/auth/token?grant_type=refresh_token", { body: { refresh_token } })).body as Session;
  const child = await refresh(person.refreshToken);
  const grandchild = await refresh(child.refresh_token);
  const { closed } = await openSocket(grandchild.access_token);
  await refresh(person.refreshToken);
  expect(await within2s(closed)).toBe(closeCodes.signedOut);
});

test("a session that is too old to be renewed ends together with its socket", async () => {
  const person = await makePerson();
  const { closed } = await openSocket(person.token);
  await env.DB.prepare("UPDATE sessions SET created_at = 0 WHERE user_id = ?").bind(person.id).run();
  const body = { refresh_token: person.refreshToken };
  const answer = await call("POST", "/api/auth/token?grant_type=refresh_token", { body });
  expect(answer.body).toMatchObject({ error_code: "session_expired" });
  expect(await within2s(closed)).toBe(closeCodes.signedOut);
});

test("a session that ends while its socket is being opened closes that socket", async () => {
  const { person, second } = await twoDevices();
  const signOut = () => call("POST", "/api/auth/logout?scope=global", { token: second.access_token });
  // Between the check of the session and the opened socket, the session is revoked and all sockets are closed.
  const channel = {
    getByName: (name: string) => ({
      fetch: async (request: Request) => {
        await signOut();
        return env.USER_CHANNEL.getByName(name).fetch(request);
      },
      closeSessions: (ended: string[]) => env.USER_CHANNEL.getByName(name).closeSessions(ended),
    }),
  };
  const context = createExecutionContext();
  const response = await api.fetch(
    new Request(`${site.origin}/api/socket`, {
      headers: { upgrade: "websocket", authorization: `Bearer ${person.token}` },
    }),
    { ...env, USER_CHANNEL: channel } as unknown as Env,
    context,
  );
  const closed = new Promise<number>((resolve) =>
    response.webSocket?.addEventListener("close", ({ code }) => resolve(code)),
  );
  response.webSocket?.accept();
  await waitOnExecutionContext(context);
  expect(await within2s(closed)).toBe(closeCodes.signedOut);
});

test("an ended session cannot open a socket", async () => {
  const person = await makePerson();
  await call("POST", "/api/auth/logout?scope=local", { token: person.token });
  await expect(openSocket(person.token)).rejects.toThrow("no socket: 401");
});

test.each(["https://evil.test", "null", "https://lisolo.test.evil.test", "http://lisolo.test", undefined])(
  "a page of the origin %s cannot open a socket with the person's cookie",
  async (origin) => {
    const person = await makePerson();
    const response = await site.fetch(`${site.origin}/api/socket`, {
      headers: {
        upgrade: "websocket",
        cookie: `__Host-lisolo-at=${person.token}`,
        ...(origin === undefined ? {} : { origin }),
      },
    });
    expect(response.status).toBe(403);
  },
);

test("too many sockets in a minute are refused, with the time to wait", async () => {
  expect(rateLimitPolicies.socket_by_user).toEqual({ burst: 30, everyMs: 2_000 });
  const [ana, ben] = [await makePerson(), await makePerson()];
  await drainBucket("socket_by_user", ana.id);
  const response = await site.fetch(`${site.origin}/api/socket`, {
    headers: { upgrade: "websocket", authorization: `Bearer ${ana.token}` },
  });
  expect(response.status).toBe(429);
  expect(await response.json()).toMatchObject({ error_code: "rate_limited" });
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  (await openSocket(ben.token)).socket.close();
});

test("a socket that outlived its session is closed at its first message ten minutes after it was opened", async () => {
  const { person, second } = await twoDevices();
  const [ended, kept] = [await openSocket(person.token), await openSocket(second.access_token)];
  const confirm = ({ socket }: { socket: WebSocket }) => socket.send(encodeAppFrame({ type: "received", messages: 0 }));
  for (const { socket } of [ended, kept])
    socket.send(encodeAppFrame({ type: "hello", version: protocolVersion, epoch: "", counter: 0 }));
  // The session is deleted in the directory, but the object was not notified.
  await env.DB.prepare("DELETE FROM sessions WHERE id = ?").bind(decodeJwt(person.token)["sid"]).run();
  confirm(ended);
  await scheduler.wait(50);
  expect(ended.socket.readyState).toBe(WebSocket.READY_STATE_OPEN);
  advanceClock(sessionCheckMs);
  for (const opened of [ended, kept]) confirm(opened);
  expect(await within2s(ended.closed)).toBe(closeCodes.signedOut);
  // The other session was looked up too, and lives.
  expect(await Promise.race([kept.closed, scheduler.wait(200)])).toBeUndefined();
  kept.socket.close();
});
