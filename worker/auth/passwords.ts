import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { scryptParameters } from "#contract/limits/authentication.ts";
import { type HashTurns, reserveHashTurns } from "#worker/lib/limits/hashing-limit.ts";
import { hasCheapWork } from "#worker/lib/limits/local-limits.ts";

const saltBytes = 16;
const maxMemoryBytes = 64 * 1024 * 1024; // above the 16 MiB that N and r need

type ScryptParameters = { N: number; r: number; p: number; keyLength: number };
type HashEnv = Pick<Env, "PEPPER">;

const getParameters = (env: HashEnv): ScryptParameters =>
  hasCheapWork(env) ? { ...scryptParameters, N: 2, p: 1 } : scryptParameters;

/**
 * Derives the key of a password at the next of these turns. The pepper is not stored in the database, so passwords cannot
 * be guessed from a stolen table alone.
 */
const deriveKey = async (
  env: HashEnv,
  password: string,
  salt: Buffer,
  { N, r, p, keyLength }: ScryptParameters,
  turns: HashTurns,
): Promise<Buffer> => {
  await turns.waitForNext();
  const peppered = createHmac("sha256", env.PEPPER).update(password, "utf8").digest();
  return new Promise((resolve, reject) => {
    scrypt(peppered, salt, keyLength, { N, r, p, maxmem: maxMemoryBytes }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
};

const toBase64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");

/**
 * scrypt with OWASP's parameters (Password Storage Cheat Sheet) in the PHC string format. Throws `HashingOverloadError` if
 * too many hashes wait for their turn.
 */
export const hashPassword = async (env: HashEnv, password: string): Promise<string> => {
  const parameters = getParameters(env);
  const { N, r, p } = parameters;
  const salt = randomBytes(saltBytes);
  const key = await deriveKey(env, password, salt, parameters, reserveHashTurns(env, 1));
  return `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${toBase64(salt)}$${toBase64(key)}`;
};

const phcPattern = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const parsePhcHash = (hash: string): { parameters: ScryptParameters; salt: Buffer; key: Buffer } => {
  const [, ln, r, p, salt, key] = phcPattern.exec(hash) ?? [];
  if (!salt || !key) throw new Error("a stored password hash is not in PHC format");
  const bytes = Buffer.from(key, "base64");
  return {
    parameters: { N: 2 ** Number(ln), r: Number(r), p: Number(p), keyLength: bytes.length },
    salt: Buffer.from(salt, "base64"),
    key: bytes,
  };
};

/** Hash for unknown phone numbers, so that the check takes as long as for known ones. It matches no password. */
const makeDummyHash = ({ N, r, p }: ScryptParameters): string =>
  `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${"A".repeat(22)}$${"A".repeat(43)}`;

/**
 * Compares a password with its hash, at the next of the reserved turns. Without a hash it does the same work and returns
 * false. Throws `HashingOverloadError` if no turn is reserved and too many hashes wait for theirs.
 */
export const verifyPassword = async (
  env: HashEnv,
  password: string,
  hash: string | undefined,
  turns = reserveHashTurns(env, 1),
): Promise<boolean> => {
  const { parameters, salt, key } = parsePhcHash(hash ?? makeDummyHash(getParameters(env)));
  const derived = await deriveKey(env, password, salt, parameters, turns);
  return timingSafeEqual(derived, key) && hash !== undefined;
};

/** Tests whether a stored hash was made with other parameters than the current ones. */
export const isOutdatedHash = (env: HashEnv, hash: string): boolean => {
  const { N, r, p, keyLength } = parsePhcHash(hash).parameters;
  const now = getParameters(env);
  return N !== now.N || r !== now.r || p !== now.p || keyLength !== now.keyLength;
};
