import * as v from "valibot";
import { ConversationId } from "#contract/ids.ts";

// What frames of both directions are made of, and read by.

export const Int = v.pipe(v.number(), v.safeInteger());
export const Count = v.pipe(Int, v.minValue(0));
export const Ref = v.pipe(Int, v.minValue(0)); // a device's number for one of its requests, echoed in the answer
export const ConversationRef = v.union([Count, ConversationId]); // the handle, or the id when there is none yet

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A frame read by the schema its first element names; undefined when it is not of this protocol. */
export const parseFrame = (schemas: Record<string, v.GenericSchema>, frame: unknown): unknown => {
  const head: unknown = Array.isArray(frame) ? frame[0] : undefined;
  if (typeof head !== "string" || !Object.hasOwn(schemas, head)) return undefined;
  const parsed = v.safeParse(schemas[head] as v.GenericSchema, frame);
  return parsed.success ? parsed.output : undefined;
};
