import { createContext } from "react";
import type { CallKind } from "#contract/calls/call.ts";

/** What the line of a call leads to. */
export type ChatCallActions = {
  callBack: (kind: CallKind) => void;
  /** Begins a voice message; undefined where nothing may be written. */
  startRecording: (() => void) | undefined;
};

/** Of the chat that is open; undefined where nobody can be called. */
export const ChatCallActionsContext = createContext<ChatCallActions | undefined>(undefined);
