import type { ConversationId } from "#contract/ids.ts";
import type { SyncEngine } from "#sync/engine.ts";
import { type ConversationHead, subscribeNewestHeads } from "#sync/hooks/new-messages.ts";
import {
  decideNotification,
  initialNotificationState,
  type NotificationContext,
  type NotificationState,
} from "./notification-policy.ts";
import { SpeakerTabLock } from "./speaker-tab-lock.ts";

const settleMs = 3_000; // after the link came, or the page, what comes may be old
const maxSettleMs = 15_000;
const unfocusedDelayMs = 150;
const hiddenTabDelayMs = 500; // a tab that is looked at comes first

type NewMessageWatchOptions = {
  /** When this page could first be reached, by the server's clock: the code for this comes later. */
  openedAt: number;
  /** What the page is like now, but for what is known here. */
  getContext(): Omit<NotificationContext, "now" | "phase" | "freshAfter" | "isVisible">;
  hasFocus(): boolean;
  canPlaySound(): boolean;
  playSound(): void;
  showBanner(conversation: ConversationId): void;
  recordDuringCall(conversations: readonly ConversationId[]): void;
};

/** Speaks of what arrives in one tab, until it is stopped. */
export const notifyOfNewMessages = ({ tab, userId }: SyncEngine, options: NewMessageWatchOptions): (() => void) => {
  const { platform, link } = tab;
  const turn = new SpeakerTabLock(platform, `lisolo-news-${userId}`);
  let memory: NotificationState = initialNotificationState;
  let newest: readonly ConversationHead[] = [];
  let phase: NotificationContext["phase"] = { name: "opening", since: platform.now() };
  let freshFrom = options.openedAt;
  let cancelSettling = () => {};
  let isStopped = false;

  const settle = () => {
    cancelSettling();
    if (phase.name === "level" || link.get() !== "online") return;
    cancelSettling = platform.startTimer(settleMs, () => {
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
    if (isStopped || !isStillNew || !options.canPlaySound() || !(await turn.acquire())) return;
    options.playSound();
  };

  const judge = (heads: readonly ConversationHead[]) => {
    newest = heads;
    const isVisible = platform.isVisible();
    const before = memory.heads;
    const verdict = decideNotification(memory, heads, {
      ...options.getContext(),
      now: platform.now(),
      phase,
      freshAfter: freshFrom,
      isVisible,
    });
    memory = verdict.state;
    if (verdict.isBurst && platform.now() - phase.since < maxSettleMs) settle(); // more may follow
    if (verdict.isForOpenChat) void turn.acquire();
    if (verdict.playsSound) {
      const delayMs = !isVisible ? hiddenTabDelayMs : options.hasFocus() ? 0 : unfocusedDelayMs;
      const sounding = heads.filter(({ id, head }) => head > (before.get(id) ?? 0)).map(({ id }) => id);
      platform.startTimer(delayMs, () => void speak(sounding));
    }
    if (verdict.banner) options.showBanner(verdict.banner);
    if (verdict.duringCall.length > 0) options.recordDuringCall(verdict.duringCall);
  };

  settle();
  const endings = [link.subscribe(followLink), platform.onWake(beginAgain), subscribeNewestHeads(judge)];
  return () => {
    isStopped = true;
    cancelSettling();
    for (const end of endings) end();
  };
};
