import { pushPayloadMaxBytes } from "#contract/limits/push.ts";

/** Keys of a subscription: the device's public key and its authentication secret, both in base64url. */
export type PushKeys = { p256dh: string; auth: string };

/** Values that are random in production, and given in the test vectors of RFC 8291. */
type EncryptionInputs = { senderKeys: CryptoKeyPair; salt: Uint8Array<ArrayBuffer> };

const curve = { name: "ECDH", namedCurve: "P-256" } as const;
const recordSize = 4_096;
const paddingStep = 256; // the push service learns the length of a message only to this step
const lastRecordDelimiter = 2; // RFC 8188 §2
const encoder = new TextEncoder();
const encodeText = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(encoder.encode(text));

export const decodeBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

const concat = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
};

/** HKDF with SHA-256 (RFC 5869). */
const deriveBytes = async (
  salt: Uint8Array<ArrayBuffer>,
  secret: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> => {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, length * 8));
};

const importDeviceKey = (p256dh: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", decodeBase64Url(p256dh), curve, false, []);

/** Whether a public key is a point of the curve. Others have the right form, but nothing can be encrypted for them. */
export const isCurvePoint = (p256dh: string): Promise<boolean> =>
  importDeviceKey(p256dh).then(
    () => true,
    () => false,
  );

const createInputs = async (): Promise<EncryptionInputs> => ({
  senderKeys: (await crypto.subtle.generateKey(curve, true, ["deriveBits"])) as CryptoKeyPair,
  salt: crypto.getRandomValues(new Uint8Array(16)),
});

/**
 * Encrypts the content of a push for one device (RFC 8291 with the content encoding aes128gcm of RFC 8188): one record,
 * padded to a multiple of `paddingStep`. Throws a RangeError above `pushPayloadMaxBytes`.
 */
export const encryptPush = async (
  { p256dh, auth }: PushKeys,
  text: string,
  inputs?: EncryptionInputs,
): Promise<Uint8Array<ArrayBuffer>> => {
  const plain = encodeText(text);
  if (plain.length > pushPayloadMaxBytes) throw new RangeError("the content of a push is too long");
  const { senderKeys, salt } = inputs ?? (await createInputs());
  const senderKey = new Uint8Array((await crypto.subtle.exportKey("raw", senderKeys.publicKey)) as ArrayBuffer);
  const sharedSecret = await crypto.subtle.deriveBits(
    { name: "ECDH", public: await importDeviceKey(p256dh) } as SubtleCryptoDeriveKeyAlgorithm,
    senderKeys.privateKey,
    256,
  );
  const keyInfo = concat(encodeText("WebPush: info\0"), decodeBase64Url(p256dh), senderKey);
  const secret = await deriveBytes(decodeBase64Url(auth), new Uint8Array(sharedSecret), keyInfo, 32);
  const contentKey = await deriveBytes(salt, secret, encodeText("Content-Encoding: aes128gcm\0"), 16);
  const nonce = await deriveBytes(salt, secret, encodeText("Content-Encoding: nonce\0"), 12);

  // Test vectors have no padding.
  const step = inputs ? 1 : paddingStep;
  const paddedLength = Math.min(Math.ceil((plain.length + 1) / step) * step, pushPayloadMaxBytes + 1);
  const record = new Uint8Array(paddedLength);
  record.set(plain);
  record[plain.length] = lastRecordDelimiter;
  const key = await crypto.subtle.importKey("raw", contentKey, "AES-GCM", false, ["encrypt"]);
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, key, record));

  const header = new Uint8Array(21);
  header.set(salt);
  new DataView(header.buffer).setUint32(16, recordSize);
  header[20] = senderKey.length;
  return concat(header, senderKey, sealed);
};
