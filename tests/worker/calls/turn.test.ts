import { env } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { CallResult } from "#contract/calls/call.ts";
import type { IceServer, IceServers } from "#contract/calls/ice.ts";
import { relayCredentialSeconds } from "#contract/limits/calls.ts";
import type { Person } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { makePair, type Pair } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import { createCoturnProvider } from "#worker/calls/turn.ts";

type Settings = Parameters<typeof callWith>[0];

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
const logged = (): string => JSON.stringify(errors.mock.calls);
/** Log entries about calls. Objects of other tests may log too. */
const loggedOfCalls = () =>
  errors.mock.calls.filter(([what]: unknown[]) => /^(calls run|a call runs) without/.test(String(what)));

const dial = async ({ ana, ben }: Pair, settings: Settings = {}) => {
  const body = { callee_id: ben.id, type: "audio" };
  const answer = await callWith(settings, "POST", "/api/calls", { token: ana.token, body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as CallResult & { call_id: string; ice_servers: IceServer[] };
};
const ice = async (person: Person, id: string, settings: Settings = {}): Promise<IceServers> => {
  const answer = await callWith(settings, "GET", `/api/calls/${id}/ice`, { token: person.token });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body as IceServers;
};
/** ICE servers for a caller who has just dialled. */
const iceOf = async (settings: Settings): Promise<IceServers> => {
  const pair = await makePair();
  const { call_id } = await dial(pair);
  return ice(pair.ana, call_id, settings);
};

const stun = "stun:stun.example.org:3478";
const own = { RELAY: "coturn", TURN_HOST: "turn.example.org", TURN_SECRET: "un secret partagé" };
const cloudflareRelay = { RELAY: "cloudflare", TURN_KEY_ID: "0a1b2c", TURN_KEY_TOKEN: "a-very-secret-token" };
const sha1 = (secret: string, text: string) => createHmac("sha1", secret).update(text).digest("base64");

test("without configuration there are no ICE servers, and no request is made", async () => {
  const asked = vi.spyOn(globalThis, "fetch");
  expect(await iceOf({})).toEqual({ ice_servers: [], ttl: relayCredentialSeconds, relays: false, hide: false });
  expect(await iceOf({ RELAY: "none", STUN_URLS: " " })).toMatchObject({ ice_servers: [], relays: false });
  expect([asked.mock.calls, loggedOfCalls()]).toEqual([[], []]);
});

test("the configured STUN servers are returned", async () => {
  const urls = [stun, "stun:[2001:db8::1]:3478"];
  const { ice_servers, relays } = await iceOf({ STUN_URLS: urls.join(" , ") });
  expect([ice_servers, relays]).toEqual([[{ urls }], false]);
});

test("a coturn credential is the HMAC-SHA1 of a username with its expiry time", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_790_000_000_000 - 3_600_000 + 999 });
  // openssl dgst -sha1 -hmac "un secret partagé"
  expect(await createCoturnProvider(own.TURN_HOST, own.TURN_SECRET).createCredentials("nom-opaque", 3_600)).toEqual([
    {
      urls: [
        "turn:turn.example.org:3478?transport=udp",
        "turn:turn.example.org:3478?transport=tcp",
        "turns:turn.example.org:443?transport=tcp",
      ],
      username: "1790000000:nom-opaque",
      credential: "O7tEYc+I4lXXS33d+3xji+Ib0Po=",
    },
  ]);
});

test("a coturn server on another port is used there without TLS", async () => {
  const { ice_servers } = await iceOf({ ...own, TURN_HOST: "127.0.0.1:9325" });
  expect(ice_servers.map(({ urls }) => urls)).toEqual([
    ["turn:127.0.0.1:9325?transport=udp", "turn:127.0.0.1:9325?transport=tcp"],
  ]);
});

test("each person of a call gets separate relay credentials for ten minutes, which do not identify them", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  const before = Math.floor(Date.now() / 1_000);
  const dialled = await dial(pair, { ...own, STUN_URLS: stun });
  const { call_id } = dialled;
  await waitUntil(async () => (await call("GET", `/api/calls/${call_id}`, { token: ben.token })).status === 200);
  const both = [await ice(ana, call_id, own), await ice(ben, call_id, own), await ice(ana, call_id, own)];
  expect(both.map(({ relays, ttl }) => [relays, ttl])).toEqual(both.map(() => [true, relayCredentialSeconds]));
  expect(dialled.ice_servers).toMatchObject([{ urls: [stun] }, { username: expect.any(String) }]);
  const names: string[] = [];
  for (const { ice_servers } of both) {
    const { username = "", credential } = ice_servers[0] ?? {};
    const [until, name = ""] = username.split(":");
    expect(Number(until)).toBeGreaterThanOrEqual(before + relayCredentialSeconds);
    expect(Number(until)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000) + relayCredentialSeconds);
    expect(credential).toBe(sha1(own.TURN_SECRET, username));
    for (const secret of [ana.id, ben.id, call_id, id, ana.phone.slice(1)]) expect(username).not.toContain(secret);
    expect(name).toMatch(/^[\w-]{22}$/);
    names.push(name);
  }
  expect([names[0] === names[2], names[0] === names[1]]).toEqual([true, false]);
  // In another call the same two people have other names.
  const end = { token: ana.token, body: { to_user_id: ben.id, status: "missed" } };
  expect((await call("POST", `/api/calls/${call_id}/end`, end)).status).toBe(200);
  const [, second] = (await dial(pair, { ...own, STUN_URLS: stun })).ice_servers;
  expect(second?.username).not.toContain(names[0]);
});

test("a person over the rate limit is still connected, without a relay in the answer", async () => {
  const pair = await makePair();
  await drainBucket("ice_by_user", pair.ana.id);
  const { ice_servers, over } = await dial(pair, { ...own, STUN_URLS: stun });
  expect([ice_servers, over]).toEqual([[{ urls: [stun] }], null]);
});

test("a person who used up a day's relays is connected without one, and the other is not affected", async () => {
  const pair = await makePair();
  await drainBucket("relay_by_user", pair.ana.id);
  const { call_id, ice_servers } = await dial(pair, own);
  expect(ice_servers).toEqual([]);
  await waitUntil(async () => (await call("GET", `/api/calls/${call_id}`, { token: pair.ben.token })).status === 200);
  expect((await ice(pair.ana, call_id, own)).relays).toBe(false);
  expect((await ice(pair.ben, call_id, own)).relays).toBe(true);
});

/** Format shown at developers.cloudflare.com/realtime/turn/generate-credentials. */
const minted = {
  iceServers: [
    { urls: ["stun:stun.cloudflare.com:3478", "stun:stun.cloudflare.com:53"] },
    {
      urls: [
        "turn:turn.cloudflare.com:53?transport=udp",
        "turn:turn.cloudflare.com:3478?transport=udp",
        "turn:turn.cloudflare.com:3478?transport=tcp",
        "turn:turn.cloudflare.com:80?transport=tcp",
        "turns:turn.cloudflare.com:5349?transport=tcp",
        "turns:turn.cloudflare.com:443?transport=tcp",
      ],
      username: "a-name",
      credential: "a-credential",
    },
  ],
};

test("Cloudflare is requested once for each answer, and URLs that browsers cannot use are removed", async () => {
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(minted, { status: 201 }));
  const { ice_servers, relays } = await iceOf({ ...cloudflareRelay, STUN_URLS: stun });
  expect(relays).toBe(true);
  expect(ice_servers).toEqual([
    { urls: [stun] },
    {
      urls: [
        "turn:turn.cloudflare.com:3478?transport=udp",
        "turn:turn.cloudflare.com:3478?transport=tcp",
        "turns:turn.cloudflare.com:443?transport=tcp",
      ],
      username: "a-name",
      credential: "a-credential",
    },
  ]);
  expect(asked).toHaveBeenCalledTimes(1);
  const [url, init] = asked.mock.calls[0] ?? [];
  const request = new Request(url as string, init as RequestInit);
  expect([request.method, request.url]).toEqual([
    "POST",
    "https://rtc.live.cloudflare.com/v1/turn/keys/0a1b2c/credentials/generate-ice-servers",
  ]);
  expect(request.headers.get("authorization")).toBe(`Bearer ${cloudflareRelay.TURN_KEY_TOKEN}`);
  expect(await request.json()).toEqual({ ttl: relayCredentialSeconds });
});

test("no relay is requested without a call, or for one that has ended", async () => {
  const pair = await makePair();
  const stranger = await makePair();
  const { call_id } = await dial(pair);
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(minted, { status: 201 }));
  const refused = async (person: Person) =>
    (await callWith(cloudflareRelay, "GET", `/api/calls/${call_id}/ice`, { token: person.token })).status;
  expect(await refused(stranger.ana)).toBe(404);
  const end = { token: pair.ana.token, body: { to_user_id: pair.ben.id, status: "missed" } };
  expect((await call("POST", `/api/calls/${call_id}/end`, end)).status).toBe(200);
  expect(await refused(pair.ana)).toBe(404);
  const again = { callee_id: pair.ben.id, type: "audio", call_id };
  const over = await callWith({ ...cloudflareRelay, STUN_URLS: stun }, "POST", "/api/calls", {
    token: pair.ana.token,
    body: again,
  });
  expect(over).toMatchObject({ status: 200, body: { over: { status: "missed" }, ice_servers: [{ urls: [stun] }] } });
  expect(asked).not.toHaveBeenCalled();
});

const failing: [string, () => Promise<Response>][] = [
  ["refuses", async () => Response.json({ error: cloudflareRelay.TURN_KEY_TOKEN }, { status: 401 })],
  [
    "answers something that is no JSON",
    async () => new Response(`<html>${cloudflareRelay.TURN_KEY_TOKEN}`, { status: 201 }),
  ],
  [
    "answers something else",
    async () => Response.json({ iceServers: cloudflareRelay.TURN_KEY_TOKEN }, { status: 201 }),
  ],
  ["names only STUN servers", async () => Response.json({ iceServers: [{ urls: [stun] }] }, { status: 201 })],
  ["names a relay without a credential", async () => Response.json({ iceServers: [{ urls: "turn:x" }] })],
  ["is not reached", async () => Promise.reject(new TypeError(`no way to ${cloudflareRelay.TURN_KEY_TOKEN}`))],
];

test.each(failing)(
  "a relay service that %s only leaves the call without relay, and the log contains no secret",
  async (_, answer) => {
    vi.spyOn(globalThis, "fetch").mockImplementation(answer);
    const pair = await makePair();
    const settings = { ...cloudflareRelay, STUN_URLS: stun };
    const { call_id, ice_servers } = await dial(pair, settings);
    expect(ice_servers).toEqual([{ urls: [stun] }]);
    // A stranger's address is not revealed by that.
    expect(await ice(pair.ana, call_id, settings)).toMatchObject({ ice_servers, relays: false, hide: true });
    expect(loggedOfCalls()).toHaveLength(2);
    expect(logged()).toContain("Cloudflare");
    expect(logged()).not.toContain(cloudflareRelay.TURN_KEY_TOKEN);
    expect(logged()).not.toContain(cloudflareRelay.TURN_KEY_ID);
  },
);

test("a relay service that does not answer is awaited for at most three seconds", async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const limits = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(20));
  vi.spyOn(globalThis, "fetch").mockImplementation(
    (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      }),
  );
  expect(await iceOf({ ...cloudflareRelay, STUN_URLS: stun })).toMatchObject({
    ice_servers: [{ urls: [stun] }],
    relays: false,
  });
  expect(limits).toHaveBeenCalledWith(3_000);
  expect(logged()).toContain("TimeoutError");
});

const wrong: [string, Settings][] = [
  ["RELAY is none of cloudflare, coturn, none", { RELAY: "metered" }],
  ["TURN_HOST is missing", { RELAY: "coturn", TURN_SECRET: "s3cret" }],
  ["TURN_HOST is neither a host nor host:port", { ...own, TURN_HOST: "turn:turn.example.org" }],
  ["TURN_SECRET is missing", { RELAY: "coturn", TURN_HOST: "turn.example.org" }],
  ["TURN_SECRET is missing", { ...own, TURN_SECRET: " " }],
  ["TURN_KEY_ID is missing", { ...cloudflareRelay, TURN_KEY_ID: undefined }],
  ["TURN_KEY_ID is no key id", { ...cloudflareRelay, TURN_KEY_ID: "../../accounts" }],
  ["TURN_KEY_TOKEN is missing", { ...cloudflareRelay, TURN_KEY_TOKEN: undefined }],
];

test.each(wrong)(
  "if %s, the log names the setting only, and the call continues without a relay",
  async (said, settings) => {
    const asked = vi.spyOn(globalThis, "fetch");
    const answer = await iceOf({ ...settings, STUN_URLS: stun });
    expect(answer).toMatchObject({ ice_servers: [{ urls: [stun] }], relays: false, hide: true });
    expect(logged()).toContain(said);
    for (const value of ["metered", "s3cret", own.TURN_SECRET, cloudflareRelay.TURN_KEY_TOKEN])
      expect(logged()).not.toContain(value);
    expect(asked).not.toHaveBeenCalled();
  },
);

test("a list of STUN servers that contains an error is ignored", async () => {
  expect(await iceOf({ ...own, STUN_URLS: `${stun},http://evil.test` })).toMatchObject({
    ice_servers: [{ username: expect.any(String) }],
    relays: true,
  });
  expect(logged()).toContain("STUN_URLS");
});

test("people connected for less than a day hide their addresses from each other, if there is a relay", async () => {
  const pair = await makePair();
  const { call_id } = await dial(pair);
  const hides = async (settings: Settings) => (await ice(pair.ana, call_id, settings)).hide;
  const age = (ms: number) =>
    env.DB.prepare("UPDATE connections SET created_at = ? WHERE conversation_id = ?")
      .bind(Date.now() - ms, pair.id)
      .run();
  expect([await hides(own), await hides({ STUN_URLS: stun })]).toEqual([true, false]);
  await age(23.9 * 3_600_000);
  expect(await hides(own)).toBe(true);
  await age(24.1 * 3_600_000);
  expect(await hides(own)).toBe(false);
});

test("the setting hides the own address from old contacts too, and not the other's", async () => {
  const pair = await makePair();
  await env.DB.prepare("UPDATE connections SET created_at = 0 WHERE conversation_id = ?").bind(pair.id).run();
  const want = (hidesAddress: boolean) =>
    call("PATCH", "/api/settings", { token: pair.ben.token, body: { hidesAddress } });
  expect(await want(true)).toMatchObject({ status: 200, body: { settings: { hidesAddress: true } } });
  const { call_id } = await dial(pair);
  const hides = (settings: Settings) =>
    Promise.all([pair.ana, pair.ben].map(async (person) => (await ice(person, call_id, settings)).hide));
  expect(await hides(own)).toEqual([false, true]);
  expect(await hides({ ...own, TURN_SECRET: "" })).toEqual([false, true]); // a failed call rather than a revealed address
  expect(await hides({ STUN_URLS: stun })).toEqual([false, false]);
  await want(false);
  expect(await hides(own)).toEqual([false, false]);
});
