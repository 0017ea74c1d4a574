import { expect, test } from "vitest";
import { parseScannedVouching, toVouchingPath } from "#contract/auth/vouching.ts";
import { parseScannedLink, toLinkPath } from "#contract/names/personal-link.ts";

const origin = "https://lisolo.example";
const token = "AbCdEfGhIjKlMnOpQrSt-_";

test("a scanned code leads to a person only if it is a personal link of this site", () => {
  expect(parseScannedLink(origin + toLinkPath(token), origin)).toBe(token);
  for (const other of [
    `${origin}.example.org/u/${token}`,
    `${origin}@example.org/u/${token}`,
    `${origin}:8443/u/${token}`,
    `http://lisolo.example/u/${token}`,
    `${origin}/u/${token}x`,
    `${origin}/u/${token}/../../logout`,
    `${origin}//example.org/u/${token}`,
    `${origin}/app/u/${token}`,
    `javascript:alert("${origin}/u/${token}")`,
    ` ${origin}/u/${token}`,
    "",
  ])
    expect(parseScannedLink(other, origin)).toBeUndefined();
});

test("a scanned code leads to the confirmation of a number only if it is a vouching code of this site", () => {
  const path = toVouchingPath(token);
  expect(parseScannedVouching(origin + path, origin)).toBe(path);
  expect(parseScannedLink(origin + path, origin)).toBeUndefined();
  for (const other of [
    `${origin}.example.org${path}`,
    `${origin}@example.org${path}`,
    `http://lisolo.example${path}`,
    `${origin}${path}x`,
    `${origin}${path}/../../logout`,
    `${origin}${toLinkPath(token)}`,
    path,
    "",
  ])
    expect(parseScannedVouching(other, origin)).toBeUndefined();
});
