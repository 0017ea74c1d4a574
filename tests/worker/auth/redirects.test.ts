import { describe, expect, test } from "vitest";
import { findRedirect } from "#worker/auth/providers/redirects.ts";
import type { AppContext } from "#worker/lib/http/app.ts";

const at = (REDIRECT_URLS = ""): AppContext =>
  ({
    req: { url: "https://lisolo.test/api/auth/authorize" },
    env: { REDIRECT_URLS, PUBLIC_URL: "https://lisolo.test" },
  }) as unknown as AppContext;
const others = "https://app.test/callback http://localhost:4321/";

describe("target of a redirect after sign-in", () => {
  test.each(["/", "/app", "/app?x=1#y", "/login", "https://lisolo.test/app", "https://LISOLO.test:443/app"])(
    "may be a path of the product: %s",
    (address) => expect(findRedirect(at(), address)?.origin).toBe("https://lisolo.test"),
  );

  test.each(["https://app.test/callback", "https://app.test/callback?flow=1", "http://localhost:4321/"])(
    "may be a configured address: %s",
    (address) => {
      expect(findRedirect(at(others), address)?.href).toBe(new URL(address).href);
      expect(findRedirect(at(), address)).toBeUndefined();
    },
  );

  test.each([
    "//evil.test",
    "///evil.test",
    "/\\evil.test",
    "\\\\evil.test",
    "\\/evil.test",
    "/\t/evil.test",
    "/\n/evil.test",
    "https://lisolo.test.evil.test/",
    "https://lisolo.test@evil.test/",
    "https://lisolo.test:x@evil.test/",
    "https://someone@lisolo.test/",
    "https://evil.test/https://lisolo.test/",
    "https://evil.test#@lisolo.test",
    "https:evil.test",
    "https:/evil.test",
    "http://lisolo.test/app",
    "https://lisolo.test:8443/app",
    "https://lisolo.test\\.evil.test/",
    "https://lisolo.test%2f@evil.test/",
    "/%2f%2fevil.test",
    "/%5cevil.test",
    "/app%0d%0aSet-Cookie:x=1",
    "/app\r\nset-cookie: x=1",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "blob:https://lisolo.test/x",
    "https://app.test/other",
    "https://app.test/callback/../other",
    "https://app.test:8443/callback",
    "http://app.test/callback",
    "https://app.test.evil.test/callback",
    "http://localhost:4322/",
    "http://localhost/",
    "app",
    "",
    " /app",
  ])("is never %j", (address) => expect(findRedirect(at(others), address)).toBeUndefined());
});
