import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { makeSecrets, toEnvFile } from "#scripts/local/secrets.mjs";
import { bin, toolEnv } from "#scripts/run.mjs";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { root } from "#tests/support/server/state.ts";

/** Upload of `npm run deploy`, built on a machine with secrets in its file and in its environment. */

const sources = readdirSync(root).filter(
  (name) => !/^(\.git|\.data|\.reports|\.wrangler|node_modules|dist.*|test-results|\.dev\.vars)$/.test(name),
);

const readBuilt = (path: string): string => {
  const bytes = readFileSync(path);
  if (path.endsWith(".br")) return brotliDecompressSync(bytes).toString("latin1");
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("latin1");
};

test("the build contains no secret, no key and no mailbox, in scripts and in source maps", () => {
  const checkout = mkdtempSync(join(tmpdir(), "lisolo-built-"));
  try {
    for (const name of sources) cpSync(join(root, name), join(checkout, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
    const secrets = { ...makeSecrets(), OIDC_SECRETS: JSON.stringify({ elsewhere: "a-secret-of-another-provider" }) };
    writeFileSync(join(checkout, ".dev.vars"), toEnvFile(secrets));
    execFileSync(join(bin, "node"), ["scripts/build/build.mjs"], {
      cwd: checkout,
      env: toolEnv({ ...secrets, VITE_PEPPER: secrets.PEPPER }),
      stdio: "pipe",
    });

    const { d, kid, x } = JSON.parse(secrets.JWT_PRIVATE_JWK) as { d: string; kid: string; x: string };
    const values = [...Object.values(secrets), d, kid, x, "a-secret-of-another-provider"];
    const dist = join(checkout, "dist");
    const files = readdirSync(dist, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
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
    expect(readFileSync(join(dist, "lisolo", "wrangler.json"), "utf8")).not.toMatch(/\/dev\/(mail|clock)/);
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});
