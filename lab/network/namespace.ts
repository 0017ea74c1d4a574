import { type ChildProcess, type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, removeFolder } from "#lab/folder.ts";

/**
 * Anonymous network namespace, held open by a process that waits for the end of its input. When this process ends in
 * any way, that one exits too, and the namespace disappears with its last process.
 */
export class Namespace {
  readonly pid: number;
  private readonly holder: ChildProcess;
  private readonly children: ChildProcess[] = [];
  private readonly folder = makeFolder();

  private constructor(holder: ChildProcess, pid: number) {
    this.holder = holder;
    this.pid = pid;
  }

  static async create(): Promise<Namespace> {
    const script =
      "ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && echo made && exec cat > /dev/null";
    const holder = spawn("unshare", ["--net", "sh", "-c", script], { stdio: ["pipe", "pipe", "pipe"] });
    let trouble = "";
    holder.stderr.on("data", (chunk: Buffer) => {
      trouble += chunk.toString();
    });
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once("data", () => resolve());
      holder.once("error", reject);
      holder.once("exit", () => reject(new Error(`A network namespace could not be created: ${trouble.trim()}`)));
    });
    if (holder.pid === undefined) throw new Error("A network namespace could not be created");
    return new Namespace(holder, holder.pid);
  }

  private get nsenterArguments(): string[] {
    return [`--net=/proc/${this.pid}/ns/net`, "--"];
  }

  run(command: string, ...args: string[]): void {
    execFileSync("nsenter", [...this.nsenterArguments, command, ...args], { stdio: "pipe" });
  }

  /** Starts a program in the namespace; it is killed when this process ends. */
  spawn(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): ChildProcessWithoutNullStreams {
    const tiedCommand = ["setpriv", "--pdeathsig", "KILL", command, ...args];
    const child = spawn("nsenter", [...this.nsenterArguments, ...tiedCommand], {
      stdio: ["pipe", "pipe", "pipe"],
      env,
    });
    this.children.push(child);
    return child;
  }

  /** Writes a script that runs `command` inside this namespace, for libraries that start programs themselves. */
  createLauncher(command: string): string {
    const path = join(this.folder, command.replaceAll("/", "-"));
    writeFileSync(path, `#!/bin/sh\nexec nsenter ${this.nsenterArguments.join(" ")} ${command} "$@"\n`);
    chmodSync(path, 0o700);
    return path;
  }

  stop(): void {
    for (const child of this.children) child.kill("SIGKILL");
    this.holder.stdin?.end();
    removeFolder(this.folder);
  }
}
