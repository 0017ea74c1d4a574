import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const amina = "0190a1b2-0000-7000-8000-000000000001";
const ben = "0190a1b2-0000-7000-8000-000000000002";
const key = "session";

type Reply = { status: number; body?: unknown };

const whole = (id: string, more: object = {}): Reply => ({
  status: 200,
  body: {
    ...makeSessionResponse(id),
    ...more,
  },
});
const owing = (id: string) => whole(id, { awaits: ["totp"] });
const refused = (status: number, error_code: string): Reply => ({
  status,
  body: { code: status, error_code, msg: "" },
});

/**
 * A browser whose tabs share one storage. As in real browsers, a write is reported to all tabs but the one that wrote.
 */
const makeBrowser = (replies: Reply[]) => {
  const stored = new Map<string, string>();
  const paths: string[] = [];
  const hearing = new Map<number, Set<(event: { key: string }) => void>>();
  let active = 0;
  const write = (name: string, change: () => void) => {
    const before = stored.get(name);
    change();
    if (stored.get(name) === before) return;
    const writer = active;
    for (const [tab, listeners] of hearing) {
      if (tab !== writer)
        queueMicrotask(() =>
          inTab(tab, () => {
            for (const listener of listeners) listener({ key: name });
          }),
        );
    }
  };
  const inTab = <T>(tab: number, work: () => T): T => {
    active = tab;
    return work();
  };
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => write(name, () => stored.set(name, value)),
    removeItem: (name: string) => write(name, () => stored.delete(name)),
  });
  vi.stubGlobal("addEventListener", (_: string, listener: () => void) => {
    const own = hearing.get(active) ?? new Set();
    hearing.set(active, own.add(listener));
  });
  vi.stubGlobal("removeEventListener", (_: string, listener: () => void) => hearing.get(active)?.delete(listener));
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
  vi.stubGlobal("fetch", async (path: string) => {
    paths.push(path);
    const reply = replies.shift();
    if (!reply) throw new TypeError("Failed to fetch");
    return new Response(reply.body === undefined ? null : JSON.stringify(reply.body), { status: reply.status });
  });
  let tabs = 0;
  const openTab = async () => {
    const tab = ++tabs;
    vi.resetModules();
    const { getSession } = await import("#lib/session/session.ts");
    const { refreshSession } = await import("#lib/session/session-refresh.ts");
    const { openSession, signIn } = await import("#lib/session/sign-in.ts");
    const { signOut } = await import("#lib/session/sign-out.ts");
    const { requestApi: request } = await import("#lib/http/api.ts");
    const { subscribeToAuthEvents: onAuthEvent } = await import("#lib/session/auth-events.ts");
    const events: string[] = [];
    const leave = inTab(tab, () =>
      onAuthEvent((event, known) =>
        events.push(`${event} ${known?.userId === amina ? "amina" : known ? "ben" : "nobody"}`),
      ),
    );
    /** Runs an action in this tab and returns its result once all tabs have been notified. */
    const act = async <T>(work: () => Promise<T>): Promise<T | unknown> => {
      const done = inTab(tab, work).catch((error: unknown) => error);
      await vi.runAllTimersAsync();
      return done;
    };
    return { getSession, refreshSession, openSession, signIn, signOut, request, events, leave, act };
  };
  const signInAs = (id: string, msLeft = 600_000) =>
    stored.set(key, JSON.stringify({ userId: id, expiresAt: Date.now() + msLeft }));
  return { stored, paths, openTab, signInAs };
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("session events of a tab", () => {
  it("start with the signed-in user, or with nobody", async () => {
    const { openTab, signInAs } = makeBrowser([]);
    expect((await openTab()).events).toEqual(["INITIAL_SESSION nobody"]);
    signInAs(amina);
    expect((await openTab()).events).toEqual(["INITIAL_SESSION amina"]);
  });

  it("report each change once in all tabs: sign-in, renewal, sign-out", async () => {
    const { openTab } = makeBrowser([whole(amina), whole(amina), { status: 204 }]);
    const [first, second] = [await openTab(), await openTab()];
    await first.act(() => first.signIn("+243810000001", "Masolo2026"));
    vi.advanceTimersByTime(1_000);
    await second.act(() => second.refreshSession(true));
    await first.act(() => first.signOut("global"));
    const all = ["INITIAL_SESSION nobody", "SIGNED_IN amina", "TOKEN_REFRESHED amina", "SIGNED_OUT nobody"];
    expect(first.events).toEqual(all);
    expect(second.events).toEqual(all);
  });

  it("report nothing while a second factor is required, then both the sign-in and its method", async () => {
    const { openTab, stored } = makeBrowser([owing(amina), refused(422, "mfa_verification_failed"), whole(amina)]);
    const [first, second] = [await openTab(), await openTab()];
    await first.act(() => first.signIn("+243810000001", "Masolo2026"));
    expect(stored.has(key)).toBe(false);
    await first.act(() => first.openSession(`/api/auth/factors/${amina}/verify`, {}));
    expect(first.events).toEqual(["INITIAL_SESSION nobody"]);
    await first.act(() => first.openSession(`/api/auth/factors/${amina}/verify`, {}));
    const all = ["INITIAL_SESSION nobody", "SIGNED_IN amina", "MFA_CHALLENGE_VERIFIED amina"];
    expect([first.events, second.events]).toEqual([all, all]);
  });

  it("report a renewal when a signed-in user proves a factor again", async () => {
    const { openTab, signInAs } = makeBrowser([whole(amina), whole(amina)]);
    signInAs(amina);
    const tab = await openTab();
    await tab.act(() => tab.openSession("/api/auth/proof", {}));
    vi.advanceTimersByTime(1_000);
    await tab.act(() => tab.openSession("/api/auth/passkeys/step", {}));
    expect(tab.events).toEqual(["INITIAL_SESSION amina", "TOKEN_REFRESHED amina", "TOKEN_REFRESHED amina"]);
  });

  it("report the end of the own session before the start of another user's session", async () => {
    const { openTab, signInAs } = makeBrowser([whole(ben)]);
    signInAs(amina);
    const [first, second] = [await openTab(), await openTab()];
    await second.act(() => second.signIn("+243810000002", "Masolo2026"));
    expect(first.events).toEqual(["INITIAL_SESSION amina", "SIGNED_OUT nobody", "SIGNED_IN ben"]);
  });

  it("ignore temporary failures, and report the end when the server refuses to renew the session", async () => {
    const { openTab, signInAs } = makeBrowser([
      refused(503, "unavailable"),
      refused(400, "refresh_token_already_used"),
    ]);
    signInAs(amina, 1_000);
    const tab = await openTab();
    await tab.act(() => tab.refreshSession());
    expect(tab.events).toEqual(["INITIAL_SESSION amina", "SIGNED_OUT nobody"]);
  });

  it("stop after the listener unsubscribes", async () => {
    const { openTab } = makeBrowser([whole(amina)]);
    const tab = await openTab();
    tab.leave();
    await tab.act(() => tab.signIn("+243810000001", "Masolo2026"));
    expect(tab.events).toEqual(["INITIAL_SESSION nobody"]);
  });
});

describe("a session that still requires its second factor", () => {
  it("replaces a complete session and ends it in every tab, after one request", async () => {
    const { openTab, signInAs, paths, stored } = makeBrowser([refused(401, "insufficient_aal"), owing(amina)]);
    signInAs(amina);
    const [first, second] = [await openTab(), await openTab()];
    expect(await first.act(() => first.request("GET", "/api/contacts"))).toMatchObject({ code: "insufficient_aal" });
    expect(paths).toEqual(["/api/contacts", "/api/auth/token?grant_type=refresh_token"]);
    expect(stored.has(key)).toBe(false);
    expect(second.events).toEqual(["INITIAL_SESSION amina", "SIGNED_OUT nobody"]);
  });

  it("is not requested repeatedly if the server keeps requiring the factor", async () => {
    const { openTab, signInAs, paths } = makeBrowser([
      refused(401, "insufficient_aal"),
      whole(amina),
      refused(401, "insufficient_aal"),
    ]);
    signInAs(amina);
    const tab = await openTab();
    expect(await tab.act(() => tab.request("GET", "/api/contacts"))).toMatchObject({ code: "insufficient_aal" });
    expect(paths).toHaveLength(3);
    expect(tab.getSession()).toBeUndefined();
  });

  it("signs out the user whose cookies it replaced", async () => {
    const { openTab, signInAs } = makeBrowser([owing(ben)]);
    signInAs(amina);
    const [first, second] = [await openTab(), await openTab()];
    await first.act(() => first.signIn("+243810000002", "Masolo2026"));
    expect(first.getSession()).toBeUndefined();
    expect(second.events).toEqual(["INITIAL_SESSION amina", "SIGNED_OUT nobody"]);
  });
});
