import { createContext } from "react";
import { editWindowMs } from "#contract/limits/messages.ts";
import { isEditableBody } from "#contract/messages/body.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";

/** Starts the edit of a message of the open chat; undefined where the user cannot write. */
export const EditContext = createContext<((item: ChatItem) => void) | undefined>(undefined);

/** Whether the user may edit a message now. The server decides by its own clock. */
export const canBeEdited = ({ mine, body, seq, at }: ChatItem): boolean =>
  mine && isEditableBody(body) && (seq === undefined || getServerNow() - at < editWindowMs);
