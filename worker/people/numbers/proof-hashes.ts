import { createHmac, timingSafeEqual } from "node:crypto";
import type { Uuid } from "#contract/ids.ts";

type HashEnv = Pick<Env, "PEPPER">;

/** Keyed hash, because codes and numbers are few enough to be recovered from a plain one. */
const hash = ({ PEPPER }: HashEnv, purpose: string, ...parts: string[]): string =>
  createHmac("sha256", PEPPER)
    .update(["number proof", purpose, ...parts].join(" "))
    .digest("base64url");

/** Stored form of a sent code, valid for one proof. */
export const toCodeHash = (env: HashEnv, proof: Uuid, code: string): string => hash(env, "code", proof, code);

export const isSameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Key by which the token in a message finds its proof. */
export const toMessageLookup = (env: HashEnv, token: string): string => hash(env, "message", token.toUpperCase());

/** Key by which the token in a QR code finds its proof. */
export const toVouchingLookup = (env: HashEnv, token: string): string => hash(env, "vouching", token);

/** Key by which a call finds its proof: the caller's number and the called one. */
export const toCallLookup = (env: HashEnv, from: string, to: string): string => hash(env, "call", from, to);
