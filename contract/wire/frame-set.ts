import * as v from "valibot";
import {
  type AnyCodec,
  type Codec,
  type Fields,
  type FieldsWire,
  type SocketBase,
  type TupleValue,
  type TupleWire,
  tuple,
} from "./codec.ts";

/** Letter of a frame's type, and whether the first field is a ref: such a frame expects an answer, or is one. */
export type FrameType = { readonly letter: string; readonly hasRef: boolean };

/** Declares a frame: its letter, the fields it always has, and those that may be missing at its end (see `tuple`). */
export const frame = <const L extends string, const F extends Fields, const T extends readonly Fields[]>(
  letter: L,
  fields: F,
  ...tails: T
): Codec<TupleValue<F, T>, TupleWire<[L, ...FieldsWire<F>], T>> & FrameType => {
  const type: Codec<unknown, L> = { schema: v.literal(letter), encode: () => letter, decode: () => undefined };
  const codec = tuple([[[], type], ...fields], ...tails);
  return {
    ...(codec as unknown as Codec<TupleValue<F, T>, TupleWire<[L, ...FieldsWire<F>], T>>),
    letter,
    hasRef: fields[0]?.[0] === "ref",
  };
};

type Frames = Readonly<Record<string, AnyCodec & FrameType>>;
/** Frame as a value: its named fields, and as `type` the name under which it is declared. */
export type FrameValue<S extends Frames> = {
  [Type in keyof S]: { type: Type } & ReturnType<S[Type]["decode"]>;
}[keyof S];
/** Frame on the wire: a JSON array. */
export type FrameWire<S extends Frames> = ReturnType<S[keyof S]["encode"]>;

/** The frames of one direction. */
export const createFrameSet = <const S extends Frames>(frames: S) => {
  const types = new Map<unknown, string>(Object.entries(frames).map(([type, { letter }]) => [letter, type]));
  const find = (type: unknown) => frames[type as string] as S[string];
  return {
    /** Validates a frame. Undefined if it is not of this protocol. */
    parse(json: unknown): FrameWire<S> | undefined {
      const type = Array.isArray(json) ? types.get(json[0]) : undefined;
      const parsed = type === undefined ? undefined : v.safeParse(find(type).schema, json);
      return parsed?.success ? (parsed.output as FrameWire<S>) : undefined;
    },
    encode: (frame: FrameValue<S>, base: SocketBase) => find(frame.type).encode(frame as never, base) as FrameWire<S>,
    decode(wire: FrameWire<S>, base: SocketBase): FrameValue<S> {
      const type = types.get((wire as readonly unknown[])[0]);
      return Object.assign(find(type).decode(wire as never, base) as object, { type }) as FrameValue<S>;
    },
  };
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
