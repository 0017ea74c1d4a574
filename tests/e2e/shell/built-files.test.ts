import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { makeSecrets, toEnvFile } from "#scripts/local/secrets.mjs";
import { bin, toolEnv } from "#scripts/run.mjs";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { root } from "#tests/support/server/state.ts";

/** Upload of `npm run deploy`, built on a machine with secrets in its file and in its environment. */

const sources = readdirSync(root).filter(
  (name) => !/^(\.git|\.data|\.reports|\.wrangler|node_modules|dist.*|test-results|\.dev\.vars)$/.test(name),
);

const secrets = { ...makeSecrets(), OIDC_SECRETS: JSON.stringify({ elsewhere: "a-secret-of-another-provider" }) };
let checkout: string;
let dist: string;

test.beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), "lisolo-built-"));
  dist = join(checkout, "dist");
  for (const name of sources) cpSync(join(root, name), join(checkout, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  writeFileSync(join(checkout, ".dev.vars"), toEnvFile(secrets));
  execFileSync(join(bin, "node"), ["scripts/build/build.mjs"], {
    cwd: checkout,
    env: toolEnv({ ...secrets, VITE_PEPPER: secrets.PEPPER }),
    stdio: "pipe",
  });
});
test.afterAll(() => rmSync(checkout, { recursive: true, force: true }));

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const readBuilt = (path: string): string => {
  const bytes = readFileSync(path);
  if (path.endsWith(".br")) return brotliDecompressSync(bytes).toString("latin1");
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1");
};

test("the build contains no secret, no key and no mailbox, in scripts and in source maps", () => {
  const { d, kid, x } = JSON.parse(secrets.JWT_PRIVATE_JWK) as { d: string; kid: string; x: string };
  const values = [...Object.values(secrets), d, kid, x, "a-secret-of-another-provider"];
  const files = listFiles(dist);
  // The plugin's copy for local servers, which is neither uploaded nor served.
  const local = files.filter((file) => file.endsWith(".dev.vars"));
  expect(local.map((file) => file.slice(dist.length + 1))).toEqual(["lisolo/.dev.vars"]);

  for (const file of local) expect(statSync(file).mode & 0o077).toBe(0);

  const built = files.filter((file) => !local.includes(file));
  expect(built.filter((file) => /dist\/maps\/assets\/.*\.js\.map$/.test(file)).length).toBeGreaterThan(5);
  expect(built.filter((file) => /dist\/client\/.*\.map$/.test(file))).toEqual([]);
  expect(built.filter((file) => /lisolo\/.*\.js$/.test(file)).length).toBeGreaterThan(0);
  for (const file of built) {
    const text = readBuilt(file);
    const name = file.slice(dist.length + 1);
    const found = values.filter((value) => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1)));
    expect({ name, found }).toEqual({ name, found: [] });
    expect({
      name,
      key: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\\rn\s]*[A-Za-z0-9+/]{40}|"d":\s*"[\w-]{43}"/.exec(text)?.[0],
    }).toEqual({ name });
    // Names that only the Worker knows, and names of local folders, must not appear in browser files.
    const named = [...Object.keys(secrets), checkout].filter((secret) => text.includes(secret));
    if (/^(client|maps)\//.test(name)) expect({ name, named }).toEqual({ name, named: [] });
    expect({ name, mailbox: text.includes("Mails of this machine") && !name.endsWith(".map") }).toEqual({
      name,
      mailbox: false,
    });
  }
  expect(readFileSync(join(dist, "lisolo", "wrangler.json"), "utf8")).not.toMatch(/\/dev\/(mail|sms|clock)/);
});

/** Strings that reveal the development mailbox. */
const traces =
  /dev\/(mail|sms)|(Mails|Messages) of this machine|local:sms|LOCAL_MAILBOX|LOCAL_LIMIT_FACTOR|PUSH_RELAY|dev\/clock/;

const readScripts = (folder: string): string[] =>
  listFiles(folder)
    .filter((path) => /\.(js|json)$/.test(path))
    .map((path) => readFileSync(path, "utf8"));

test("the deployed bundle does not contain the mailbox, which a local server shows", async ({ request }) => {
  expect(readFileSync(join(root, "scripts", "deploy.mjs"), "utf8")).not.toMatch(/mailbox/i);
  const texts = readScripts(join(dist, "lisolo"));
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.filter((text) => traces.test(text)).map((text) => traces.exec(text)?.[0])).toEqual([]);
  expect(texts.some((text) => text.includes("MAIL_FROM is empty"))).toBe(true);
  // The same search finds it in the build that these tests run on.
  expect(readScripts(join(root, "dist", "lisolo")).some((text) => traces.test(text))).toBe(true);
  const page = await request.get("/dev/mail");
  expect(page.headers()["content-type"]).toContain("text/html");
  expect(await page.text()).toContain("Mails of this machine");
});
