import { readdirSync, readFileSync } from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { root } from "#tests/support/server/state.ts";

const folder = join(root, "dist", "client", "assets");

/** Transferred body of an answer: nothing here decodes it. */
const ask = (url: string, encoding: string) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    get(url, { headers: { "accept-encoding": encoding } }, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    }).on("error", reject);
  });

test("every script and style of the client is sent as the build compressed it", async ({ server }) => {
  const names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name));
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    const { status, headers, body } = await ask(`${server.origin}/assets/${name}`, "br");
    expect({ name, status, encoding: headers["content-encoding"] }).toEqual({ name, status: 200, encoding: "br" });
    expect(headers["content-type"]).toBe(`text/${name.endsWith(".js") ? "javascript" : "css"}; charset=utf-8`);
    expect(headers["cache-control"]).toContain("max-age=31536000, immutable");
    expect(headers["vary"]).toBe("accept-encoding");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["content-security-policy"]).toBe("default-src 'none'");
    expect(Object.entries(headers).join().length).toBeLessThan(600); // sent with every file
    expect(body.equals(readFileSync(join(folder, `${name}.br`)))).toBe(true);
    expect(brotliDecompressSync(body).equals(readFileSync(join(folder, name)))).toBe(true);
  }
  const plain = await ask(`${server.origin}/assets/${names[0]}`, "identity");
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.body.equals(readFileSync(join(folder, names[0] ?? "")))).toBe(true);
});

test("the pictures of a notification are not requested again for each one", async ({ server }) => {
  for (const name of ["icon-192.png", "badge-96.png"]) {
    const { status, headers } = await ask(`${server.origin}/${name}`, "br");
    expect({ name, status, caching: headers["cache-control"] }).toEqual({
      name,
      status: 200,
      caching: "public, max-age=604800",
    });
  }
});

test("a browser decodes the compressed files, and loads no more bytes than them", async ({ page, context }) => {
  // Browsers name gzip first, and Wrangler's server would then recompress with gzip, as the edge does not.
  await page.setExtraHTTPHeaders({ "accept-encoding": "br" });
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  const paths = new Map<string, string>();
  const sizes: Record<string, number> = {};
  devtools.on("Network.responseReceived", ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    if (pathname.startsWith("/assets/")) paths.set(requestId, pathname.slice("/assets/".length));
  });
  devtools.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    const name = paths.get(requestId);
    if (name) sizes[name] = (sizes[name] ?? 0) + encodedDataLength;
  });
  await page.goto("/login?lang=fr");
  await page.locator("[type=submit]").click();
  await expect(page.getByText(textsOf.fr.auth.fillAllFields)).toBeVisible();
  expect(Object.keys(sizes).length).toBeGreaterThan(3);
  for (const [name, size] of Object.entries(sizes)) {
    const least = readFileSync(join(folder, `${name}.br`)).length;
    expect({ name, size: size - least < 500 ? "least" : size }).toEqual({ name, size: "least" });
  }
});

/** Icons on the page, each with the picture that masks it. */
const iconsOf = (page: Page) =>
  page.evaluate(() => {
    const shown = [...document.querySelectorAll("[class*='i-ph-']")].filter((icon) => icon.getClientRects().length > 0);
    return shown.map((icon) => {
      const name = /i-ph-[a-z-]+/.exec(icon.className)?.[0];
      return { name, isDrawn: getComputedStyle(icon).getPropertyValue("-webkit-mask-image").startsWith("url(") };
    });
  });

test("the icons of later screens are loaded together with them, and fetched again when that failed", async ({
  browser,
  server,
}) => {
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const expectDrawnIcons = async () => {
    await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
    await expect.poll(async () => (await iconsOf(page)).filter(({ isDrawn }) => !isDrawn)).toEqual([]);
  };
  let failures = 0;
  await page.route("**/assets/*later-icons-*", (route) => (++failures > 2 ? route.continue() : route.abort()));
  await phone.signIn(await makePerson(toSite(server), 71), "/app/profile");
  await expectDrawnIcons();
  expect(failures).toBeGreaterThan(2);
  await expect(page.getByRole("button", { name: texts.profile.signOut, exact: true })).toBeVisible();
  // A later part of the app also loads the stylesheet with its icons, which the page itself does not reference.
  const laterSheets = await page.evaluate(async () => {
    const html = await (await fetch(location.href)).text();
    const paths = [...document.styleSheets].flatMap(({ href }) => (href ? [new URL(href).pathname] : []));
    return paths.filter((path) => !html.includes(path)).length;
  });
  expect(laterSheets).toBe(1);
  expect(await iconsOf(page)).toContainEqual({ name: "i-ph-sign-out", isDrawn: true });

  for (const path of ["/app", "/app/contacts", "/app/senga"]) {
    await page.goto(path);
    await expectDrawnIcons();
  }
  await phone.close();
});
