import { describe, expect, it } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { DevicePush, type PushPlatform } from "#lib/push/device-push.ts";

/** Public key of a server: 65 bytes beginning with 4. */
const toKey = (n: number) => Buffer.from([4, ...Array.from({ length: 64 }, () => n)]).toString("base64url");
const bytesOf = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, "base64url")).buffer;

/** Browser with a push service, and the server's push routes. */
const makeBrowser = (options: { user?: Uuid; permission?: NotificationPermission } = {}) => {
  let made = 0;
  const browser = {
    user: (options.user ?? createUuid()) as Uuid | undefined,
    permission: (options.permission ?? "default") as NotificationPermission,
    serverKey: toKey(1),
    now: 1_000_000,
    wantedUser: undefined as string | undefined,
    device: undefined as PushDevice | undefined,
    subscription: null as PushSubscription | null,
    requests: [] as string[],
    saved: undefined as unknown,
    isOffline: false,
    testStatus: "sent",
    endFailure: undefined as Error | undefined,
    whileSaving: () => {},
  };
  const subscribe = (key: string): PushSubscription =>
    ({
      endpoint: `https://push.example/${++made}`,
      options: { applicationServerKey: bytesOf(key), userVisibleOnly: true },
      getKey: () => bytesOf("AAAA"),
      unsubscribe: async () => {
        browser.subscription = null;
        return true;
      },
    }) as unknown as PushSubscription;
  const platform: PushPlatform = {
    readEnvironment: () => ({ hasPush: true, isIos: false, isStandalone: false, permission: browser.permission }),
    requestPermission: async () => {
      if (browser.permission === "default") browser.permission = "granted";
      return browser.permission;
    },
    getRegistration: async () => ({
      getSubscription: async () => browser.subscription,
      subscribe: async (wanted) => {
        browser.subscription = subscribe(String(wanted?.applicationServerKey));
        return browser.subscription;
      },
    }),
    getUser: () => browser.user,
    getLanguage: () => "fr",
    readWantedUser: () => browser.wantedUser,
    saveWantedUser: (user) => {
      browser.wantedUser = user;
    },
    readDevice: async () => browser.device,
    saveDevice: async (device) => {
      browser.device = device;
    },
    end: async () => {
      if (browser.endFailure) throw browser.endFailure;
      browser.device = undefined;
      browser.subscription = null;
    },
    request: async (method, path, body) => {
      if (browser.isOffline) throw new ApiRequestError("offline", 0);
      browser.requests.push(`${method} ${path}`);
      if (method === "GET") return { key: browser.serverKey };
      if (method === "POST") return { status: browser.testStatus };
      if (method === "PUT") {
        browser.saved = body;
        browser.whileSaving();
      }
      return undefined;
    },
    now: () => browser.now,
  };
  return { browser, open: () => new DevicePush(platform) };
};

const saving = ["GET /api/push/key", "PUT /api/push/subscription"];
const weekMs = 7 * 24 * 3_600_000;

describe("turning notifications on", () => {
  it("subscribes with the server's key and saves the subscription", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    expect(push.state.get()).toBe("default");
    expect(await push.turnOn()).toBe(true);
    expect(push.state.get()).toBe("on");
    expect(browser.requests).toEqual(saving);
    expect(browser.saved).toMatchObject({ endpoint: "https://push.example/1", key: toKey(1), language: "fr" });
    expect(browser.device).toMatchObject({ user: browser.user, endpoint: "https://push.example/1" });
  });
  it("asks the server nothing if the person refuses the permission", async () => {
    const { browser, open } = makeBrowser({ permission: "denied" });
    const push = open();
    expect(await push.turnOn()).toBe(false);
    expect(push.state.get()).toBe("denied");
    expect(browser.requests).toEqual([]);
  });
  it("stays off, with the reason, while the server cannot be reached", async () => {
    const { browser, open } = makeBrowser();
    browser.isOffline = true;
    const push = open();
    await expect(push.turnOn()).rejects.toMatchObject({ code: "offline" });
    expect(push.state.get()).toBe("off");
    expect(browser.wantedUser).toBeUndefined();
  });
  it("leaves no subscription if the person signs out meanwhile", async () => {
    const { browser, open } = makeBrowser();
    browser.whileSaving = () => {
      browser.user = undefined;
    };
    await expect(open().turnOn()).rejects.toThrow("session ended");
    expect(browser).toMatchObject({ subscription: null, device: undefined, wantedUser: undefined });
  });
});

describe("turning notifications off", () => {
  it("works without a network", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    await push.turnOn();
    browser.isOffline = true;
    await push.turnOff();
    expect(push.state.get()).toBe("off");
    expect(browser).toMatchObject({ subscription: null, device: undefined, wantedUser: undefined });
  });
  it("is no failure if the browser cannot end the subscription, and still removes it on the server", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    await push.turnOn();
    browser.endFailure = new DOMException("no network", "NetworkError");
    await push.turnOff();
    expect(push.state.get()).toBe("off");
    expect(browser.requests).toEqual([...saving, "DELETE /api/push/subscription"]);
  });
  it("removes the subscription on the server", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    await push.turnOn();
    await push.turnOff();
    expect(browser.requests).toEqual([...saving, "DELETE /api/push/subscription"]);
  });
});

describe("the next start", () => {
  const turnOnOnce = async () => {
    const made = makeBrowser();
    await made.open().turnOn();
    made.browser.requests = [];
    return made;
  };

  it("sends nothing while the subscription is the saved one", async () => {
    const { browser, open } = await turnOnOnce();
    const push = open();
    await push.start();
    expect(push.state.get()).toBe("on");
    expect(browser.requests).toEqual([]);
  });
  it("saves the subscription again after a week", async () => {
    const { browser, open } = await turnOnOnce();
    browser.now += weekMs + 1;
    await open().start();
    expect(browser.requests).toEqual(saving);
    expect(browser.subscription?.endpoint).toBe("https://push.example/1");
    await open().start();
    expect(browser.requests).toEqual(saving);
  });
  it("replaces a subscription that the browser lost", async () => {
    const { browser, open } = await turnOnOnce();
    browser.subscription = null;
    await open().start();
    expect(browser.requests).toEqual(saving);
    expect(browser.device?.endpoint).toBe("https://push.example/2");
  });
  it("replaces a subscription of a former key of the server", async () => {
    const { browser, open } = await turnOnOnce();
    browser.serverKey = toKey(2);
    browser.now += weekMs + 1;
    await open().start();
    expect(browser.device).toMatchObject({ endpoint: "https://push.example/2", key: toKey(2) });
  });
  it("replaces a subscription at once when the server tells that its key has changed", async () => {
    const { browser, open } = await turnOnOnce();
    browser.serverKey = toKey(2);
    await open().start(true);
    expect(browser.requests).toEqual(saving);
    expect(browser.device).toMatchObject({ endpoint: "https://push.example/2", key: toKey(2) });
  });
  it("of the same person after an expired session subscribes again", async () => {
    const { browser, open } = await turnOnOnce();
    browser.device = undefined; // `endPush` in `clearSession`
    browser.subscription = null;
    await open().start();
    expect(browser.device).toMatchObject({ user: browser.user, endpoint: "https://push.example/2" });
  });
  it("of another person removes the subscription and makes none", async () => {
    const { browser, open } = await turnOnOnce();
    browser.user = createUuid();
    const push = open();
    expect(push.state.get()).toBe("off");
    await push.start();
    expect(browser).toMatchObject({ subscription: null, device: undefined });
    expect(browser.requests).toEqual([]);
  });
  it("sends nothing after the permission was withdrawn", async () => {
    const { browser, open } = await turnOnOnce();
    browser.permission = "denied";
    const push = open();
    await push.start();
    expect(push.state.get()).toBe("denied");
    expect(browser.requests).toEqual([]);
  });
});

describe("a test notification", () => {
  it("is requested from the server", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    await push.turnOn();
    expect(await push.requestTest()).toBe("sent");
    expect(browser.requests.at(-1)).toBe("POST /api/push/test");
  });
  it("renews a subscription that the push service has lost", async () => {
    const { browser, open } = makeBrowser();
    const push = open();
    await push.turnOn();
    browser.testStatus = "gone";
    expect(await push.requestTest()).toBe("gone");
    expect(browser.device?.endpoint).toBe("https://push.example/2");
    expect(browser.requests.slice(-2)).toEqual(saving);
  });
});
