import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import type { Language } from "#contract/language.ts";
import { PushKey, PushTestResult } from "#contract/push.ts";
import { Observable } from "#lib/browser/observable.ts";
import { getSubscriptionKey, type PushDevice, toSubscriptionBody } from "#lib/browser/push/push-device.ts";
import { isRenewalDue, type PushEnvironment, type PushState, resolvePushState } from "./push-state.ts";

type PushRegistration = Pick<PushManager, "getSubscription" | "subscribe">;

const subscriptionPath = "/api/push/subscription";

/** Browser and server as `DevicePush` needs them. */
export type PushPlatform = {
  readEnvironment(): PushEnvironment;
  requestPermission(): Promise<NotificationPermission>;
  /** Push manager of the active service worker; undefined where none becomes active. */
  getRegistration(): Promise<PushRegistration | undefined>;
  /** Signed-in person. */
  getUser(): Uuid | undefined;
  getLanguage(): Language;
  /** Person who turned notifications on here. */
  readWantedUser(): string | undefined;
  saveWantedUser(user: Uuid | undefined): void;
  readDevice(): Promise<PushDevice | undefined>;
  saveDevice(device: PushDevice): Promise<void>;
  /** Removes the subscription, the saved device and the shown notifications. */
  end(): Promise<void>;
  request(method: "GET" | "PUT" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  now(): number;
};

/** Notifications of the closed app on this device: turned on and off by the person, and renewed at every start. */
export class DevicePush {
  /** State as far as the page knows: before `start`, that of the last visit. */
  readonly state: Observable<PushState>;
  readonly #platform: PushPlatform;
  #isChanging = false;

  constructor(platform: PushPlatform) {
    this.#platform = platform;
    this.state = new Observable(resolvePushState(platform.readEnvironment(), this.#isWanted()));
  }

  /**
   * Compares the browser's subscription with the saved one and saves it again if they differ, since browsers replace
   * subscriptions without notice. A subscription of another person is removed. `hasKeyChanged`: the server told that
   * the subscription was made with a former key of it. Throws if the server cannot be reached.
   */
  async start(hasKeyChanged = false): Promise<void> {
    const { readEnvironment, getUser, getLanguage, getRegistration, readDevice, end, now } = this.#platform;
    const user = getUser();
    if (this.#isChanging || user === undefined || !readEnvironment().hasPush) return;
    const device = await readDevice();
    if (!this.#isWanted()) {
      if (device) await end();
      return this.#publish();
    }
    if (readEnvironment().permission !== "granted") return this.#publish();
    const subscription = await (await getRegistration())?.getSubscription();
    const key = subscription ? getSubscriptionKey(subscription) : "";
    const current = { user, language: getLanguage(), endpoint: subscription?.endpoint, key, now: now() };
    if (hasKeyChanged || isRenewalDue(device, current)) await this.#subscribe(user);
    this.#publish();
  }

  /**
   * Turns notifications on, after the browser has asked for permission. Call it from a tap. Resolves to whether they
   * are on; throws if the push service or the server refuses or cannot be reached.
   */
  async turnOn(): Promise<boolean> {
    const user = this.#platform.getUser();
    if (user === undefined) return false;
    this.#isChanging = true;
    try {
      if ((await this.#platform.requestPermission()) === "granted") {
        await this.#subscribe(user);
        this.#platform.saveWantedUser(user);
      }
    } finally {
      this.#isChanging = false;
      this.#publish();
    }
    return this.state.get() === "on";
  }

  /** Turns notifications off, here at once and on the server if it can be reached. Never throws. */
  async turnOff(): Promise<void> {
    this.#platform.saveWantedUser(undefined);
    this.#publish();
    // Without a network the browser may keep the subscription. The service worker ends it at the next push, without
    // content.
    await this.#platform.end().catch(() => undefined);
    // A push service reports an ended subscription to the server, so nothing is repeated.
    await this.#platform.request("DELETE", subscriptionPath).catch(() => undefined);
  }

  /** Asks the server for a notification on this device. One that the push service has lost is subscribed again. */
  async requestTest(): Promise<PushTestResult["status"]> {
    const { getUser, request, end } = this.#platform;
    const { status } = v.parse(PushTestResult, await request("POST", "/api/push/test"));
    const user = getUser();
    if (status === "gone" && user !== undefined) {
      await end();
      await this.#subscribe(user);
    }
    return status;
  }

  #isWanted(): boolean {
    const user = this.#platform.getUser();
    return user !== undefined && this.#platform.readWantedUser() === user;
  }

  #publish(): void {
    this.state.set(resolvePushState(this.#platform.readEnvironment(), this.#isWanted()));
  }

  async #subscribe(user: Uuid): Promise<void> {
    const { request, getRegistration, getUser, getLanguage, saveDevice, end, now } = this.#platform;
    const { key } = v.parse(PushKey, await request("GET", "/api/push/key"));
    const registration = await getRegistration();
    if (!registration) throw new Error("no service worker for notifications");
    let subscription = await registration.getSubscription();
    if (subscription && getSubscriptionKey(subscription) !== key) {
      await subscription.unsubscribe(); // a subscription is bound to the key it was made with
      subscription = null;
    }
    subscription ??= await registration.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const language = getLanguage();
    await request("PUT", subscriptionPath, toSubscriptionBody(subscription, language));
    await saveDevice({ user, language, endpoint: subscription.endpoint, key, savedAt: now() });
    if (getUser() === user) return;
    await end(); // the person signed out meanwhile
    throw new Error("the session ended while notifications were turned on");
  }
}
