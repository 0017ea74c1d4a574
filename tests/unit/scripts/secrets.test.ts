import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecrets, requireSecrets, secretNames, toEnvFile } from "#scripts/local/secrets.mjs";
import { toolEnv } from "#scripts/run.mjs";
import { requiredSecrets } from "#worker/lib/required-secrets.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let checkout: string;
/** A separate checkout, as far as `npm start` gets without secrets. */
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), "lisolo-secrets-"));
  for (const name of ["scripts", "package.json", "package-lock.json", "wrangler.toml"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

const start = (secrets: Record<string, string>, script: string) => {
  writeFileSync(join(checkout, ".dev.vars"), toEnvFile(secrets));
  const node = join(root, "node_modules", ".bin", "node");
  return spawnSync(node, [join(checkout, "scripts", script), "--port", "8869"], {
    cwd: checkout,
    env: toolEnv(),
    encoding: "utf8",
    timeout: 20_000,
  });
};

/** Secrets whose loss is not repaired silently. */
const irreplaceableNames = secretNames.filter((name) => name !== "VAPID_PRIVATE_JWK");

const [firstName = ""] = irreplaceableNames;
const startsBy = [
  ...irreplaceableNames.map((name) => [name, "missing", "local/start.mjs"] as const),
  [firstName, "empty", "local/start.mjs"],
  [firstName, "missing", "local/dev.mjs"],
] as const;

test.each(startsBy)("with %s %s, %s ends at once, naming the secret and what to do", (name, how, script) => {
  const { [name]: _, ...others } = makeSecrets() as Record<string, string>;
  const { status, stderr, stdout } = start(how === "empty" ? { ...others, [name]: "" } : others, script);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(`Missing secret: ${name}.`);
  const lines = stderr.split("\n").filter((line) => /^\w+='.+'$/.test(line));
  expect(lines.map((line) => line.split("=")[0])).toEqual([name]);
  for (const value of Object.values(others)) expect(stderr).not.toContain(value);

  writeFileSync(join(checkout, ".dev.vars"), `${toEnvFile(others)}${lines.join("\n")}\n`);
  expect(() => requireSecrets(join(checkout, ".dev.vars"))).not.toThrow();
});

test.each(["missing", "empty"])("a secrets file whose push key is %s gets one and keeps everything else", (how) => {
  const path = join(checkout, `${how}.vars`);
  const { VAPID_PRIVATE_JWK: _, ...others } = makeSecrets();
  const before = toEnvFile(others);
  writeFileSync(path, how === "empty" ? `VAPID_PRIVATE_JWK=''\n${before}` : before);
  requireSecrets(path);
  const text = readFileSync(path, "utf8");
  expect(text.startsWith(before)).toBe(true);
  const added = /^VAPID_PRIVATE_JWK='(.+)'\n$/.exec(text.slice(before.length))?.[1] ?? "";
  expect(JSON.parse(added)).toMatchObject({ kty: "EC", crv: "P-256" });
  requireSecrets(path);
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a secrets file once written is unchanged", () => {
  const path = join(checkout, "new.vars");
  requireSecrets(path);
  const made = readFileSync(path, "utf8");
  requireSecrets(path);
  expect(readFileSync(path, "utf8")).toBe(made);
});

test("the secrets have the same names in every place that reads them", () => {
  const config = readFileSync(join(root, "wrangler.toml"), "utf8");
  const required: unknown = JSON.parse(/^required = (\[[^\]]*\])/m.exec(config)?.[1] ?? "null");
  expect(required).toEqual([...secretNames]);
  expect(requiredSecrets).toEqual(irreplaceableNames);
  expect(Object.keys(makeSecrets())).toEqual([...secretNames]);
});
