import type { ConversationId, Uuid } from "#contract/ids.ts";

/** Everything that the attacking client is given: one account, where it may write, and what to do. */
export type Stage = {
  attack: string;
  origin: string;
  /** The address that its requests come from, apart from everybody else's. */
  address: string;
  attacker: { id: Uuid; token: string; phone: string };
  /** The other person of `own`, who does nothing. */
  accomplice: Uuid;
  /** The attacker's private conversation with the accomplice. */
  own: ConversationId;
  /** A group in which the bystanders talk, for attacks that go against one; else the same as `own`. */
  shared: ConversationId;
  /** A file that a message in `own` names, for attacks that read one. */
  file?: Uuid;
  seconds: number;
};

/** What the attacking client did, as it tells at its end. */
export type AttackReport = {
  /** Frames or requests. */
  sent: number;
  answered: number;
  /** Answers that said no: refusal frames, and any status from 400 on. */
  refused: number;
  /** Sockets that the server closed or did not open, and requests without an answer. */
  cut: number;
};

/** What an attack needs to be there before it begins. */
export type AttackNeeds = {
  /** The conversation it goes against has so many messages. */
  messages?: number;
  /** The bystanders talk in a group with the attacker, and these messages stand there. */
  isShared?: boolean;
  /** A file in the attacker's own conversation. */
  hasFile?: boolean;
};

/** The attack that opens sockets instead of writing on them. */
export const reconnectStorm = "sockets opened again and again";
