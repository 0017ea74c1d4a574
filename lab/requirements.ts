import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const tools = ["ip", "unshare", "nsenter", "setpriv", "python3", "openssl"];

const isInstalled = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

/** Lists what this machine lacks for the laboratory's network, as readable text. */
export function listMissingRequirements(): string[] {
  if (process.platform !== "linux") return ["Linux: its network namespaces are what the networks are made of"];
  const missing = tools.filter((name) => !isInstalled(name)).map((name) => `${name} on the PATH`);
  if (process.getuid?.() !== 0) missing.push("root: only root makes network namespaces");
  if (!existsSync("/dev/net/tun")) missing.push("/dev/net/tun");
  return missing;
}
