import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushUserKey, readPushUser } from "#lib/browser/push/push-use.ts";
import { clearSession, endSession, getSession, saveSession } from "#lib/session/session.ts";
import { ModelLocalStorage } from "#tests/support/model/model-local-storage.ts";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const [ana, ben] = [createUuid(), createUuid()];

let ended: string[];

beforeEach(() => {
  ended = [];
  const names = new Set(["push"]);
  vi.stubGlobal("caches", {
    delete: async (name: string) => names.delete(name),
    open: async () => ({ keys: async () => [] }),
  });
  const subscription = { unsubscribe: async () => ended.push("subscription") };
  const registration = {
    pushManager: { getSubscription: async () => subscription },
    getNotifications: async () => [{ close: () => ended.push("notification") }],
  };
  vi.stubGlobal("navigator", { serviceWorker: { getRegistration: async () => registration } });
  vi.stubGlobal("localStorage", new ModelLocalStorage());
  saveSession(makeSessionResponse(ana), "SIGNED_IN");
  localStorage.setItem(pushUserKey, ana);
});
afterEach(() => {
  clearSession();
  vi.unstubAllGlobals();
});

const both = ["notification", "subscription"];

describe("notifications on this device", () => {
  it("end with a sign-out, without a network", async () => {
    endSession("person");
    await vi.waitFor(() => expect(ended).toEqual(both));
    expect(readPushUser()).toBeUndefined();
  });
  it("pause with an expired session, and remain wanted", async () => {
    clearSession();
    await vi.waitFor(() => expect(ended).toEqual(both));
    expect(readPushUser()).toBe(ana);
  });
  it("end when another person signs in", async () => {
    saveSession(makeSessionResponse(ben), "SIGNED_IN");
    await vi.waitFor(() => expect(ended).toEqual(both));
    expect(getSession()?.userId).toBe(ben);
  });
  it("go on when the session is renewed", async () => {
    saveSession(makeSessionResponse(ana), "TOKEN_REFRESHED");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toEqual([]);
  });
});
