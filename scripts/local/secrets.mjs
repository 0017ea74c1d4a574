// The Worker's secrets: created once for this machine, or fresh for every test run. Their names are also in
// wrangler.toml.
import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export const secretNames = /** @type {const} */ ([
  "JWT_PRIVATE_JWK",
  "PEPPER",
  "ALTCHA_HMAC_KEY",
  "FACTOR_KEY",
  "VAPID_PRIVATE_JWK",
]);

/**
 * New secrets: an Ed25519 private JWK with its key id, three keys of 32 random bytes in base64url, and a P-256 private JWK
 * that identifies the server to push services (RFC 8292).
 */
export function makeSecrets() {
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = { ...privateKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: randomUUID() };
  const vapid = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  return {
    JWT_PRIVATE_JWK: JSON.stringify(jwk),
    PEPPER: randomBytes(32).toString("base64url"),
    ALTCHA_HMAC_KEY: randomBytes(32).toString("base64url"),
    FACTOR_KEY: randomBytes(32).toString("base64url"),
    VAPID_PRIVATE_JWK: JSON.stringify(vapid),
  };
}

/** @param {Record<string, string>} secrets */
export function toEnvFile(secrets) {
  return Object.entries(secrets)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
}

/** Consequence of replacing each secret, so that nobody creates a new one who could restore the old one. */
const lossByName = {
  JWT_PRIVATE_JWK: "everybody signs in anew",
  PEPPER: "nobody's password is right any more",
  ALTCHA_HMAC_KEY: "nothing is lost",
  FACTOR_KEY: "code apps that were set up before give no right code any more",
  VAPID_PRIVATE_JWK: "devices subscribe to notifications again",
};

/**
 * Adds a new push key to a secrets file from before there was one, or with an empty one. If the file had another key
 * once, devices subscribe again at their next start.
 * @param {string} path
 */
function addPushKey(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const others = lines.filter((line) => !/^\s*VAPID_PRIVATE_JWK\s*=/.test(line)).join("\n");
  const { VAPID_PRIVATE_JWK } = makeSecrets();
  writeFileSync(path, `${others.trimEnd()}\n${toEnvFile({ VAPID_PRIVATE_JWK })}`);
}

/**
 * Creates the file `path` if it does not exist; an existing one is kept, so that sessions survive a restart. Missing
 * secrets other than the push key are never added silently, because a new PEPPER would lock every account out: the error
 * explains how to add them.
 * @param {string} path
 */
export function requireSecrets(path) {
  if (!existsSync(path)) writeFileSync(path, toEnvFile(makeSecrets()), { mode: 0o600 });
  const text = readFileSync(path, "utf8");
  const missing = secretNames.filter((name) => !new RegExp(`^\\s*${name}\\s*=\\s*['"]?[^\\s'"]`, "m").test(text));
  if (missing.length === 0) return;
  if (missing.join() === "VAPID_PRIVATE_JWK") {
    addPushKey(path);
    return;
  }
  const secrets = makeSecrets();
  const instructions = missing.map(
    (name) => `# with a new one ${lossByName[name]}\n${toEnvFile({ [name]: secrets[name] })}`,
  );
  throw new Error(
    `Missing secret: ${missing.join(", ")}. Put back into .dev.vars what was there, or these lines:\n\n${instructions.join("")}`,
  );
}
