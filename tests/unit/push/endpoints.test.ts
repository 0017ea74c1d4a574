import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "#scripts/run.mjs";
import { hashPushEndpoint, isAllowedEndpoint } from "#worker/lib/push/endpoints.ts";

/** The list of a new deployment. */
const services = /^PUSH_SERVICES = "([^"]*)"$/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"))?.[1] ?? "";
const env = { PUSH_SERVICES: services };

test.each([
  "https://fcm.googleapis.com/fcm/send/abc:def",
  "https://fcm.googleapis.com:443/fcm/send/abc",
  "https://FCM.googleapis.com/fcm/send/abc",
  "https://jmt17.google.com/fcm/send/abc",
  "https://updates.push.services.mozilla.com/wpush/v2/abc",
  "https://web.push.apple.com/QGuQ",
  "https://wns2-par02p.notify.windows.com/w/?token=abc%3d",
])("%s is a push service", (endpoint) => {
  expect(isAllowedEndpoint(env, endpoint)).toBe(true);
});

test.each([
  // addresses of the server's own network, in every form
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::1]/",
  "https://169.254.169.254/latest/meta-data",
  "https://10.0.0.1/",
  "https://localhost/",
  "https://lisolo.test/api/push/test",
  // hosts that look like one of the list
  "https://fcm.googleapis.com.evil.example/",
  "https://evilfcm.googleapis.com/",
  "https://evil.example/fcm.googleapis.com",
  "https://evil.example?fcm.googleapis.com",
  "https://evil.example#fcm.googleapis.com",
  "https://fcm.googleapis.com.",
  "https://fcm.googleapis.com./",
  "https://fcm.googleapis.com%2eevil.example/",
  "https://push.apple.com/",
  "https://.push.apple.com/",
  "https://evilpush.apple.com/",
  "https://web.push.apple.com.evil.example/",
  "https://google.com/",
  "https://fcm.googleapis.cοm/",
  // credentials, ports, schemes and other forms
  "https://fcm.googleapis.com@evil.example/",
  "https://user:password@fcm.googleapis.com/",
  "https://user@fcm.googleapis.com/",
  "https://fcm.googleapis.com:8443/",
  "https://fcm.googleapis.com:80/",
  "http://fcm.googleapis.com/",
  "ftp://fcm.googleapis.com/",
  "//fcm.googleapis.com/",
  "fcm.googleapis.com",
  "https:fcm.googleapis.com",
  " https://fcm.googleapis.com/",
  "https://fcm.googleapis.com/#fragment",
  "javascript:https://fcm.googleapis.com/",
  "",
  "https://",
  `https://fcm.googleapis.com/${"x".repeat(1_024)}`,
])("%s is not", (endpoint) => {
  expect(isAllowedEndpoint(env, endpoint)).toBe(false);
});

test("the operator's list replaces the usual one, and an empty list allows nothing", () => {
  const own = { PUSH_SERVICES: "  push.example.org\n*.Up.example.net " };
  expect(isAllowedEndpoint(own, "https://push.example.org/a")).toBe(true);
  expect(isAllowedEndpoint(own, "https://a.b.up.example.net/a")).toBe(true);
  expect(isAllowedEndpoint(own, "https://up.example.net/a")).toBe(false);
  expect(isAllowedEndpoint(own, "https://fcm.googleapis.com/a")).toBe(false);
  for (const none of [
    {},
    { PUSH_SERVICES: "" },
    { PUSH_SERVICES: " " },
    { PUSH_SERVICES: "*." },
    { PUSH_SERVICES: "*" },
  ])
    expect(isAllowedEndpoint(none, "https://fcm.googleapis.com/a")).toBe(false);
});

test("the hash of an endpoint depends on the secret and does not contain it", () => {
  const [one, other] = ["a", "b"].map((PEPPER) => hashPushEndpoint({ PEPPER }, "https://web.push.apple.com/x"));
  expect(one).toMatch(/^[\w-]{43}$/);
  expect(one).not.toBe(other);
});
