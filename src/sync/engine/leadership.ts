import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { Retry } from "#sync/platform/retry.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";
import type { Leader, LeaderEvents } from "./leader.ts";
import type { LeaderCommand } from "./tab-channel.ts";

/** Loads the code that talks to the server. Rejects if it cannot be fetched. */
export type LoadServerCode = () => Promise<{ Leader: typeof Leader }>;

/**
 * Leader role of this tab. The code of the connection is loaded once the first screen is drawn, and again after a
 * failure; commands given before wait for it.
 */
export class Leadership {
  readonly #context: SyncContext;
  readonly #loading: Retry;
  #leader: Leader | undefined;
  /** Commands that wait for the leader's code, in the order they were last given. */
  #waiting = new Map<string, LeaderCommand>();

  constructor(context: SyncContext, events: LeaderEvents, loadCode: LoadServerCode) {
    this.#context = context;
    const { platform, link } = context;
    this.#loading = new Retry(platform, async () => {
      if (this.#leader) return "done";
      await platform.waitForFirstScreen();
      const code = await loadCode().catch(() => undefined);
      if (this.#loading.isStopped) return "done";
      link.set(code ? "connecting" : "offline");
      if (!code) return "retry";
      this.#leader = new code.Leader(context, events);
      for (const command of this.#waiting.values()) this.#leader.handleCommand(command);
      this.#waiting.clear();
      return "done";
    });
    this.#loading.schedule();
  }

  /** Carries out a command of any tab, at once or when the leader's code is loaded. */
  handleCommand(command: LeaderCommand): void {
    if (this.#leader) {
      this.#leader.handleCommand(command);
      return;
    }
    const key = JSON.stringify(command);
    this.#waiting.delete(key);
    this.#waiting.set(key, command);
    if (command.type === "resume") this.#loading.runNow();
  }

  /** Sends a request over the socket if it is ready, else by HTTP. Rejects with a SyncError. */
  async request<T extends RequestCommand["type"]>(command: CommandOf<T>): Promise<CommandResults[T]> {
    const { platform } = this.#context;
    await platform.waitForFirstScreen(); // the code would compete with it
    return this.#leader?.request<T>(command) ?? requestByHttp<T>(platform, command as never);
  }

  async stop(): Promise<void> {
    this.#loading.stop();
    await this.#leader?.stop();
  }
}
