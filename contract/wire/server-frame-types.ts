// Types of the frames from server to device: the letter that begins each frame. Imported as a namespace
// (`serverFrame.welcome`), because the bundler replaces exported strings by their value, but not the fields of an
// object.

/** Answer to the hello: the changes since the device's counter. */
export const welcome = "w";

// Answers to requests

/** Changes of the inbox since a counter. */
export const changes = "c";
/** Page of history. */
export const page = "g";
/** Search results. */
export const searchResults = "q";
/** Messages changed after a revision. */
export const revisions = "v";
/** The request was carried out. The answers to reactions and message flags have a revision, the others no content. */
export const done = "y";
/** State of a call. */
export const call = "j";
/** Presence of the peer in a private conversation. */
export const presence = "L";
/** The request was refused. */
export const refusal = "n";

/** A frame of the device was unreadable. */
export const error = "x";

// Changes of the inbox, numbered by the change counter

/** Positions of this device's sent messages. */
export const acknowledgement = "a";
/** New messages of a conversation. */
export const messages = "m";
/** Whole row of a conversation. */
export const row = "i";
/** Receipts of the other members of a conversation. */
export const peerReceipts = "o";
/** Own receipts of a conversation, and its unread count. */
export const ownReceipts = "u";
/** Relation to a person. */
export const person = "p";
/** Settings of the person. */
export const settings = "s";
/** Security notice. */
export const securityNotice = "z";
/** Newest position of a conversation, for a device that is behind and receives no messages. */
export const head = "b";
/** Changed messages of a conversation: deleted, edited or anonymized. */
export const revised = "e";

/** Changed reactions to messages. On the wire it is no JSON (`reactions.ts`). */
export const reactions = "r";

/** Draft of a conversation that another device of the person wrote. */
export const draft = "D";

// Events without a counter, best effort

/** A member is typing. */
export const typing = "t";
/** A person whose presence was requested has changed its visibility. */
export const presenceVisibility = "l";
/** This person deleted a status. */
export const postDeleted = "d";
/** The push subscription of this session was made with a former key of the server. Sent after the welcome. */
export const pushKeyChanged = "k";
