import type { ConversationId } from "#contract/ids.ts";
import type { MemberLoader, MemberLoaderPorts } from "./member-loader.ts";

/**
 * Fetches group members with code that is loaded with the first request, together with that of the connection. If it
 * cannot be loaded, the requests wait until the state of the connection changes.
 */
export class LazyMemberLoader {
  readonly #ports: MemberLoaderPorts;
  readonly #waiting: [group: ConversationId, numbers: readonly number[]][] = [];
  #loader: MemberLoader | undefined;
  #isLoading = false;

  constructor(ports: MemberLoaderPorts) {
    this.#ports = ports;
    ports.link.subscribe(() => void this.#load());
  }

  requestMembers(group: ConversationId, numbers: readonly number[]): void {
    if (this.#loader) this.#loader.requestMembers(group, numbers);
    else {
      this.#waiting.push([group, numbers]);
      void this.#load();
    }
  }

  async #load(): Promise<void> {
    if (this.#loader || this.#isLoading || this.#waiting.length === 0 || this.#ports.link.get() !== "online") return;
    this.#isLoading = true;
    const code = await import("./member-loader.ts").catch(() => undefined);
    this.#isLoading = false;
    if (!code) return;
    this.#loader = new code.MemberLoader(this.#ports);
    for (const [group, numbers] of this.#waiting.splice(0)) this.#loader.requestMembers(group, numbers);
  }
}
