import { createHash, randomBytes, webcrypto } from "node:crypto";

/**
 * Software authenticator (Web Authentication level 3) that creates and presents one passkey. `tweak` makes it do what a
 * browser and a phone would never do.
 */
export type Tweak = {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  counter?: number;
  /** Authenticator data flags, as in `flags`. */
  flags?: number;
  userHandle?: string | undefined;
  /** Signs with a different key than the registered one. */
  isForged?: boolean;
};

/** Bits: user present, user verified, backup eligible, backed up, attested credential data included. */
export const flags = { present: 1, verified: 4, mayTravel: 8, hasCopies: 16, attested: 64 } as const;

type Text = string;
type Cbor = number | Text | Uint8Array | Map<number | Text, Cbor>;

const head = (major: number, n: number): Buffer => {
  if (n < 24) return Buffer.from([(major << 5) | n]);
  if (n < 256) return Buffer.from([(major << 5) | 24, n]);
  return Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
};

/** Encodes CBOR (RFC 8949), limited to what passkeys use. */
const toCbor = (value: Cbor): Buffer => {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    return Buffer.concat([head(5, value.size), ...[...value].flatMap((pair) => pair.map(toCbor))]);
  }
  return Buffer.concat([head(2, value.byteLength), value]);
};

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();
const base64url = (data: Uint8Array | ArrayBuffer): string => Buffer.from(data as Uint8Array).toString("base64url");
const bytesOf = (part: string | undefined): Buffer => Buffer.from(part ?? "", "base64url");

const kinds = {
  ES256: { make: { name: "ECDSA", namedCurve: "P-256" }, sign: { name: "ECDSA", hash: "SHA-256" } },
  EdDSA: { make: { name: "Ed25519" }, sign: { name: "Ed25519" } },
  RS256: {
    make: {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 2_048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    sign: { name: "RSASSA-PKCS1-v1_5" },
  },
} as const;
export type KeyKind = keyof typeof kinds;

type KeyPair = { publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey };
const makeKeys = async (kind: KeyKind): Promise<KeyPair> =>
  (await webcrypto.subtle.generateKey(kinds[kind].make, true, ["sign", "verify"])) as KeyPair;

/** Public key in COSE form (RFC 9053). */
const toCose = async (kind: KeyKind, key: webcrypto.CryptoKey): Promise<Buffer> => {
  const { x, y, n, e } = await webcrypto.subtle.exportKey("jwk", key);
  const parts: Record<KeyKind, [number, Cbor][]> = {
    ES256: [[1, 2], [3, -7], [-1, 1], [-2, bytesOf(x)], [-3, bytesOf(y)]], // biome-ignore format: a table
    EdDSA: [[1, 1], [3, -8], [-1, 6], [-2, bytesOf(x)]], // biome-ignore format: a table
    RS256: [[1, 3], [3, -257], [-1, bytesOf(n)], [-2, bytesOf(e)]], // biome-ignore format: a table
  };
  return toCbor(new Map(parts[kind]));
};

/** Converts a signature to ASN.1, as authenticators send it. WebCrypto returns r and s side by side. */
const toDer = (signature: Buffer): Buffer => {
  const integer = (part: Buffer) => {
    const bare = part.subarray(part.findIndex((byte) => byte !== 0));
    const positive = (bare[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bare]) : bare;
    return Buffer.concat([Buffer.from([2, positive.length]), positive]);
  };
  const parts = Buffer.concat([integer(signature.subarray(0, 32)), integer(signature.subarray(32))]);
  return Buffer.concat([Buffer.from([48, parts.length]), parts]);
};

type Options = { challenge: string; rp?: { id: string }; rpId?: string; user?: { id: string } };

export const makeAuthenticator = async (
  origin: string,
  {
    kind = "ES256",
    counts = true,
    isSynced = false,
  }: { kind?: KeyKind /** Each use raises its counter. */; counts?: boolean; isSynced?: boolean } = {},
) => {
  const [keys, others] = [await makeKeys(kind), await makeKeys(kind)];
  const id = randomBytes(32).toString("base64url");
  const travels = isSynced ? flags.mayTravel | flags.hasCopies : 0;
  const verified = flags.present | flags.verified | travels;
  let counter = 0;
  let handle: string | undefined;

  const clientData = (type: string, { challenge }: Options, tweak: Tweak): string =>
    JSON.stringify({
      type: tweak.type ?? type,
      challenge: tweak.challenge ?? challenge,
      origin: tweak.origin ?? origin,
      crossOrigin: false,
    });

  const authenticatorData = (rpId: string, flagBits: number, tweak: Tweak, more: Uint8Array[] = []): Buffer => {
    if (counts) counter++;
    const rest = Buffer.alloc(5);
    rest.writeUInt8(tweak.flags ?? flagBits);
    rest.writeUInt32BE(tweak.counter ?? counter, 1);
    return Buffer.concat([sha256(tweak.rpId ?? rpId), rest, ...more]);
  };

  const credential = { id, rawId: id, type: "public-key", clientExtensionResults: {} };

  return {
    id,
    /** Answers registration options. */
    create: async (options: Options, tweak: Tweak = {}) => {
      handle = options.user?.id;
      const length = Buffer.from([0, bytesOf(id).length]);
      const made = [Buffer.alloc(16), length, bytesOf(id), await toCose(kind, keys.publicKey)];
      const authData = authenticatorData(options.rp?.id ?? "", verified | flags.attested, tweak, made);
      const attestation = new Map<Text, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData],
      ]);
      return {
        ...credential,
        authenticatorAttachment: "platform",
        response: {
          clientDataJSON: base64url(Buffer.from(clientData("webauthn.create", options, tweak))),
          attestationObject: base64url(toCbor(attestation)),
          transports: ["internal", "hybrid"],
        },
      };
    },
    /** Answers request options. */
    get: async (options: Options, tweak: Tweak = {}) => {
      const clientDataJson = clientData("webauthn.get", options, tweak);
      const data = authenticatorData(options.rpId ?? "", verified, tweak);
      const signed = Buffer.concat([data, sha256(clientDataJson)]);
      const key = (tweak.isForged ? others : keys).privateKey;
      const signature = Buffer.from(await webcrypto.subtle.sign(kinds[kind].sign, key, signed));
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(Buffer.from(clientDataJson)),
          authenticatorData: base64url(data),
          signature: base64url(kind === "ES256" ? toDer(signature) : signature),
          userHandle: "userHandle" in tweak ? tweak.userHandle : handle,
        },
      };
    },
  };
};
export type Authenticator = Awaited<ReturnType<typeof makeAuthenticator>>;
