import { generateKeyPairSync, sign } from "node:crypto";

/** Encoding of ASN.1 values (X.690, DER) as far as a certificate needs it. */
const encode = (tag: number, content: Uint8Array): Buffer => {
  const { length } = content;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
};
const sequence = (...parts: Uint8Array[]): Buffer => encode(0x30, Buffer.concat(parts));
const objectId = (...bytes: number[]): Buffer => encode(0x06, Buffer.from(bytes));
const utcTime = (year: number): Buffer =>
  encode(0x17, Buffer.from(`${String(year % 100).padStart(2, "0")}0101000000Z`));

const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = objectId(0x55, 0x04, 0x03);
const version3 = encode(0xa0, encode(0x02, Buffer.from([2])));

/** Key and certificate (X.509) of localhost for a server of a test. Clients must not verify it. */
export const makeSelfSignedCertificate = (): { key: string; cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(encode(0x31, sequence(commonName, encode(0x0c, Buffer.from("localhost")))));
  const year = new Date().getUTCFullYear();
  const content = sequence(
    version3,
    encode(0x02, Buffer.from([1])), // serial number
    ecdsaWithSha256,
    name,
    sequence(utcTime(year - 1), utcTime(year + 2)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]);
  const certificate = sequence(content, ecdsaWithSha256, encode(0x03, signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
};
