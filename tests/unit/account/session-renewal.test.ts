import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { accessTokenSeconds, refreshMarginSeconds } from "#contract/limits/authentication.ts";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const userId = "0190a1b2-0000-7000-8000-000000000001";
const lifeMs = accessTokenSeconds * 1_000;

const session = makeSessionResponse(userId, accessTokenSeconds);

/** A browser with any number of pages that share stored data. Each import of the modules is a page. */
const makeBrowser = ({ savesData = false } = {}) => {
  const stored = new Map([["session", JSON.stringify({ userId, expiresAt: Date.now() + lifeMs })]]);
  const renewals: number[] = [];
  const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  let last: Promise<unknown> = Promise.resolve();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => stored.set(name, value),
    removeItem: (name: string) => stored.delete(name),
  });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("removeEventListener", () => undefined);
  vi.stubGlobal("document", page);
  vi.stubGlobal("navigator", {
    connection: { saveData: savesData },
    locks: {
      request: (_: string, work: () => Promise<unknown>) => {
        const result = last.then(work);
        last = result.catch(() => undefined);
        return result;
      },
    },
  });
  vi.stubGlobal("fetch", async () => {
    renewals.push(Date.now());
    return new Response(JSON.stringify(session), { status: 200 });
  });
  const openPage = async () => {
    vi.resetModules();
    const { renewSessionWhileVisible } = await import("#lib/session/session-renewal.ts");
    return renewSessionWhileVisible();
  };
  const look = (visibilityState: "visible" | "hidden") => {
    page.visibilityState = visibilityState;
    page.dispatchEvent(new Event("visibilitychange"));
  };
  return { renewals, openPage, look };
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("the session is renewed before the cookie expires, repeatedly, and once for all windows", async () => {
  const { renewals, openPage } = makeBrowser();
  const startMs = Date.now();
  const stops = [await openPage(), await openPage()];
  await vi.advanceTimersByTimeAsync(2 * lifeMs);
  const [first = 0, second = 0] = renewals;
  expect(first - startMs).toBe(lifeMs - refreshMarginSeconds * 1_000 + 1);
  expect(second - first).toBeLessThan(lifeMs);
  expect(renewals).toHaveLength(2);
  for (const stop of stops) stop();
  await vi.advanceTimersByTimeAsync(2 * lifeMs);
  expect(renewals).toHaveLength(2);
});

it("a hidden page requests nothing, and renews the session when it becomes visible", async () => {
  const { renewals, openPage, look } = makeBrowser();
  const stop = await openPage();
  look("hidden");
  await vi.advanceTimersByTimeAsync(3 * lifeMs);
  expect(renewals).toEqual([]);
  look("visible");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(renewals).toHaveLength(1);
  stop();
});

it("the session is not renewed ahead of time in data saver mode", async () => {
  const { renewals, openPage } = makeBrowser({ savesData: true });
  const stop = await openPage();
  await vi.advanceTimersByTimeAsync(3 * lifeMs);
  expect(renewals).toEqual([]);
  stop();
});
