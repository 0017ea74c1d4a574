import { partCount } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes, filePartBytes, messageTextMaxLength } from "#contract/limits.ts";
import type { AttackNeeds, Stage } from "./stage.ts";

export type Ask = {
  method: string;
  path: string;
  /** Sent without the attacker's token. */
  isAnonymous?: boolean;
  headers?: Record<string, string>;
  body?: unknown;
  bytes?: Buffer;
};

/** A flood of requests, so many at once. */
export type HttpAttack = AttackNeeds & {
  name: string;
  make: (stage: Stage, n: number) => Ask;
  /** Asked once before it begins. */
  prepare?: (stage: Stage) => Ask;
  /** Stops after so many, for bursts. */
  count?: number;
};

const longLog = 20_000;
const heavyText = "字".repeat(messageTextMaxLength);
const anyPassword = "Azerty-2026-x";
const phoneOf = (n: number): string => `+24382${String(n % 10_000_000).padStart(7, "0")}`;
const randomText = (): string => createUuid().replaceAll("-", "");

const get =
  (path: (stage: Stage, n: number) => string) =>
  (stage: Stage, n: number): Ask => ({ method: "GET", path: path(stage, n) });

const read = (name: string, path: string): HttpAttack => ({ name: `GET ${name}`, make: get(() => path) });

const filePartCount = partCount(fileMaxBytes);
const files: Uuid[] = [];
const fileOf = (n: number): Uuid => {
  while (files.length <= n) files.push(createUuid());
  return files[n] ?? "";
};
const announce = (n: number): Ask => ({
  method: "PUT",
  path: `/api/files/${fileOf(n)}`,
  body: { name: "x.bin", size: fileMaxBytes },
});
const texts = (count: number, text: string) => ({
  messages: Array.from({ length: count }, () => ({ cid: createUuid(), body: { type: "text", text } })),
});

export const httpAttacks: HttpAttack[] = [
  read("conversations", "/api/conversations"),
  read("contacts", "/api/contacts"),
  read("requests", "/api/requests"),
  read("blocks", "/api/blocks"),
  read("mutes", "/api/mutes"),
  read("calls", "/api/calls"),
  read("account", "/api/auth/user"),
  read("security", "/api/auth/security"),
  read("settings", "/api/settings"),
  read("API description", "/api/openapi.json"),
  { name: "GET a profile", make: get(({ accomplice }) => `/api/users/${accomplice}`) },
  {
    name: "searches for people",
    make: (_stage, n) => ({ method: "POST", path: "/api/people/search", body: { phone: phoneOf(n) } }),
  },
  {
    name: "GET messages",
    messages: longLog,
    make: get(({ own }, n) => `/api/conversations/${own}/messages?before=${1 + (n % longLog)}`),
  },
  {
    name: "searches over HTTP without hits",
    messages: longLog,
    make: ({ own }) => ({ method: "POST", path: `/api/conversations/${own}/search`, body: { query: "zzqx" } }),
  },
  { name: "GET presence", make: get(({ own }) => `/api/conversations/${own}/presence`) },
  { name: "GET feed pages", make: get(() => `/api/tala?before=${Math.floor(Math.random() * 1e9)}`) },
  { name: "GET unknown groups", make: get(() => `/api/groups/${createUuid()}`) },
  { name: "GET files of unknown groups", make: get(() => `/api/conversations/${createUuid()}/files/${createUuid()}`) },
  { name: "GET unknown pages", make: get(() => `/api/${randomText()}`) },
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
      body: { action: "sign_up", subject: phoneOf(n) },
    }),
  },
  {
    name: "sign-ups with a bad proof",
    make: (_stage, n) => ({
      method: "POST",
      path: "/api/auth/signup",
      isAnonymous: true,
      body: {
        phone: phoneOf(n),
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
      body: { phone: phoneOf(n), password: anyPassword },
    }),
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
    prepare: () => announce(0),
    // The next file is announced in the place of a part of this one.
    make: (_stage, n) => {
      const [file, part] = [Math.floor(n / filePartCount), n % filePartCount];
      if (part === 0) return announce(file + 1);
      return {
        method: "PUT",
        path: `/api/files/${fileOf(file)}/parts/${part}`,
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
    name: "marks over HTTP",
    make: ({ own }) => ({ method: "PUT", path: `/api/conversations/${own}/marks`, body: { delivered: 0, read: 0 } }),
  },
  {
    name: "messages over HTTP, 50 at a time",
    make: ({ own }, n) => ({
      method: "POST",
      path: `/api/conversations/${own}/messages`,
      body: texts(50, `Mbote ${n}`),
    }),
  },
  {
    name: "messages of 24 kB over HTTP, 10 at a time",
    make: ({ own }) => ({ method: "POST", path: `/api/conversations/${own}/messages`, body: texts(10, heavyText) }),
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
