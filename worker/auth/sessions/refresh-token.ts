import { createHmac, timingSafeEqual } from "node:crypto";
import type { Uuid } from "#contract/ids.ts";

/**
 * A refresh token is 52 bytes: session id, generation, and two MACs over both, the second with the session's random
 * nonce. The first is verified without reading the session, so that forged tokens cost no read. A token is not stored;
 * its successor can be derived again if a response was lost. `rotateSession` (sessions.ts) exchanges it.
 */
const idBytes = 16;
const headBytes = idBytes + 4;
const macBytes = 16;
const tokenBytes = headBytes + 2 * macBytes;

type TokenEnv = Pick<Env, "PEPPER">;
export type RefreshToken = { session: Uuid; generation: number; mac: Buffer };

const computeMac = ({ PEPPER }: TokenEnv, purpose: string, head: Buffer): Buffer =>
  createHmac("sha256", PEPPER).update(`lisolo ${purpose} `).update(head).digest().subarray(0, macBytes);
const computeSeal = (env: TokenEnv, head: Buffer): Buffer => computeMac(env, "refresh seal", head);
const computeNonceMac = (env: TokenEnv, nonce: string, head: Buffer): Buffer =>
  computeMac(env, `refresh token ${nonce}`, head);

const encodeHead = (session: Uuid, generation: number): Buffer => {
  const head = Buffer.alloc(headBytes);
  head.write(session.replaceAll("-", ""), 0, "hex");
  head.writeUInt32BE(generation, idBytes);
  return head;
};

export const createRefreshToken = (env: TokenEnv, session: Uuid, nonce: string, generation: number): string => {
  const head = encodeHead(session, generation);
  return Buffer.concat([head, computeSeal(env, head), computeNonceMac(env, nonce, head)]).toString("base64url");
};

/**
 * Parts of a refresh token that this service issued; undefined for any other text. `isGenuineRefreshToken` compares it
 * with its session.
 */
export const parseRefreshToken = (env: TokenEnv, token: string): RefreshToken | undefined => {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return undefined;
  const head = bytes.subarray(0, headBytes);
  if (!timingSafeEqual(bytes.subarray(headBytes, headBytes + macBytes), computeSeal(env, head))) return undefined;
  const hex = bytes.toString("hex", 0, idBytes);
  return {
    session: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    generation: bytes.readUInt32BE(idBytes),
    mac: bytes.subarray(headBytes + macBytes),
  };
};

export const isGenuineRefreshToken = (env: TokenEnv, token: RefreshToken, nonce: string): boolean =>
  timingSafeEqual(token.mac, computeNonceMac(env, nonce, encodeHead(token.session, token.generation)));
