import { createHmac } from "node:crypto";
import { join } from "node:path";
import { makeFolder, removeFolder } from "#lab/folder.ts";
import type { NetworkNode } from "#lab/network/network.ts";
import type { Certificate } from "./certificate.ts";
import { requireProgram } from "./debian.ts";

const port = 3478;
const tlsPort = 443;
const startMs = 10_000;

/** Relay with a shared secret, as the product's adapter expects it. */
export type Relay = {
  /** Address, with the port if it has no TLS. */
  host: string;
  secret: string;
  /** ICE servers with credentials as the product's server mints them; secret and expiry can be overridden. */
  iceServers(other?: { secret?: string; expiresAt?: number }): RTCIceServer[];
  log(): string;
};

/** Starts coturn; with a certificate for its address it also speaks TLS. */
export async function startRelay(end: NetworkNode, address: string, certificate?: Certificate): Promise<Relay> {
  const { path, env } = requireProgram("turnserver", { package: "coturn", path: "usr/bin/turnserver" });
  const secret = "only-for-the-laboratory";
  const folder = makeFolder();
  const args = [
    ...["-n", "--no-cli", "--no-dtls", "--log-file=stdout", "--simple-log", "--pidfile="],
    ...["--use-auth-secret", `--static-auth-secret=${secret}`, "--realm=lab.invalid", "--fingerprint"],
    ...[
      `--listening-ip=${address}`,
      `--relay-ip=${address}`,
      `--listening-port=${port}`,
      `--userdb=${join(folder, "users")}`,
    ],
    ...(certificate
      ? [`--tls-listening-port=${tlsPort}`, `--cert=${certificate.path}`, `--pkey=${certificate.keyPath}`]
      : ["--no-tls"]),
  ];
  const child = end.namespace.spawn(path, args, env);
  child.once("exit", () => removeFolder(folder));
  let log = "";
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`coturn did not start\n${log}`)), startMs);
    const read = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-100_000);
      if (!log.includes("(admin thread)")) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`coturn ended\n${log}`)));
    child.once("error", reject);
  });
  return {
    host: certificate ? address : `${address}:${port}`,
    secret,
    iceServers({ secret: key = secret, expiresAt = Date.now() / 1000 + 7_200 } = {}) {
      const username = `${Math.floor(expiresAt)}:somebody`;
      const credential = createHmac("sha1", key).update(username).digest("base64");
      const plain = `turn:${address}:${port}?transport=`;
      const secured = certificate ? [`turns:${address}:${tlsPort}?transport=tcp`] : [];
      return [{ urls: [`${plain}udp`, `${plain}tcp`, ...secured], username, credential }];
    },
    log: () => log,
  };
}
