import { partCount } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes, filePartBytes } from "#contract/limits/files.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { makeCaptchaToken } from "#tests/support/people/people.ts";
import type { AttackNeeds, Stage } from "./stage.ts";

export type AttackRequest = {
  method: string;
  path: string;
  /** Sent without the attacker's token. */
  isAnonymous?: boolean;
  headers?: Record<string, string>;
  body?: unknown;
  bytes?: Buffer;
};

/** Flood of concurrent requests. */
export type HttpAttack = AttackNeeds & {
  name: string;
  make: (stage: Stage, n: number) => AttackRequest;
  /** Request sent once before the attack. */
  prepare?: (stage: Stage) => AttackRequest;
  /** Requests at once; 32 by default. */
  atOnce?: number;
  /** Work before the attack, whose time does not count. */
  setUp?: (stage: Stage) => Promise<void>;
  /** Password hashes that an attempt costs the server if its password is compared. */
  hashesPerAttempt?: number;
  /** Stops after this number of requests, for bursts. */
  count?: number;
};

const longLog = 20_000;
const heavyText = "字".repeat(messageTextMaxLength);
const anyPassword = "Azerty-2026-x";
const toPhone = (n: number): string => `+24382${String(n % 10_000_000).padStart(7, "0")}`;
const randomText = (): string => createUuid().replaceAll("-", "");

const createGet =
  (path: (stage: Stage, n: number) => string) =>
  (stage: Stage, n: number): AttackRequest => ({ method: "GET", path: path(stage, n) });

const createGetAttack = (name: string, path: string): HttpAttack => ({
  name: `GET ${name}`,
  make: createGet(() => path),
});

/** Wrong password for a number that several accounts share. */
const createClaimedAttempt = ({ claimedPhones }: Stage, n: number, captcha_token?: string): AttackRequest => ({
  method: "POST",
  path: "/api/auth/token?grant_type=password",
  isAnonymous: true,
  ...(captcha_token && { headers: { "cf-connecting-ip": toSpreadAddress(n) } }),
  body: {
    phone: claimedPhones[n % claimedPhones.length],
    password: anyPassword,
    ...(captcha_token && { gotrue_meta_security: { captcha_token } }),
  },
});
/** Another network for each proof of work, so that none becomes harder. */
const toSpreadAddress = (n: number): string => `10.${64 + ((n >> 8) & 63)}.${n & 255}.1`;

/** Accounts of a number whose passwords a sign-in compares (`passwordsOfSignIn`). */
const comparedAccounts = 3;
/** Solved proofs of work, by the number of their attempt. */
const proofs: string[] = [];
const provenAttempts = 60;

const filePartCount = partCount(fileMaxBytes);
const files: Uuid[] = [];
const getFileId = (n: number): Uuid => {
  while (files.length <= n) files.push(createUuid());
  return files[n] ?? "";
};
const createAnnouncement = (n: number): AttackRequest => ({
  method: "PUT",
  path: `/api/files/${getFileId(n)}`,
  body: { name: "x.bin", size: fileMaxBytes },
});
const createTexts = (count: number, text: string) => ({
  messages: Array.from({ length: count }, () => ({ cid: createUuid(), body: { type: "text", text } })),
});

export const httpAttacks: HttpAttack[] = [
  createGetAttack("conversations", "/api/conversations"),
  createGetAttack("contacts", "/api/contacts"),
  createGetAttack("requests", "/api/requests"),
  createGetAttack("blocks", "/api/blocks"),
  createGetAttack("mutes", "/api/mutes"),
  createGetAttack("calls", "/api/calls"),
  createGetAttack("account", "/api/auth/user"),
  createGetAttack("security", "/api/auth/security"),
  createGetAttack("settings", "/api/settings"),
  createGetAttack("API description", "/api/openapi.json"),
  { name: "GET a profile", make: createGet(({ accomplice }) => `/api/users/${accomplice}`) },
  {
    name: "searches for people",
    make: (_stage, n) => ({ method: "POST", path: "/api/people/search", body: { phone: toPhone(n) } }),
  },
  {
    name: "GET messages",
    messages: longLog,
    make: createGet(({ own }, n) => `/api/conversations/${own}/messages?before=${1 + (n % longLog)}`),
  },
  {
    name: "searches over HTTP without hits",
    messages: longLog,
    make: ({ own }) => ({ method: "POST", path: `/api/conversations/${own}/search`, body: { query: "zzqx" } }),
  },
  { name: "GET presence", make: createGet(({ own }) => `/api/conversations/${own}/presence`) },
  { name: "GET feed pages", make: createGet(() => `/api/tala?before=${Math.floor(Math.random() * 1e9)}`) },
  { name: "GET unknown groups", make: createGet(() => `/api/groups/${createUuid()}`) },
  {
    name: "GET files of unknown groups",
    make: createGet(() => `/api/conversations/${createUuid()}/files/${createUuid()}`),
  },
  { name: "GET unknown pages", make: createGet(() => `/api/${randomText()}`) },
  {
    name: "GET a file, range of 125,000 spaces",
    hasFile: true,
    make: ({ own, file }) => ({
      method: "GET",
      path: `/api/conversations/${own}/files/${file}`,
      headers: { range: `bytes=${" ".repeat(125_000)}x` },
    }),
  },
  {
    name: "forged tokens",
    make: ({ attacker }) => ({
      method: "GET",
      path: "/api/conversations",
      isAnonymous: true,
      headers: { authorization: `Bearer ${attacker.token.slice(0, -8)}AAAAAAAA` },
    }),
  },
  {
    name: "challenges",
    make: (_stage, n) => ({
      method: "POST",
      path: "/api/auth/challenge",
      isAnonymous: true,
      body: { action: "sign_up", subject: toPhone(n) },
    }),
  },
  {
    name: "sign-ups with a bad proof",
    make: (_stage, n) => ({
      method: "POST",
      path: "/api/auth/signup",
      isAnonymous: true,
      body: {
        phone: toPhone(n),
        password: anyPassword,
        data: { username: "Personne" },
        gotrue_meta_security: { captcha_token: Buffer.from("{}").toString("base64") },
      },
    }),
  },
  {
    name: "wrong passwords",
    make: (_stage, n) => ({
      method: "POST",
      path: "/api/auth/token?grant_type=password",
      isAnonymous: true,
      body: { phone: toPhone(n), password: anyPassword },
    }),
  },
  {
    name: "shared numbers: wrong passwords",
    claimedNumbers: 100,
    hashesPerAttempt: comparedAccounts,
    atOnce: 12,
    make: (stage, n) => createClaimedAttempt(stage, n),
  },
  {
    name: "shared numbers: wrong passwords with proofs of work",
    claimedNumbers: provenAttempts,
    hashesPerAttempt: comparedAccounts,
    count: provenAttempts,
    atOnce: 12,
    setUp: async (stage) => {
      for (let n = 1; n <= provenAttempts; n++) {
        const purpose = { action: "sign_in", subject: stage.claimedPhones[n % provenAttempts] ?? "" } as const;
        const headers = { "cf-connecting-ip": toSpreadAddress(n) };
        proofs[n] = await makeCaptchaToken({ origin: stage.origin, fetch }, purpose, headers);
      }
    },
    make: (stage, n) => createClaimedAttempt(stage, n, proofs[n]),
  },
  {
    name: "recoveries with a bad proof",
    make: (_stage, n) => ({
      method: "POST",
      path: "/api/auth/recover",
      isAnonymous: true,
      body: { email: `personne-${n}@hostile.example`, gotrue_meta_security: { captcha_token: "x" } },
    }),
  },
  {
    name: "passkey ceremonies",
    make: () => ({ method: "POST", path: "/api/auth/passkeys/sign-in/options", isAnonymous: true, body: {} }),
  },
  {
    name: "refreshes with unknown tokens",
    make: () => ({
      method: "POST",
      path: "/api/auth/token?grant_type=refresh_token",
      isAnonymous: true,
      body: { refresh_token: `${createUuid()}.0.${randomText()}` },
    }),
  },
  {
    name: "upload announcements",
    make: () => ({
      method: "PUT",
      path: `/api/files/${createUuid()}`,
      body: { name: "x.bin", size: 25 * 1024 * 1024 },
    }),
  },
  {
    name: "uploads of 25 MB",
    prepare: () => createAnnouncement(0),
    // The next file is announced in place of one of this file's parts.
    make: (_stage, n) => {
      const [file, part] = [Math.floor(n / filePartCount), n % filePartCount];
      if (part === 0) return createAnnouncement(file + 1);
      return {
        method: "PUT",
        path: `/api/files/${getFileId(file)}/parts/${part}`,
        bytes: Buffer.alloc(filePartBytes, part),
      };
    },
  },
  { name: "deletions of unknown statuses", make: () => ({ method: "DELETE", path: `/api/tala/${createUuid()}` }) },
  {
    name: "mutes over HTTP",
    make: ({ own }, n) => ({ method: n % 2 === 0 ? "PUT" : "DELETE", path: `/api/mutes/${own}` }),
  },
  {
    name: "receipts over HTTP",
    make: ({ own }) => ({ method: "PUT", path: `/api/conversations/${own}/marks`, body: { delivered: 0, read: 0 } }),
  },
  {
    name: "messages over HTTP, 50 at a time",
    make: ({ own }, n) => ({
      method: "POST",
      path: `/api/conversations/${own}/messages`,
      body: createTexts(50, `Mbote ${n}`),
    }),
  },
  {
    name: "messages of 24 kB over HTTP, 10 at a time",
    make: ({ own }) => ({
      method: "POST",
      path: `/api/conversations/${own}/messages`,
      body: createTexts(10, heavyText),
    }),
  },
  {
    name: "requests to unknown people",
    make: () => ({ method: "POST", path: "/api/requests", body: { to_user_id: createUuid() } }),
  },
  {
    name: "new names",
    make: (_stage, n) => ({ method: "PATCH", path: "/api/profile", body: { username: `Personne ${n % 1_000}` } }),
  },
  {
    name: "groups",
    make: ({ accomplice }) => ({
      method: "POST",
      path: "/api/groups",
      body: { id: createUuid(), name: "Groupe", members: [accomplice] },
    }),
  },
  {
    name: "JSON bodies of 250 kB",
    make: () => ({ method: "POST", path: "/api/requests", body: { to_user_id: "x".repeat(250_000) } }),
  },
];
