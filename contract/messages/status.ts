import type { ReadState } from "./positions.ts";

/** SPEC.md §4: delivery status shown to the sender as ticks. Derived, never stored. */
export type MessageStatus = "sending" | "sent" | "delivered" | "read";

/**
 * Status of an own message. `seq` is undefined until the server has stored it. `isHeld`: it was never delivered to the
 * others, because they blocked its author, and stays "sent" whatever they read.
 */
export const toMessageStatus = (seq: number | undefined, others: ReadState, isHeld = false): MessageStatus => {
  if (seq === undefined) return "sending";
  if (isHeld) return "sent";
  if (seq <= others.read) return "read";
  return seq <= others.delivered ? "delivered" : "sent";
};
