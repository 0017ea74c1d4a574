import { useSyncExternalStore } from "react";
import type { ConversationId } from "#contract/ids.ts";
import type { ParkedText, ReplyTarget } from "#sync/unsent/draft-row.ts";
import { listRecordings } from "#sync/unsent/recordings.ts";
import type { UnsentState } from "#sync/unsent/unsent-state.ts";
import { emptySource, useEngine } from "./use-live-query.ts";

/** Unsent data of all tabs of the person; undefined until it was read. */
export const useUnsentState = (): UnsentState | undefined => {
  const state = useEngine()?.client.unsent.state ?? emptySource;
  return useSyncExternalStore<UnsentState | undefined>(state.subscribe, state.get, () => undefined);
};

/** Text draft of a conversation, typed in any tab; empty if there is none, undefined until it was read. */
export const useTextDraft = (id: ConversationId): string | undefined => {
  const state = useUnsentState();
  return state && (state.drafts.get(id)?.text ?? "");
};

/** Message that the draft of a conversation answers, chosen in any tab. */
export const useReplyDraft = (id: ConversationId): ReplyTarget | undefined => useUnsentState()?.drafts.get(id)?.reply;

const noRecordings: Pick<UnsentState, "recordings"> = { recordings: new Map() };
const noTexts: readonly ParkedText[] = [];

/** Texts of a conversation that are neither sent nor in the message field. */
export const useParkedTexts = (id: ConversationId): readonly ParkedText[] =>
  useUnsentState()?.drafts.get(id)?.parked ?? noTexts;

/** Whether a conversation has an unsent voice recording from any tab. */
export const useHasVoiceDraft = (id: ConversationId): boolean => {
  const source = useEngine()?.client.unsent.state ?? emptySource;
  const hasRecording = () => listRecordings(source.get() ?? noRecordings, id).length > 0;
  return useSyncExternalStore(source.subscribe, hasRecording, () => false); // rows do not follow what is typed
};
