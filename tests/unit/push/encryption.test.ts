import { createECDH, randomBytes } from "node:crypto";
import { decrypt } from "http_ece";
import { expect, test } from "vitest";
import { pushPayloadMaxBytes } from "#contract/limits/push.ts";
import { decodeBase64Url, encryptPush, isCurvePoint } from "#worker/lib/push/encryption.ts";

/** Device with keys of its own, which decrypts with an implementation that is not ours. */
const makeDevice = () => {
  const keys = createECDH("prime256v1");
  const [p256dh, auth] = [keys.generateKeys("base64url"), randomBytes(16).toString("base64url")];
  const open = (body: Uint8Array): string =>
    decrypt(Buffer.from(body), { version: "aes128gcm", privateKey: keys, authSecret: auth }).toString();
  return { keys: { p256dh, auth }, open };
};

test("the example of RFC 8291 (appendix A) is encrypted to the same bytes", async () => {
  const point = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
  const bytes = Buffer.from(point, "base64url");
  const [x, y] = [bytes.subarray(1, 33).toString("base64url"), bytes.subarray(33).toString("base64url")];
  const curve = { name: "ECDH", namedCurve: "P-256" } as const;
  const jwk = { kty: "EC", crv: "P-256", x, y, d: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw" };
  const senderKeys = {
    publicKey: await crypto.subtle.importKey("raw", bytes, curve, true, []),
    privateKey: await crypto.subtle.importKey("jwk", jwk, curve, false, ["deriveBits"]),
  };
  const device = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const body = await encryptPush(device, "When I grow up, I want to be a watermelon", {
    senderKeys,
    salt: decodeBase64Url("DGv6ra1nlYgDCS1FRnbzlw"),
  });
  expect(Buffer.from(body).toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test.each([1, 2, 254, 255, 256, 3_839, 3_840, 3_992, pushPayloadMaxBytes])(
  "a device decrypts %i bytes",
  async (length) => {
    const { keys, open } = makeDevice();
    const text = "x".repeat(length);
    const body = await encryptPush(keys, text);
    expect(open(body)).toBe(text);
    expect(body.length).toBeLessThanOrEqual(4_096);
  },
);

test("the longest content fills the largest body, and one byte more is refused", async () => {
  const { keys } = makeDevice();
  expect((await encryptPush(keys, "x".repeat(pushPayloadMaxBytes))).length).toBe(4_096);
  await expect(encryptPush(keys, "x".repeat(pushPayloadMaxBytes + 1))).rejects.toThrow(RangeError);
  await expect(encryptPush(keys, "é".repeat(pushPayloadMaxBytes / 2 + 1))).rejects.toThrow(RangeError);
});

test("texts of up to 255 bytes are equally long when encrypted, and no two results are equal", async () => {
  const { keys } = makeDevice();
  const [short, long, again] = [
    await encryptPush(keys, "x"),
    await encryptPush(keys, "x".repeat(255)),
    await encryptPush(keys, "x"),
  ];
  expect(short.length).toBe(long.length);
  expect(Buffer.from(short).equals(Buffer.from(again))).toBe(false);
});

test("another device cannot decrypt it, and neither can anybody after a changed byte", async () => {
  const [device, other] = [makeDevice(), makeDevice()];
  const body = await encryptPush(device.keys, "Mbote");
  expect(() => other.open(body)).toThrow();
  body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
  expect(() => device.open(body)).toThrow();
});

test("a key that is not on the curve is recognised", async () => {
  expect(await isCurvePoint(makeDevice().keys.p256dh)).toBe(true);
  expect(await isCurvePoint(Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString("base64url"))).toBe(false);
});
