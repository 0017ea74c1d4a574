import type { MessageStatus, StoredBody } from "../../contract/conversations";
import type { ErrorCode } from "../../contract/errors";
import type { ConversationId, Uuid } from "../../contract/ids";
import type { PersonRow } from "./store";

/** What a screen shows of the local store. */
export type ShownStatus = MessageStatus | "failed";

export type LastMessage = {
  body: StoredBody | null;
  mine: boolean;
  at: number;
  status?: ShownStatus; // own messages only
};

export type ConversationListItem = {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  at: number;
  last: LastMessage;
  open: boolean;
};

/** One conversation's head: also for one that this device has no row of yet (`known: false`). */
export type ConversationView = {
  id: ConversationId;
  kind: "private" | "group";
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  unread: number;
  head: number;
  read: number; // how far I have read, this device's views included
  open: boolean; // may I write here
  known: boolean;
};

export type ChatItem = {
  key: string; // the same from pending to sent
  seq?: number;
  cid?: Uuid;
  mine: boolean;
  sender?: number;
  at: number;
  body: StoredBody;
  status: ShownStatus;
  error?: ErrorCode;
};

export type ChatView = {
  items: ChatItem[]; // newest first
  hasOlder: boolean;
  loading: boolean; // an older page, or the first one, is on its way
  loadOlder(): Promise<void>;
};

export type LinkState = "online" | "connecting" | "offline";

/** Why the local store cannot be relied on: kept in memory only, or no room left on the phone. */
export type StorageTrouble = "memory" | "full";
