import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";
import { recordAnswer, shouldAsk } from "#lib/push/ask-policy.ts";
import { isRenewalDue, resolvePushState } from "#lib/push/push-state.ts";

const dayMs = 24 * 3_600_000;
const now = Date.UTC(2026, 10, 26);

describe("the state of notifications", () => {
  const desktop = { hasPush: true, isIos: false, isStandalone: false, permission: "granted" } as const;

  it.each([
    ["without push in the browser", { hasPush: false }, true, "unsupported"],
    ["on an iPhone in Safari", { hasPush: false, isIos: true }, false, "needs-home-screen"],
    ["on an old iPhone's home screen", { hasPush: false, isIos: true, isStandalone: true }, false, "unsupported"],
    ["on an iPhone's home screen", { isIos: true, isStandalone: true, permission: "default" }, false, "default"],
    ["before the browser asked", { permission: "default" }, true, "default"],
    ["after a refusal", { permission: "denied" }, true, "denied"],
    ["permitted but turned off", {}, false, "off"],
    ["permitted and turned on", {}, true, "on"],
  ] as const)("%s", (_, environment, isSubscribed, state) => {
    expect(resolvePushState({ ...desktop, ...environment }, isSubscribed)).toBe(state);
  });
});

describe("a subscription", () => {
  const user = createUuid(now);
  const current = { user, language: "fr", endpoint: "https://push.example/1", key: "k1", now } as const;
  const saved: PushDevice = { user, language: "fr", endpoint: current.endpoint, key: "k1", savedAt: now - dayMs };

  it("is not saved again while nothing changed", () => {
    expect(isRenewalDue(saved, current)).toBe(false);
    expect(isRenewalDue(saved, { ...current, now: saved.savedAt + 7 * dayMs })).toBe(false);
  });
  it.each([
    ["was never saved", undefined, {}],
    ["was saved for another person", { ...saved, user: createUuid() }, {}],
    ["has texts in another language", saved, { language: "pt" }],
    ["has another address", saved, { endpoint: "https://push.example/2" }],
    ["is gone", saved, { endpoint: undefined, key: "" }],
    ["has another server key", saved, { key: "k2" }],
    ["was saved more than seven days ago", saved, { now: saved.savedAt + 7 * dayMs + 1 }],
    ["was saved before the clock was set back", saved, { now: saved.savedAt - 1 }],
  ] as const)("is saved again if it %s", (_, before, change) => {
    expect(isRenewalDue(before, { ...current, ...change })).toBe(true);
  });
});

describe("the question whether to turn on notifications", () => {
  const none = { count: 0, lastAt: 0 };
  const sent = { mayAsk: true, now };

  it("is asked after a message was sent, not before", () => {
    expect(shouldAsk("default", none, sent)).toBe(true);
    expect(shouldAsk("off", none, sent)).toBe(true);
    expect(shouldAsk("default", none, { ...sent, mayAsk: false })).toBe(false);
  });
  it.each(["unsupported", "needs-home-screen", "denied", "on"] as const)("is not asked in the state %s", (state) => {
    expect(shouldAsk(state, none, sent)).toBe(false);
  });
  it("waits 14 days after `later`", () => {
    const once = recordAnswer(none, false, now);
    expect(shouldAsk("default", once, { ...sent, now: now + 14 * dayMs - 1 })).toBe(false);
    expect(shouldAsk("default", once, { ...sent, now: now + 14 * dayMs })).toBe(true);
  });
  it("is asked three times at most, and never after notifications were turned off", () => {
    const yearLater = { ...sent, now: now + 365 * dayMs };
    const twice = recordAnswer(recordAnswer(none, false, now), false, now);
    expect(shouldAsk("default", twice, yearLater)).toBe(true);
    expect(shouldAsk("default", recordAnswer(twice, false, now), yearLater)).toBe(false);
    expect(shouldAsk("off", recordAnswer(none, true, now), yearLater)).toBe(false);
  });
});
