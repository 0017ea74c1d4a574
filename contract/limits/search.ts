/** Limits of the search in messages. */

export const searchQueryMaxLength = 100;
export const searchResultsMax = 40;

// One slice of a conversation at a time, so that other requests are served between two slices
export const searchSliceRows = 1_000; // messages
export const searchSliceLength = 50_000; // UTF-16 units of text, if reached before searchSliceRows
export const searchSlicesMax = 20; // slices of one search call before it returns a cursor
export const searchRowsMax = 1_600; // rows of messages that one search call reads in a conversation
export const searchBlockMessages = 1_000; // messages that are indexed together (docs/decisions/search.md)
export const indexedSlicesPerAlarm = 10; // other requests run between two of them
export const indexWaitMs = 500; // how long a search waits for the index that is being built

// Search slices, per person: five whole searches at once, then one per second
export const searchSliceBurst = 5 * searchSlicesMax;
export const searchSlicesPerSecond = 20;

// Search in several conversations by one request
export const searchedConversationsMax = 10;
export const conversationResultsMax = 5; // results of one conversation in a page; a search in its chat finds the others
