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
  /** Numbers that one account holds and others claim, for attacks on passwords. */
  claimedPhones: readonly string[];
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
  /** Password hashes that the server computed for the answers. */
  hashes: number;
};

/** Preconditions of an attack. */
export type AttackNeeds = {
  /** Number of messages in the attacked conversation. */
  messages?: number;
  /** The attacked conversation is a group with the bystanders. */
  isShared?: boolean;
  /** A file in the attacker's own conversation. */
  hasFile?: boolean;
  /** How many numbers with several accounts there are. */
  claimedNumbers?: number;
};

/** Accounts that claim such a number beside its holder. */
export const claimsPerNumber = 3;

/** Name of the attack that opens sockets instead of writing on them. */
export const reconnectStorm = "sockets opened again and again";
