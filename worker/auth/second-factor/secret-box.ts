import { createHash } from "node:crypto";

const algorithm = "AES-GCM";
const nonceBytes = 12; // NIST SP 800-38D §8.2.2: random nonces of 96 bits
const keyBytes = 32;

/** `FACTOR_KEY_NEXT` is there while one key takes the other's place: all is sealed by it, and opened by either. */
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
/** Names a key and tells nothing of it: stands before whatever it sealed. */
const toKeyId = (key: string): string =>
  createHash("sha256").update(`the mark of ${key}`).digest("base64url").slice(0, keyIdLength) + keyIdSeparator;
const getNewestKey = ({ FACTOR_KEY, FACTOR_KEY_NEXT }: FactorKeys): string => FACTOR_KEY_NEXT?.trim() || FACTOR_KEY;

/** What begins the text of every secret that needs not be sealed anew. Undefined while no key takes another's place. */
export const findReplacingKeyId = (env: FactorKeys): string | undefined =>
  getNewestKey(env) === env.FACTOR_KEY ? undefined : toKeyId(getNewestKey(env));

const toGcmParameters = (iv: Uint8Array<ArrayBuffer>, owner: string) => ({
  name: algorithm,
  iv,
  additionalData: new TextEncoder().encode(owner),
});

/** Encrypts a secret for its owner: the key's mark, then the nonce and what follows it in base64url. In anybody else's row it opens to nobody. */
export const sealSecret = async (env: FactorKeys, owner: string, secret: Uint8Array<ArrayBuffer>): Promise<string> => {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = await crypto.subtle.encrypt(
    toGcmParameters(nonce, owner),
    await getImportedKey(getNewestKey(env)),
    secret,
  );
  return toKeyId(getNewestKey(env)) + Buffer.concat([nonce, new Uint8Array(sealed)]).toString("base64url");
};

const decryptSecret = async (key: string, owner: string, sealed: string): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = Uint8Array.from(Buffer.from(sealed.slice(sealed.indexOf(keyIdSeparator) + 1), "base64url"));
  const parameters = toGcmParameters(bytes.slice(0, nonceBytes), owner);
  return new Uint8Array(await crypto.subtle.decrypt(parameters, await getImportedKey(key), bytes.slice(nonceBytes)));
};

/** The secret that was sealed for this owner, and whether by a key that is on its way out; throws for anything else. */
export const unsealSecret = async (
  env: FactorKeys,
  owner: string,
  sealed: string,
): Promise<{ secret: Uint8Array<ArrayBuffer>; isOutdated: boolean }> => {
  const newest = getNewestKey(env);
  try {
    return { secret: await decryptSecret(newest, owner, sealed), isOutdated: false };
  } catch (error) {
    if (newest === env.FACTOR_KEY) throw error;
    return { secret: await decryptSecret(env.FACTOR_KEY, owner, sealed), isOutdated: true };
  }
};
