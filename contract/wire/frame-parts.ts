import * as v from "valibot";
import { ConversationId } from "#contract/ids.ts";
import { Count } from "#contract/messages/positions.ts";

// Building blocks of the frames of both directions.

export const Int = v.pipe(v.number(), v.safeInteger());
export const Ref = v.pipe(Int, v.minValue(0)); // the device's request number, repeated in the answer
export const ConversationRef = v.union([Count, ConversationId]); // the handle, or the id before there is one

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses a frame with the schema of its type. Undefined if it is not of this protocol. */
export const parseFrame = (schemas: Record<string, v.GenericSchema>, frame: unknown): unknown => {
  const head: unknown = Array.isArray(frame) ? frame[0] : undefined;
  if (typeof head !== "string" || !Object.hasOwn(schemas, head)) return undefined;
  const parsed = v.safeParse(schemas[head] as v.GenericSchema, frame);
  return parsed.success ? parsed.output : undefined;
};
