import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();
process.on("exit", () => {
  for (const folder of folders) removeFolder(folder);
});

/** Temporary folder, removed at the latest when this process exits. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lisolo-lab-"));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}
