import { createHash } from "node:crypto";

const algorithm = "AES-GCM";
const nonceBytes = 12; // NIST SP 800-38D §8.2.2: random nonces of 96 bits
const keyBytes = 32;

/** `FACTOR_KEY_NEXT` exists during a key rotation: it encrypts, and both keys decrypt. */
type FactorKeys = Pick<Env, "FACTOR_KEY"> & { FACTOR_KEY_NEXT?: string };

const importFactorKey = async (secret: string): Promise<CryptoKey> => {
  const raw = Buffer.from(secret, "base64url");
  if (raw.length !== keyBytes) throw new Error(`FACTOR_KEY must be ${keyBytes} bytes in base64url`);
  return crypto.subtle.importKey("raw", raw, algorithm, false, ["encrypt", "decrypt"]);
};

const importedKeys = new Map<string, Promise<CryptoKey>>();
const getImportedKey = (secret: string): Promise<CryptoKey> => {
  const key = importedKeys.get(secret) ?? importFactorKey(secret);
  importedKeys.set(secret, key);
  return key;
};
const keyIdLength = 6;
const keyIdSeparator = ".";
/** Identifier of a key, derived one-way. Prefixes every secret encrypted with it. */
const toKeyId = (key: string): string =>
  createHash("sha256").update(`the mark of ${key}`).digest("base64url").slice(0, keyIdLength) + keyIdSeparator;
const getNewestKey = ({ FACTOR_KEY, FACTOR_KEY_NEXT }: FactorKeys): string => FACTOR_KEY_NEXT?.trim() || FACTOR_KEY;

/** Prefix of secrets that are up to date during a key rotation. Undefined when no rotation is running. */
export const findReplacingKeyId = (env: FactorKeys): string | undefined =>
  getNewestKey(env) === env.FACTOR_KEY ? undefined : toKeyId(getNewestKey(env));

const toGcmParameters = (iv: Uint8Array<ArrayBuffer>, owner: string) => ({
  name: algorithm,
  iv,
  additionalData: new TextEncoder().encode(owner),
});

/**
 * Encrypts a secret for its owner: key id, then nonce and ciphertext in base64url. The owner is authenticated data, so
 * the secret cannot be decrypted in another owner's row.
 */
export const sealSecret = async (env: FactorKeys, owner: string, secret: Uint8Array<ArrayBuffer>): Promise<string> => {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const ciphertext = await crypto.subtle.encrypt(
    toGcmParameters(nonce, owner),
    await getImportedKey(getNewestKey(env)),
    secret,
  );
  return toKeyId(getNewestKey(env)) + Buffer.concat([nonce, new Uint8Array(ciphertext)]).toString("base64url");
};

const decryptSecret = async (key: string, owner: string, ciphertext: string): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = Uint8Array.from(Buffer.from(ciphertext.slice(ciphertext.indexOf(keyIdSeparator) + 1), "base64url"));
  const parameters = toGcmParameters(bytes.slice(0, nonceBytes), owner);
  return new Uint8Array(await crypto.subtle.decrypt(parameters, await getImportedKey(key), bytes.slice(nonceBytes)));
};

/**
 * Decrypts a secret of this owner. `isOutdated`: it is encrypted with the old key. Throws if it cannot be decrypted.
 */
export const unsealSecret = async (
  env: FactorKeys,
  owner: string,
  ciphertext: string,
): Promise<{ secret: Uint8Array<ArrayBuffer>; isOutdated: boolean }> => {
  const newest = getNewestKey(env);
  try {
    return { secret: await decryptSecret(newest, owner, ciphertext), isOutdated: false };
  } catch (error) {
    if (newest === env.FACTOR_KEY) throw error;
    return { secret: await decryptSecret(env.FACTOR_KEY, owner, ciphertext), isOutdated: true };
  }
};
