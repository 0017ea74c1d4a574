import type { ConversationId } from "#contract/ids.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { type ConversationHead, subscribeNewestHeads } from "#sync/hooks/new-messages.ts";
import {
  decideNotification,
  initialNotificationState,
  type NotificationContext,
  type NotificationState,
} from "./notification-policy.ts";
import { SpeakerTabLock } from "./speaker-tab-lock.ts";

const settleMs = 3_000; // messages within this time after connecting may be a backlog
const maxSettleMs = 15_000;
const unfocusedDelayMs = 150;
const hiddenTabDelayMs = 500; // visible tabs get the lock first
const catchingUpDelayMs = 1_000; // the messages of an absence arrive before what another device has read of them

type NewMessageWatchOptions = {
  /** Server time at which the page could first receive messages; this module is loaded later. */
  openedAt: number;
  /** Returns the state of the page, except for what this module tracks itself. */
  getContext(): Omit<NotificationContext, "now" | "phase" | "freshAfter" | "isVisible">;
  hasFocus(): boolean;
  canPlaySound(): boolean;
  playSound(): void;
  showBanner(conversation: ConversationId): void;
  recordDuringCall(conversations: readonly ConversationId[]): void;
};

/** Announces new messages in this tab: sound, banner, list behind a call. Returns a function that stops it. */
export const notifyOfNewMessages = ({ client, userId }: SyncEngine, options: NewMessageWatchOptions): (() => void) => {
  const { platform, link } = client;
  const speakerLock = new SpeakerTabLock(platform, `lisolo-news-${userId}`);
  let state: NotificationState = initialNotificationState;
  let newest: readonly ConversationHead[] = [];
  let phase: NotificationContext["phase"] = { name: "opening", since: platform.now() };
  let freshAfter = options.openedAt;
  let cancelSettling = () => {};
  let isStopped = false;

  const settle = () => {
    cancelSettling();
    if (phase.name === "synced" || link.get() !== "online") return;
    cancelSettling = platform.startTimer(settleMs, () => {
      phase = { name: "synced", since: platform.now() };
    });
  };
  const onAbsence = () => {
    if (phase.name === "synced") phase = { name: "catching-up", since: platform.now() };
    freshAfter = Number.POSITIVE_INFINITY;
    settle();
  };
  const onLinkChange = () => {
    if (link.get() === "online") settle();
    else onAbsence();
  };

  const playSoundIfSpeaker = async (conversations: readonly ConversationId[]): Promise<void> => {
    const isStillNew = newest.some(({ id, unread }) => unread > 0 && conversations.includes(id));
    if (isStopped || !isStillNew || !options.canPlaySound() || !(await speakerLock.acquire())) return;
    options.playSound();
  };

  const onHeads = (heads: readonly ConversationHead[]) => {
    newest = heads;
    const isVisible = platform.isVisible();
    const previousHeads = state.heads;
    const decision = decideNotification(state, heads, {
      ...options.getContext(),
      now: platform.now(),
      phase,
      freshAfter,
      isVisible,
    });
    state = decision.state;
    if (decision.isBurst && platform.now() - phase.since < maxSettleMs) settle(); // more may follow
    if (decision.isForOpenChat) void speakerLock.acquire();
    if (decision.playsSound) {
      const tabDelayMs = !isVisible ? hiddenTabDelayMs : options.hasFocus() ? 0 : unfocusedDelayMs;
      const delayMs = phase.name === "catching-up" ? catchingUpDelayMs + tabDelayMs : tabDelayMs;
      const conversations = heads.filter(({ id, head }) => head > (previousHeads.get(id) ?? 0)).map(({ id }) => id);
      platform.startTimer(delayMs, () => void playSoundIfSpeaker(conversations));
    }
    if (decision.banner) options.showBanner(decision.banner);
    if (decision.duringCall.length > 0) options.recordDuringCall(decision.duringCall);
  };

  settle();
  const unsubscribers = [link.subscribe(onLinkChange), platform.onWake(onAbsence), subscribeNewestHeads(onHeads)];
  return () => {
    isStopped = true;
    cancelSettling();
    for (const unsubscribe of unsubscribers) unsubscribe();
  };
};
