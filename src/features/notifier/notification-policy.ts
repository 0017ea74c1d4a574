import type { ConversationId } from "#contract/ids.ts";
import { isQuiet } from "#contract/settings/quiet-hours.ts";
import type { Settings } from "#contract/settings/settings.ts";
import type { ConversationHead } from "#sync/hooks/new-messages.ts";

/** State kept between decisions. */
export type NotificationState = {
  heads: ReadonlyMap<ConversationId, number>;
  /** Time of the newest message seen so far, server clock. */
  newestAt: number;
  /** Time of the last message that was to be announced, and of the last sound; device clock. */
  lastNewMessageAt: number;
  lastSoundAt: number;
};

export type NotificationContext = {
  now: number;
  /**
   * Synchronization since the page was opened (`opening`) or since an absence (`catching-up`), and the start of the
   * phase.
   */
  phase: { name: "opening" | "catching-up" | "synced"; since: number };
  /** Messages stored after this time were not missed during an absence; server clock, `Infinity` while unknown. */
  freshAfter: number;
  /** True if the tab is visible. */
  isVisible: boolean;
  /** True if this device receives system notifications, which sound by themselves, while no tab is visible. */
  hasSystemNotifications: boolean;
  /** Conversation whose chat this tab shows. */
  openConversation: ConversationId | undefined;
  /** True if a layer, such as a dialog or a picture, covers the page. */
  isCovered: boolean;
  /** True if the conversation list is visible: its rows show new messages. */
  isListShown: boolean;
  /** Call in this browser; `foreground` if its screen covers the app. */
  call: "none" | "background" | "foreground";
  isRecording: boolean;
  settings: Pick<Settings, "messages" | "groups" | "quietHours">;
};

export type NotificationDecision = {
  state: NotificationState;
  playsSound: boolean;
  /** Conversation to show in a banner. */
  banner: ConversationId | undefined;
  /** Conversations with new messages hidden behind a call screen, newest first. */
  duringCall: ConversationId[];
  /** Several messages arrived at once: it may be a backlog. */
  isBurst: boolean;
  /** A message arrived in the chat that is visible here: no other tab needs to announce it. */
  isForOpenChat: boolean;
};

const burstMs = 3_000; // messages within this time of the previous one belong to the same burst
const maxSilentBurstMs = 20_000; // a longer burst sounds again
const maxMessagesPerUpdate = 3;
const clockSkewMs = 60_000; // clock differences between the servers of different conversations

export const initialNotificationState: NotificationState = {
  heads: new Map(),
  newestAt: Number.POSITIVE_INFINITY,
  lastNewMessageAt: Number.NEGATIVE_INFINITY,
  lastSoundAt: Number.NEGATIVE_INFINITY,
};

/** True for an unread message of somebody else. A conversation not seen before counts only if its message is recent. */
const isNewMessage = (
  { id, head, at, unread, isIncoming }: ConversationHead,
  { heads, newestAt }: NotificationState,
  freshAfter: number,
): boolean => {
  const before = heads.get(id);
  return (
    isIncoming &&
    unread > 0 &&
    (before === undefined ? at > Math.min(newestAt - clockSkewMs, freshAfter) : head > before)
  );
};

const canPlaySound = (
  { now, phase }: NotificationContext,
  { lastNewMessageAt, lastSoundAt }: NotificationState,
): boolean => {
  if (phase.name === "opening") return false;
  // One sound after an absence, however many messages.
  if (phase.name === "catching-up") return lastSoundAt < phase.since;
  return now - lastNewMessageAt > burstMs || now - lastSoundAt > maxSilentBurstMs;
};

/** Decides about sound and banner from the newest conversations, newest first. */
export const decideNotification = (
  state: NotificationState,
  heads: readonly ConversationHead[],
  context: NotificationContext,
): NotificationDecision => {
  const { now, phase, freshAfter, isVisible, openConversation, isCovered, isListShown, call, isRecording, settings } =
    context;
  const isAudibleHere = isVisible || !context.hasSystemNotifications;
  const incoming = heads.filter((head) => isNewMessage(head, state, freshAfter));
  const isInOpenChat = ({ id }: ConversationHead) => isVisible && !isCovered && id === openConversation;
  const isMuted = ({ id, muted, mention = 0 }: ConversationHead) => muted && mention <= (state.heads.get(id) ?? 0);
  const announced = incoming.filter((head) => !isMuted(head) && !isInOpenChat(head));
  const getSettings = ({ kind }: ConversationHead) => settings[kind === "group" ? "groups" : "messages"];
  const audible = announced.filter((head) => getSettings(head).sound);
  const isSilent = isQuiet(settings, now);
  const playsSound =
    !isSilent && isAudibleHere && audible.length > 0 && call === "none" && !isRecording && canPlaySound(context, state);
  const canShowBanner = !isSilent && isVisible && !isListShown && call !== "foreground";
  const isBannerCandidate = ({ id, at }: ConversationHead) =>
    id !== openConversation && (phase.name === "synced" || at > freshAfter);
  return {
    state: {
      heads: new Map(heads.map(({ id, head }) => [id, head])),
      newestAt: Math.max(
        state.newestAt === Number.POSITIVE_INFINITY ? 0 : state.newestAt,
        ...heads.map(({ at }) => at),
      ),
      lastNewMessageAt: audible.length > 0 ? now : state.lastNewMessageAt,
      lastSoundAt: playsSound ? now : state.lastSoundAt,
    },
    playsSound,
    banner: canShowBanner ? announced.find(isBannerCandidate)?.id : undefined,
    duringCall: call === "foreground" ? announced.map(({ id }) => id) : [],
    isBurst:
      incoming.length > 1 ||
      incoming.some(({ id, head }) => head - (state.heads.get(id) ?? head) > maxMessagesPerUpdate),
    isForOpenChat: incoming.some(isInOpenChat),
  };
};
