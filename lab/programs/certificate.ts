import { execFileSync } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { makeFolder } from "#lab/folder.ts";

/** Paths of a self-signed certificate and its key, for an address or a name. `keyHash`: SHA-256 of the public key, in base64. */
export type Certificate = { path: string; keyPath: string; keyHash: string };

export function makeCertificate(host: string): Certificate {
  const folder = makeFolder();
  const [path, keyPath] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"],
      ...["-subj", `/CN=${host}`, "-addext", `subjectAltName=${isIP(host) ? "IP" : "DNS"}:${host}`],
      ...["-keyout", keyPath, "-out", path],
    ],
    { stdio: "pipe" },
  );
  const { publicKey } = new X509Certificate(readFileSync(path));
  const keyHash = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
  return { path, keyPath, keyHash };
}
