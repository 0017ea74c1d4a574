import type { ConversationId, Uuid } from "#contract/ids.ts";

/** Input of the attacking client: one account, its conversations, and the attack to run. */
export type Stage = {
  attack: string;
  origin: string;
  /** Source address of the attacker's requests, used by nobody else. */
  address: string;
  attacker: { id: Uuid; token: string; phone: string };
  /** Other, passive member of `own`. */
  accomplice: Uuid;
  /** Private conversation of attacker and accomplice. */
  own: ConversationId;
  /** Group of attacker and bystanders for attacks on shared conversations; otherwise the same as `own`. */
  shared: ConversationId;
  /** File attached to a message in `own`, for attacks that read a file. */
  file?: Uuid;
  seconds: number;
};

/** Counts reported by the attacking client. */
export type AttackReport = {
  /** Frames or requests. */
  sent: number;
  answered: number;
  /** Refusal frames, and responses with status 400 or higher. */
  refused: number;
  /** Sockets that the server closed or refused, and requests without a response. */
  cut: number;
};

/** Preconditions of an attack. */
export type AttackNeeds = {
  /** Number of messages in the attacked conversation. */
  messages?: number;
  /** The attacked conversation is a group with the bystanders. */
  isShared?: boolean;
  /** A file in the attacker's own conversation. */
  hasFile?: boolean;
};

/** Name of the attack that opens sockets instead of writing on them. */
export const reconnectStorm = "sockets opened again and again";
