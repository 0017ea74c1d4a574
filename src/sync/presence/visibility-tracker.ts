import type { Uuid } from "#contract/ids.ts";
import type { SocketSession } from "#sync/connection/socket-session.ts";
import type { Platform } from "#sync/platform/platform.ts";

const visibilityTtlMs = 45_000; // a tab that crashed reports nothing more

/** Visibility of the person's tabs in this browser. The leader reports to the server whether any of them is visible. */
export class VisibilityTracker {
  readonly #platform: Platform;
  readonly #session: Pick<SocketSession, "sendVisibility" | "probe">;
  /** Visible tabs with the function that cancels their expiry. */
  readonly #visibleTabs = new Map<Uuid, () => void>();

  constructor(platform: Platform, session: Pick<SocketSession, "sendVisibility" | "probe">) {
    this.#platform = platform;
    this.#session = session;
  }

  /** Reports the visibility on a new socket, which starts as not visible. */
  handleWelcome(): void {
    if (this.#visibleTabs.size > 0) this.#session.sendVisibility(true);
  }

  setTabVisible(tab: Uuid, isVisible: boolean): void {
    const wasAnyVisible = this.#visibleTabs.size > 0;
    this.#visibleTabs.get(tab)?.();
    this.#visibleTabs.delete(tab);
    if (isVisible)
      this.#visibleTabs.set(
        tab,
        this.#platform.startTimer(visibilityTtlMs, () => this.setTabVisible(tab, false)),
      );
    const isAnyVisible = this.#visibleTabs.size > 0;
    if (isAnyVisible !== wasAnyVisible) this.#session.sendVisibility(isAnyVisible);
    // A leader in the background has slow timers: the probe is the server's sign of life while another tab is visible.
    if (isVisible && !this.#platform.isVisible()) this.#session.probe();
  }

  stop(): void {
    for (const cancel of this.#visibleTabs.values()) cancel();
    this.#visibleTabs.clear();
  }
}
