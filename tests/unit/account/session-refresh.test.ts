import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorStatus } from "#contract/errors.ts";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const userId = "0190a1b2-0000-7000-8000-000000000001";
const otherId = "0190a1b2-0000-7000-8000-000000000002";
const key = "session";

/** Answers of the server to refresh requests, in order; the last one repeats. */
type Reply = { status: number; body?: unknown } | "no network";

const refusal = (status: number, error_code: string): Reply => ({
  status,
  body: { code: status, error_code, msg: "" },
});
const renewed: Reply = { status: 200, body: makeSessionResponse(userId) };

/** A browser with one storage, one lock manager and any number of tabs. Each import of the module is a tab. */
const makeBrowser = (replies: Reply[]) => {
  const stored = new Map<string, string>();
  const calls: { path: string; at: number; person: string | null }[] = [];
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => stored.set(name, value),
    removeItem: (name: string) => stored.delete(name),
  });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("removeEventListener", () => undefined);
  let last: Promise<unknown> = Promise.resolve();
  vi.stubGlobal("navigator", {
    locks: {
      request: (_: string, work: () => Promise<unknown>) => {
        const result = last.then(work);
        last = result.catch(() => undefined);
        return result;
      },
    },
  });
  vi.stubGlobal("fetch", async (path: string, { headers }: RequestInit) => {
    calls.push({ path, at: Date.now(), person: new Headers(headers).get("x-person") });
    await new Promise((resolve) => setTimeout(resolve, 10));
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === undefined || reply === "no network") throw new TypeError("Failed to fetch");
    return new Response(reply.body === undefined ? null : JSON.stringify(reply.body), { status: reply.status });
  });
  const openTab = async () => {
    vi.resetModules();
    const session = await import("#lib/session/session.ts");
    const { refreshSession } = await import("#lib/session/session-refresh.ts");
    const { signIn } = await import("#lib/session/sign-in.ts");
    const { deleteAccount, signOut } = await import("#lib/session/sign-out.ts");
    const { completePendingSignOut: endPendingSignOut } = await import("#lib/session/pending-sign-out.ts");
    const { requestApi: request } = await import("#lib/http/api.ts");
    return { ...session, endPendingSignOut, refreshSession, signIn, signOut, deleteAccount, request };
  };
  const signInAs = (id: string, msLeft: number) =>
    stored.set(key, JSON.stringify({ userId: id, expiresAt: Date.now() + msLeft }));
  return { stored, calls, openTab, signInAs };
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("renewing a session", () => {
  it("happens once for all tabs that ask at the same time", async () => {
    const { calls, openTab, signInAs } = makeBrowser([renewed]);
    signInAs(userId, 1_000);
    const [first, second] = [await openTab(), await openTab()];
    const all = Promise.all([first.refreshSession(), first.refreshSession(), second.refreshSession()]);
    await vi.runAllTimersAsync();
    expect(await all).toEqual([true, true, true]);
    expect(calls).toHaveLength(1);
    expect(second.getSession()?.expiresAt).toBeGreaterThan(Date.now() + 500_000);
  });

  it("retries without network with growing pauses from 200 ms on, and keeps the session", async () => {
    const { calls, openTab, signInAs } = makeBrowser([
      "no network",
      "no network",
      refusal(503, "unavailable"),
      renewed,
    ]);
    signInAs(userId, 1_000);
    const tab = await openTab();
    const done = tab.refreshSession();
    await vi.runAllTimersAsync();
    expect(await done).toBe(true);
    const waits = calls.slice(1).map(({ at }, i) => at - (calls[i]?.at ?? 0) - 10);
    expect(waits).toEqual([200, 400, 800]);
  });

  it("gives up after a while without network, and keeps the session", async () => {
    const { calls, openTab, signInAs } = makeBrowser(["no network"]);
    signInAs(userId, 1_000);
    const tab = await openTab();
    const done = tab.refreshSession();
    await vi.runAllTimersAsync();
    expect(await done).toBe(false);
    expect(calls).toHaveLength(7);
    expect(tab.getSession()?.userId).toBe(userId);
  });

  it.each([
    refusal(400, "refresh_token_not_found"),
    refusal(400, "refresh_token_already_used"),
    refusal(401, "session_expired"),
  ])("drops the session at once when the server refuses it permanently (%j)", async (reply) => {
    const { calls, stored, openTab, signInAs } = makeBrowser([reply]);
    signInAs(userId, 1_000);
    const tab = await openTab();
    const heard = vi.fn();
    tab.subscribeSession(heard);
    const done = tab.refreshSession();
    await vi.runAllTimersAsync();
    expect(await done).toBe(false);
    expect(calls).toHaveLength(1);
    expect(stored.has(key)).toBe(false);
    expect(heard).toHaveBeenCalled();
  });

  it("keeps the session of a user who signed in while the old session was being refused", async () => {
    const { openTab, signInAs } = makeBrowser([refusal(400, "refresh_token_not_found")]);
    signInAs(userId, 1_000);
    const tab = await openTab();
    const done = tab.refreshSession();
    await vi.advanceTimersByTimeAsync(5);
    signInAs(otherId, 600_000);
    await vi.runAllTimersAsync();
    expect(await done).toBe(false);
    expect(tab.getSession()?.userId).toBe(otherId);
  });
});

describe("a session that the server refuses to renew", () => {
  it.each([
    ["session_revoked", "elsewhere"],
    ["account_deleted", "account"],
    ["session_expired", undefined],
    ["refresh_token_not_found", undefined],
    ["refresh_token_already_used", undefined],
  ] as const)("%s: was ended for good by %s", async (code, cause) => {
    const { openTab, signInAs } = makeBrowser([refusal(errorStatus[code], code)]);
    signInAs(userId, 1_000);
    const [tab, other] = [await openTab(), await openTab()];
    const asked = tab.refreshSession();
    await vi.runAllTimersAsync();
    expect(await asked).toBe(false);
    expect(other.getSession()).toBeUndefined();
    expect(other.getSessionEndCause()).toBe(cause);
  });
});

describe("signing out", () => {
  it("stops every tab from renewing the session that is ending", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser([{ status: 204 }, renewed]);
    signInAs(userId, 600_000);
    const [leaving, other] = [await openTab(), await openTab()];
    const done = leaving.signOut("global");
    const asked = Promise.all([leaving.refreshSession(true), other.refreshSession(true)]);
    await vi.runAllTimersAsync();
    await done;
    expect(await asked).toEqual([false, false]);
    expect(calls.map(({ path }) => path)).toEqual(["/api/auth/logout?scope=global"]);
    expect(stored.has(key)).toBe(false);
    expect(other.getSessionEndCause()).toBe("person");
  });

  it("ends the session locally at once without network, also while a renewal is being retried", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser(["no network"]);
    signInAs(userId, 1_000);
    const [leaving, other] = [await openTab(), await openTab()];
    const renewal = other.refreshSession();
    await vi.advanceTimersByTimeAsync(2_000);
    const began = Date.now();
    const done = leaving.signOut("global");
    await vi.advanceTimersByTimeAsync(100);
    expect(await done).toBe(false);
    expect(calls.at(-1)?.path).toBe("/api/auth/logout?scope=global");
    expect((calls.at(-1)?.at ?? 0) - began).toBeLessThan(100);
    expect(stored.has(key)).toBe(false);
    expect(leaving.getSessionEndCause()).toBe("person");
    await vi.runAllTimersAsync();
    expect(await renewal).toBe(false);
  });

  it("notifies the server once it is reachable, for that user only, and only once", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser([
      "no network",
      refusal(503, "unavailable"),
      { status: 204 },
    ]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = tab.signOut("local");
    await vi.runAllTimersAsync();
    expect(await done).toBe(false);
    for (let n = 0; n < 3; n++) {
      const ended = tab.endPendingSignOut();
      await vi.runAllTimersAsync();
      await ended;
    }
    expect(calls.map(({ path, person }) => `${path} ${person}`)).toEqual(
      Array.from({ length: 3 }, () => `/api/auth/logout?scope=local ${userId}`),
    );
    expect(stored.has("pending-sign-out")).toBe(false);
  });

  it("notifies the server before anybody signs in, and does not end the new session", async () => {
    for (const [scope, opened, after] of [
      ["local", userId, []],
      ["global", otherId, []],
      ["global", userId, ["/api/auth/logout?scope=others"]],
    ] as const) {
      const { calls, stored, openTab, signInAs } = makeBrowser([
        "no network",
        refusal(503, "unavailable"),
        { status: 200, body: makeSessionResponse(opened) },
        { status: 204 },
      ]);
      signInAs(userId, 600_000);
      const tab = await openTab();
      const done = Promise.all([tab.signOut(scope), tab.signIn("+243810000002", "Masolo2026")]);
      await vi.runAllTimersAsync();
      await done;
      const logout = `/api/auth/logout?scope=${scope}`;
      expect(calls.map(({ path }) => path)).toEqual([logout, logout, "/api/auth/token?grant_type=password", ...after]);
      expect(stored.has("pending-sign-out")).toBe(false);
      expect(tab.getSession()?.userId).toBe(opened);
    }
  });

  it("fails if the server fails, and keeps the user signed in", async () => {
    const { openTab, signInAs } = makeBrowser([refusal(500, "internal")]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = expect(tab.signOut("local")).rejects.toMatchObject({ code: "internal" });
    await vi.runAllTimersAsync();
    await done;
    expect(tab.getSession()?.userId).toBe(userId);
    expect(tab.getSessionEndCause()).toBeUndefined();
  });

  it("is not undone by a renewal that was being retried", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser(["no network", { status: 204 }, renewed]);
    signInAs(userId, 1_000);
    const [leaving, other] = [await openTab(), await openTab()];
    const renewal = other.refreshSession();
    await vi.advanceTimersByTimeAsync(100);
    const done = leaving.signOut("global");
    await vi.runAllTimersAsync();
    await done;
    expect(await renewal).toBe(false);
    expect(calls.map(({ path }) => path)).toEqual([
      "/api/auth/token?grant_type=refresh_token",
      "/api/auth/logout?scope=global",
    ]);
    expect(stored.has(key)).toBe(false);
  });

  it("is forgotten as soon as somebody signs in, whose session may expire by itself", async () => {
    const { openTab, signInAs } = makeBrowser([
      { status: 204 },
      { status: 200, body: makeSessionResponse(otherId) },
      refusal(401, "session_expired"),
    ]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = tab.signOut("global");
    await vi.runAllTimersAsync();
    await done;
    expect(tab.getSessionEndCause()).toBe("person");
    const signedIn = tab.signIn("+243810000002", "Masolo2026");
    await vi.runAllTimersAsync();
    await signedIn;
    const refused = tab.refreshSession(true);
    await vi.runAllTimersAsync();
    expect(await refused).toBe(false);
    expect(tab.getSession()).toBeUndefined();
    expect(tab.getSessionEndCause()).toBeUndefined();
  });
});

describe("deleting the account", () => {
  const deletion = "/api/account";

  it("ends the session in every tab with the reason, and stops all tabs from renewing it", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser([{ status: 204 }, renewed]);
    signInAs(userId, 600_000);
    const [leaving, other] = [await openTab(), await openTab()];
    const done = leaving.deleteAccount(userId);
    const asked = other.refreshSession(true);
    await vi.runAllTimersAsync();
    await done;
    expect(await asked).toBe(false);
    expect(calls.map(({ path }) => path)).toEqual([deletion]);
    expect(stored.has(key)).toBe(false);
    expect(other.getSessionEndCause()).toBe("account");
  });

  it("is retried when only the answer was lost", async () => {
    const { calls, openTab, signInAs } = makeBrowser(["no network", { status: 204 }]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = tab.deleteAccount(userId);
    await vi.runAllTimersAsync();
    await done;
    expect(calls.map(({ path }) => path)).toEqual([deletion, deletion]);
    expect(tab.getSessionEndCause()).toBe("account");
  });

  it("keeps the session without network or when the server fails", async () => {
    for (const reply of ["no network" as const, refusal(503, "unavailable")]) {
      const { openTab, signInAs } = makeBrowser([reply]);
      signInAs(userId, 600_000);
      const tab = await openTab();
      const code = reply === "no network" ? "offline" : "unavailable";
      const done = expect(tab.deleteAccount(userId)).rejects.toMatchObject({ code });
      await vi.runAllTimersAsync();
      await done;
      expect(tab.getSession()?.userId).toBe(userId);
      expect(tab.getSessionEndCause()).toBeUndefined();
    }
  });

  it("renews an expired session first, and succeeds if the account is already gone", async () => {
    const { calls, openTab, signInAs } = makeBrowser([refusal(401, "bad_jwt"), refusal(410, "account_deleted")]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = tab.deleteAccount(userId);
    await vi.runAllTimersAsync();
    await done;
    expect(calls.map(({ path }) => path)).toEqual([deletion, "/api/auth/token?grant_type=refresh_token"]);
    expect([tab.getSession(), tab.getSessionEndCause()]).toEqual([undefined, "account"]);
  });

  it("on another device is detected when the session is renewed, and forgotten when somebody signs in", async () => {
    const { openTab, signInAs } = makeBrowser([
      refusal(410, "account_deleted"),
      { status: 200, body: makeSessionResponse(otherId) },
    ]);
    signInAs(userId, 1_000);
    const tab = await openTab();
    const asked = tab.refreshSession();
    await vi.runAllTimersAsync();
    expect(await asked).toBe(false);
    expect(tab.getSessionEndCause()).toBe("account");
    const signedIn = tab.signIn("+243810000002", "Masolo2026");
    await vi.runAllTimersAsync();
    await signedIn;
    expect(tab.getSessionEndCause()).toBeUndefined();
  });
});

describe("a request", () => {
  it("renews the session first if it is about to expire, and not if it is fresh", async () => {
    const { calls, openTab, signInAs } = makeBrowser([renewed, { status: 200, body: { ok: 1 } }]);
    signInAs(userId, 30_000);
    const tab = await openTab();
    const first = tab.request("GET", "/api/contacts");
    await vi.runAllTimersAsync();
    expect(await first).toEqual({ ok: 1 });
    const second = tab.request("GET", "/api/contacts");
    await vi.runAllTimersAsync();
    await second;
    expect(calls.map(({ path }) => path)).toEqual([
      "/api/auth/token?grant_type=refresh_token",
      "/api/contacts",
      "/api/contacts",
    ]);
  });

  it("renews the session once after a 401 and then succeeds", async () => {
    const { calls, openTab, signInAs } = makeBrowser([refusal(401, "bad_jwt"), renewed, { status: 200, body: [] }]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = tab.request("GET", "/api/contacts");
    await vi.runAllTimersAsync();
    expect(await done).toEqual([]);
    expect(calls).toHaveLength(3);
  });

  it("is not repeated for another account that signed in meanwhile", async () => {
    const { calls, openTab, signInAs } = makeBrowser([
      refusal(401, "bad_jwt"),
      { status: 200, body: makeSessionResponse(otherId) },
      { status: 200, body: [] },
    ]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const done = expect(tab.request("POST", "/api/requests", {})).rejects.toMatchObject({ status: 401 });
    await vi.runAllTimersAsync();
    await done;
    expect(calls).toHaveLength(2);
  });

  it("names its user, is not sent once that user is no longer signed in, and signs nobody out", async () => {
    const { calls, stored, openTab, signInAs } = makeBrowser([{ status: 200, body: [] }]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    await Promise.all([tab.request("GET", "/api/contacts"), vi.runAllTimersAsync()]);
    expect(calls.map(({ person }) => person)).toEqual([userId]);
    signInAs(otherId, 600_000);
    const asked = tab.request("GET", "/api/contacts", undefined, { person: userId });
    await expect(asked).rejects.toMatchObject({ status: 401 });
    expect(calls).toHaveLength(1);
    expect(stored.get(key)).toContain(otherId);
  });

  it("without an answer fails as offline, and with an unknown response body as unavailable", async () => {
    const { openTab, signInAs } = makeBrowser(["no network", { status: 502 }]);
    signInAs(userId, 600_000);
    const tab = await openTab();
    const first = expect(tab.request("GET", "/api/contacts")).rejects.toMatchObject({ code: "offline", status: 0 });
    await vi.runAllTimersAsync();
    await first;
    const second = expect(tab.request("GET", "/api/contacts")).rejects.toMatchObject({
      code: "unavailable",
      status: 502,
    });
    await vi.runAllTimersAsync();
    await second;
  });
});
