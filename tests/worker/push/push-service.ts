import { env } from "cloudflare:workers";
import * as v from "valibot";
import { vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { PushPayload, type PushSubscriptionBody } from "#contract/push.ts";
import type { Person } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { call } from "#tests/worker/support/site.ts";
import { createSessionRow, insertSession } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { decodeBase64Url } from "#worker/lib/push/encryption.ts";
import { findVapidKey } from "#worker/lib/push/vapid.ts";

/** Push services and subscribed devices, which decrypt what they receive. */

type ReceivedPush = { payload: PushPayload; headers: Headers; bytes: number; at: number };

const encodeBase64Url = (bytes: ArrayBuffer | Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

const derive = async (salt: Uint8Array, secret: BufferSource, info: string | Uint8Array, bytes: number) => {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const infoBytes = typeof info === "string" ? new TextEncoder().encode(info) : info;
  return crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info: infoBytes }, key, bytes * 8);
};

/** Answer of a push service; undefined stands for no answer until the request is aborted. */
type Answer = (() => Response) | undefined;

/** A device with a subscription of its own at a push service. */
export class PushDevice {
  readonly endpoint: string;
  readonly #keys: CryptoKeyPair;
  readonly #auth = crypto.getRandomValues(new Uint8Array(16));
  p256dh = "";
  /** Pushes that its push service accepted, in order. */
  readonly received: ReceivedPush[] = [];
  /** Number of requests for this device, answered in any way. */
  requests = 0;
  answer: Answer = () => new Response(null, { status: 201 });
  /** Whether answers do not arrive although the push is accepted. */
  losesAnswers = false;
  /** Time until its push service answers. */
  delayMs = 0;

  private constructor(endpoint: string, keys: CryptoKeyPair) {
    this.endpoint = endpoint;
    this.#keys = keys;
  }

  static async create(host = "fcm.googleapis.com"): Promise<PushDevice> {
    const curve = { name: "ECDH", namedCurve: "P-256" };
    const keys = (await crypto.subtle.generateKey(curve, true, ["deriveBits"])) as CryptoKeyPair;
    const device = new PushDevice(`https://${host}/fcm/send/${createUuid()}`, keys);
    device.p256dh = encodeBase64Url((await crypto.subtle.exportKey("raw", keys.publicKey)) as ArrayBuffer);
    return device;
  }

  get auth(): string {
    return encodeBase64Url(this.#auth);
  }

  async createBody(more: Partial<PushSubscriptionBody> = {}): Promise<PushSubscriptionBody> {
    const { endpoint, p256dh, auth } = this;
    return { endpoint, p256dh, auth, key: (await findVapidKey(env)) ?? "", language: "fr", ...more };
  }

  /** Saves the subscription for a person's session. Returns the status. */
  async subscribe({ token }: Person, more: Partial<PushSubscriptionBody> = {}): Promise<number> {
    const body = await this.createBody(more);
    return (await call("PUT", "/api/push/subscription", { token, body })).status;
  }

  /** The n-th push, waiting for it if necessary. */
  async next(n = 1): Promise<ReceivedPush> {
    await waitUntil(() => this.received.length >= n);
    const push = this.received[n - 1];
    if (!push) throw new Error("no push");
    return push;
  }

  async handle(request: Request): Promise<Response> {
    this.requests += 1;
    if (!this.answer) {
      request.signal.throwIfAborted();
      return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
    }
    if (this.delayMs > 0) await scheduler.wait(this.delayMs);
    const response = this.answer();
    if (!response.ok) return response;
    const body = new Uint8Array(await request.arrayBuffer());
    const payload = v.parse(PushPayload, JSON.parse(await this.#decrypt(body)));
    this.received.push({ payload, headers: request.headers, bytes: body.length, at: Date.now() });
    if (this.losesAnswers) await new Promise(() => undefined);
    return response;
  }

  /** Decrypts a body as a browser does (RFC 8291 §3.4). */
  async #decrypt(body: Uint8Array): Promise<string> {
    const [salt, senderKey, sealed] = [body.slice(0, 16), body.slice(21, 86), body.slice(86)];
    const curve = { name: "ECDH", namedCurve: "P-256" };
    const sender = await crypto.subtle.importKey("raw", senderKey, curve, false, []);
    const algorithm = { name: "ECDH", public: sender } as unknown as SubtleCryptoDeriveKeyAlgorithm;
    const shared = await crypto.subtle.deriveBits(algorithm, this.#keys.privateKey, 256);
    const text = new TextEncoder().encode("WebPush: info\0");
    const info = Uint8Array.of(...text, ...decodeBase64Url(this.p256dh), ...senderKey);
    const secret = await derive(this.#auth, shared, info, 32);
    const contentKey = await derive(salt, secret, "Content-Encoding: aes128gcm\0", 16);
    const iv = await derive(salt, secret, "Content-Encoding: nonce\0", 12);
    const key = await crypto.subtle.importKey("raw", contentKey, "AES-GCM", false, ["decrypt"]);
    const record = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, sealed));
    return new TextDecoder().decode(record.slice(0, record.lastIndexOf(2)));
  }
}

/** Answers the requests to push services for these devices until the mocks are restored. Returns their addresses. */
export const servePushes = (devices: () => readonly PushDevice[]): string[] => {
  const addresses: string[] = [];
  const fetchNow = globalThis.fetch;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const device = devices().find(({ endpoint }) => new URL(endpoint).pathname === pathname);
    if (!device) return fetchNow(input, init);
    if (request.redirect !== "manual") throw new Error("a push follows redirects");
    addresses.push(request.url);
    return device.handle(request);
  });
  return addresses;
};

/** The same person with another session. */
export const makeOtherSession = async <T extends Person>(person: T): Promise<T & { session: Uuid }> => {
  const row = createSessionRow(person.id, Date.now());
  await insertSession(openDb(env), row);
  return { ...person, session: row.id, token: await signAccessToken(env, { sub: person.id, sid: row.id, gen: 0 }) };
};
