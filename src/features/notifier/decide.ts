import type { ConversationId } from "#contract/ids.ts";
import type { Settings } from "#contract/settings.ts";
import type { Head } from "#sync/hooks/new-messages.ts";

/** What of it was judged before. */
export type Memory = {
  heads: ReadonlyMap<ConversationId, number>;
  /** The newest message that was seen, by the server's clock. */
  newestAt: number;
  /** When something was last to be told, and when it last sounded; by this device's clock. */
  newsAt: number;
  soundedAt: number;
};

export type Surroundings = {
  now: number;
  /** Not level with the server since the page was opened, or since an absence; `since` when that began. */
  phase: { name: "opening" | "catching-up" | "level"; since: number };
  /** What was stored after this is no news of an absence, by the server's clock. */
  freshFrom: number;
  /** Somebody may be looking. */
  isVisible: boolean;
  /** Whose chat this tab shows. */
  open: ConversationId | undefined;
  /** The list of conversations is in sight: a row says what is new. */
  isListShown: boolean;
  /** A call of this browser, and whether its screen is before everything else. */
  call: "none" | "beside" | "before";
  isRecording: boolean;
  settings: Pick<Settings, "messages" | "groups">;
};

export type Verdict = {
  memory: Memory;
  sounds: boolean;
  /** Whose news a banner tells. */
  banner: ConversationId | undefined;
  /** What was written behind a call's screen, the newest first. */
  behind: ConversationId[];
  /** More than one writes within a moment: it may be what was missed. */
  isHeap: boolean;
  /** Something came to the chat that is looked at here: no other tab needs to speak of it. */
  isWatched: boolean;
};

const burstMs = 3_000; // what comes within this of the one before belongs to it
const longestBurstMs = 20_000; // then it sounds again
const momentMax = 3; // messages
const skewMs = 60_000; // conversations are kept by machines whose clocks are not quite the same

export const nothingSeen: Memory = {
  heads: new Map(),
  newestAt: Number.POSITIVE_INFINITY,
  newsAt: Number.NEGATIVE_INFINITY,
  soundedAt: Number.NEGATIVE_INFINITY,
};

/** New words of somebody else. A conversation that was not among the newest before is only new if its message is. */
const isNews = ({ id, head, at, unread, isSaid }: Head, { heads, newestAt }: Memory, freshFrom: number): boolean => {
  const before = heads.get(id);
  return isSaid && unread > 0 && (before === undefined ? at > Math.min(newestAt - skewMs, freshFrom) : head > before);
};

const mayTell = ({ now, phase }: Surroundings, { newsAt, soundedAt }: Memory): boolean => {
  if (phase.name === "opening") return false;
  // After an absence once, however much there is.
  if (phase.name === "catching-up") return soundedAt < phase.since;
  return now - newsAt > burstMs || now - soundedAt > longestBurstMs;
};

/** What is to be heard and shown of conversations as they stand now, the newest first. */
export const decide = (memory: Memory, heads: readonly Head[], around: Surroundings): Verdict => {
  const { now, phase, freshFrom, isVisible, open, isListShown, call, isRecording, settings } = around;
  const all = heads.filter((head) => isNews(head, memory, freshFrom));
  const isHere = ({ id }: Head) => isVisible && call !== "before" && id === open;
  const told = all.filter((head) => !head.muted && !isHere(head));
  const of = ({ kind }: Head) => settings[kind === "group" ? "groups" : "messages"];
  const audible = told.filter((head) => of(head).sound);
  const sounds = audible.length > 0 && call === "none" && !isRecording && mayTell(around, memory);
  const shows = isVisible && !isListShown && call !== "before";
  const isShown = ({ id, at }: Head) => id !== open && (phase.name === "level" || at > freshFrom);
  return {
    memory: {
      heads: new Map(heads.map(({ id, head }) => [id, head])),
      newestAt: Math.max(
        memory.newestAt === Number.POSITIVE_INFINITY ? 0 : memory.newestAt,
        ...heads.map(({ at }) => at),
      ),
      newsAt: audible.length > 0 ? now : memory.newsAt,
      soundedAt: sounds ? now : memory.soundedAt,
    },
    sounds,
    banner: shows ? told.find(isShown)?.id : undefined,
    behind: call === "before" ? told.map(({ id }) => id) : [],
    isHeap: all.length > 1 || all.some(({ id, head }) => head - (memory.heads.get(id) ?? head) > momentMax),
    isWatched: all.some(isHere),
  };
};
