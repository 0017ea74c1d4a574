// Types of the frames from device to server: the letter that begins each frame. Imported as a namespace
// (`clientFrame.hello`), because the bundler replaces exported strings by their value, but not the fields of an object.

/** First frame of a socket: protocol version, and the device's epoch and change counter. */
export const hello = "h";
/** Message to a conversation, written or forwarded. */
export const send = "s";
/** One body to many conversations. */
export const multicast = "f";
/** Deletion of an own message for everyone. */
export const deleteMessage = "e";
/** Edit of an own text or caption. */
export const editMessage = "E";
/** Reaction to a message, or none. */
export const react = "x";
/** Pins a message for all members, or unpins it. */
export const pin = "P";
/** Request for the messages changed after a revision. */
export const revisions = "v";
/** Mutes or unmutes a conversation. */
export const mute = "z";
/** Changes flags of a conversation: marked as unread, archived, pinned. */
export const flags = "y";
/** Stars a message or deletes it for this person alone. */
export const messageFlags = "Y";
/** Draft of a conversation for the other devices of this person. */
export const draft = "D";
/** This person is typing. Not stored, no answer. */
export const typing = "t";
/** Own receipts of a conversation: delivered and read up to. No answer of its own. */
export const receipts = "r";
/** Request for a page of history. */
export const page = "g";
/** Search in a conversation. */
export const search = "q";
/** Request for the inbox's changes since a counter. */
export const changes = "c";
/** Clears the history of a conversation for this person. */
export const clearHistory = "d";
/** Call command. */
export const call = "j";
/** Whether the device is in the foreground. No answer. */
export const foreground = "l";
/** Request for the presence of the peer in a private conversation. */
export const presence = "L";
/** Flow control: number of messages received since the welcome. No answer. */
export const received = "k";
