import type { ConversationId } from "#contract/ids.ts";
import type { Settings } from "#contract/settings.ts";
import type { ConversationHead } from "#sync/hooks/new-messages.ts";

/** What of it was judged before. */
export type NotificationState = {
  heads: ReadonlyMap<ConversationId, number>;
  /** The newest message that was seen, by the server's clock. */
  newestAt: number;
  /** When something was last to be told, and when it last sounded; by this device's clock. */
  lastNewMessageAt: number;
  lastSoundAt: number;
};

export type NotificationContext = {
  now: number;
  /** Not level with the server since the page was opened, or since an absence; `since` when that began. */
  phase: { name: "opening" | "catching-up" | "level"; since: number };
  /** What was stored after this is no news of an absence, by the server's clock. */
  freshAfter: number;
  /** Somebody may be looking. */
  isVisible: boolean;
  /** Whose chat this tab shows. */
  openConversation: ConversationId | undefined;
  /** The list of conversations is in sight: a row says what is new. */
  isListShown: boolean;
  /** A call of this browser, and whether its screen is before everything else. */
  call: "none" | "beside" | "before";
  isRecording: boolean;
  settings: Pick<Settings, "messages" | "groups">;
};

export type NotificationDecision = {
  state: NotificationState;
  playsSound: boolean;
  /** Whose news a banner tells. */
  banner: ConversationId | undefined;
  /** What was written behind a call's screen, the newest first. */
  duringCall: ConversationId[];
  /** More than one writes within a moment: it may be what was missed. */
  isBurst: boolean;
  /** Something came to the chat that is looked at here: no other tab needs to speak of it. */
  isForOpenChat: boolean;
};

const burstMs = 3_000; // what comes within this of the one before belongs to it
const maxSilentBurstMs = 20_000; // then it sounds again
const maxMessagesPerUpdate = 3; // messages
const clockSkewMs = 60_000; // conversations are kept by machines whose clocks are not quite the same

export const initialNotificationState: NotificationState = {
  heads: new Map(),
  newestAt: Number.POSITIVE_INFINITY,
  lastNewMessageAt: Number.NEGATIVE_INFINITY,
  lastSoundAt: Number.NEGATIVE_INFINITY,
};

/** New words of somebody else. A conversation that was not among the newest before is only new if its message is. */
const isNewMessage = (
  { id, head, at, unread, isIncoming }: ConversationHead,
  { heads, newestAt }: NotificationState,
  freshFrom: number,
): boolean => {
  const before = heads.get(id);
  return (
    isIncoming &&
    unread > 0 &&
    (before === undefined ? at > Math.min(newestAt - clockSkewMs, freshFrom) : head > before)
  );
};

const canPlaySound = (
  { now, phase }: NotificationContext,
  { lastNewMessageAt, lastSoundAt }: NotificationState,
): boolean => {
  if (phase.name === "opening") return false;
  // After an absence once, however much there is.
  if (phase.name === "catching-up") return lastSoundAt < phase.since;
  return now - lastNewMessageAt > burstMs || now - lastSoundAt > maxSilentBurstMs;
};

/** What is to be heard and shown of conversations as they stand now, the newest first. */
export const decideNotification = (
  memory: NotificationState,
  heads: readonly ConversationHead[],
  around: NotificationContext,
): NotificationDecision => {
  const { now, phase, freshAfter, isVisible, openConversation, isListShown, call, isRecording, settings } = around;
  const all = heads.filter((head) => isNewMessage(head, memory, freshAfter));
  const isHere = ({ id }: ConversationHead) => isVisible && call !== "before" && id === openConversation;
  const told = all.filter((head) => !head.muted && !isHere(head));
  const of = ({ kind }: ConversationHead) => settings[kind === "group" ? "groups" : "messages"];
  const audible = told.filter((head) => of(head).sound);
  const sounds = audible.length > 0 && call === "none" && !isRecording && canPlaySound(around, memory);
  const shows = isVisible && !isListShown && call !== "before";
  const isShown = ({ id, at }: ConversationHead) =>
    id !== openConversation && (phase.name === "level" || at > freshAfter);
  return {
    state: {
      heads: new Map(heads.map(({ id, head }) => [id, head])),
      newestAt: Math.max(
        memory.newestAt === Number.POSITIVE_INFINITY ? 0 : memory.newestAt,
        ...heads.map(({ at }) => at),
      ),
      lastNewMessageAt: audible.length > 0 ? now : memory.lastNewMessageAt,
      lastSoundAt: sounds ? now : memory.lastSoundAt,
    },
    playsSound: sounds,
    banner: shows ? told.find(isShown)?.id : undefined,
    duringCall: call === "before" ? told.map(({ id }) => id) : [],
    isBurst: all.length > 1 || all.some(({ id, head }) => head - (memory.heads.get(id) ?? head) > maxMessagesPerUpdate),
    isForOpenChat: all.some(isHere),
  };
};
