import { createHmac, timingSafeEqual } from "node:crypto";
import type { Uuid } from "#contract/ids.ts";

/**
 * A refresh token is 52 bytes: session id, generation, and a MAC over both with the session's random nonce. It is not
 * stored; its successor can be derived again if a response was lost. `rotateSession` (sessions.ts) exchanges it.
 */
const idBytes = 16;
const tokenBytes = idBytes + 4 + 32;

export type RefreshToken = { session: Uuid; generation: number; mac: Buffer };

const computeMac = ({ PEPPER }: Pick<Env, "PEPPER">, nonce: string, head: Buffer): Buffer =>
  createHmac("sha256", PEPPER).update(`lisolo refresh token ${nonce} `).update(head).digest();

const encodeHead = (session: Uuid, generation: number): Buffer => {
  const head = Buffer.alloc(idBytes + 4);
  head.write(session.replaceAll("-", ""), 0, "hex");
  head.writeUInt32BE(generation, idBytes);
  return head;
};

export const createRefreshToken = (
  env: Pick<Env, "PEPPER">,
  session: Uuid,
  nonce: string,
  generation: number,
): string => {
  const head = encodeHead(session, generation);
  return Buffer.concat([head, computeMac(env, nonce, head)]).toString("base64url");
};

/** Parses the parts of a refresh token. `isGenuineRefreshToken` verifies it. */
export const parseRefreshToken = (token: string): RefreshToken | undefined => {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return undefined;
  const hex = bytes.toString("hex", 0, idBytes);
  return {
    session: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    generation: bytes.readUInt32BE(idBytes),
    mac: bytes.subarray(idBytes + 4),
  };
};

export const isGenuineRefreshToken = (env: Pick<Env, "PEPPER">, token: RefreshToken, nonce: string): boolean =>
  timingSafeEqual(token.mac, computeMac(env, nonce, encodeHead(token.session, token.generation)));
