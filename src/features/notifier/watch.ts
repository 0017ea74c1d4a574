import type { ConversationId } from "#contract/ids.ts";
import type { Sync } from "#sync/engine.ts";
import { type Head, watchNewest } from "#sync/hooks/new-messages.ts";
import { decide, type Memory, nothingSeen, type Surroundings } from "./decide.ts";
import { Turn } from "./speaker-tab.ts";

const settleMs = 3_000; // after the link came, or the page, what comes may be old
const longestSettlingMs = 15_000;
const otherWindowMs = 150;
const hiddenTabMs = 500; // a tab that is looked at comes first

type Options = {
  /** When this page could first be reached, by the server's clock: the code for this comes later. */
  openedAt: number;
  /** What the page is like now, but for what is known here. */
  look(): Omit<Surroundings, "now" | "phase" | "freshFrom" | "isVisible">;
  hasFocus(): boolean;
  canChime(): boolean;
  chime(): void;
  show(conversation: ConversationId): void;
  noteBehind(conversations: readonly ConversationId[]): void;
};

/** Speaks of what arrives in one tab, until it is stopped. */
export const watchArrivals = ({ tab, userId }: Sync, options: Options): (() => void) => {
  const { platform, link } = tab;
  const turn = new Turn(platform, `lisolo-news-${userId}`);
  let memory: Memory = nothingSeen;
  let newest: readonly Head[] = [];
  let phase: Surroundings["phase"] = { name: "opening", since: platform.now() };
  let freshFrom = options.openedAt;
  let cancelSettling = () => {};
  let isStopped = false;

  const settle = () => {
    cancelSettling();
    if (phase.name === "level" || link.get() !== "online") return;
    cancelSettling = platform.after(settleMs, () => {
      phase = { name: "level", since: platform.now() };
    });
  };
  const beginAgain = () => {
    if (phase.name === "level") phase = { name: "catching-up", since: platform.now() };
    freshFrom = Number.POSITIVE_INFINITY;
    settle();
  };
  const followLink = () => {
    if (link.get() === "online") settle();
    else beginAgain();
  };

  const speak = async (sounding: readonly ConversationId[]): Promise<void> => {
    const isStillNew = newest.some(({ id, unread }) => unread > 0 && sounding.includes(id));
    if (isStopped || !isStillNew || !options.canChime() || !(await turn.take())) return;
    options.chime();
  };

  const judge = (heads: readonly Head[]) => {
    newest = heads;
    const isVisible = platform.isVisible();
    const before = memory.heads;
    const verdict = decide(memory, heads, { ...options.look(), now: platform.now(), phase, freshFrom, isVisible });
    memory = verdict.memory;
    if (verdict.isHeap && platform.now() - phase.since < longestSettlingMs) settle(); // more may follow
    if (verdict.isWatched) void turn.take();
    if (verdict.sounds) {
      const delayMs = !isVisible ? hiddenTabMs : options.hasFocus() ? 0 : otherWindowMs;
      const sounding = heads.filter(({ id, head }) => head > (before.get(id) ?? 0)).map(({ id }) => id);
      platform.after(delayMs, () => void speak(sounding));
    }
    if (verdict.banner) options.show(verdict.banner);
    if (verdict.behind.length > 0) options.noteBehind(verdict.behind);
  };

  settle();
  const endings = [link.subscribe(followLink), platform.onWake(beginAgain), watchNewest(judge)];
  return () => {
    isStopped = true;
    cancelSettling();
    for (const end of endings) end();
  };
};
