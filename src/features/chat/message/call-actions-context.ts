import { createContext } from "react";
import type { CallKind } from "#contract/calls/call.ts";

/** Actions of a call entry. */
export type ChatCallActions = {
  callBack: (kind: CallKind) => void;
  /** Starts a voice message; undefined where the user cannot write. */
  startRecording: (() => void) | undefined;
};

/** Call actions of the open chat; undefined where calls are impossible. */
export const ChatCallActionsContext = createContext<ChatCallActions | undefined>(undefined);
