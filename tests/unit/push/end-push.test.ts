import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushUserKey, readPushUser } from "#lib/browser/push/push-use.ts";
import { clearSession, endSession, getSession, saveSession } from "#lib/session/session.ts";
import { ModelLocalStorage } from "#tests/support/model/model-local-storage.ts";

const [ana, ben] = [createUuid(), createUuid()];
const sessionOf = (id: string) => ({
  access_token: "",
  refresh_token: "",
  token_type: "bearer",
  expires_in: 600,
  expires_at: 0,
  user: {
    id,
    aud: "authenticated",
    role: "authenticated",
    phone: "243810000001",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    user_metadata: {},
    app_metadata: { provider: "phone", providers: ["phone"] },
  },
});

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
  saveSession(sessionOf(ana), "SIGNED_IN");
  localStorage.setItem(pushUserKey, ana);
});
afterEach(() => {
  clearSession();
  vi.unstubAllGlobals();
});

const both = ["subscription", "notification"];

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
    saveSession(sessionOf(ben), "SIGNED_IN");
    await vi.waitFor(() => expect(ended).toEqual(both));
    expect(getSession()?.userId).toBe(ben);
  });
  it("go on when the session is renewed", async () => {
    saveSession(sessionOf(ana), "TOKEN_REFRESHED");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).toEqual([]);
  });
});
