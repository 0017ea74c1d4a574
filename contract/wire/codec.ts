import * as v from "valibot";
import { PackedUuid, packUuid, type Uuid, unpackUuid } from "#contract/ids.ts";
import { Count } from "#contract/messages/positions.ts";

/** Base of the counters and times in a socket's frames: those in frames are differences from it. */
export type SocketBase = { counter: number; now: number };

/**
 * A value and its form on the wire: the schema that validates the form, and the way there and back. `fields`: in a
 * tuple, its fields before this one.
 */
export type Codec<Value, Wire = Value> = {
  readonly schema: v.GenericSchema<unknown, Wire>;
  encode(value: Value, base: SocketBase): Wire;
  decode(wire: Wire, base: SocketBase, fields?: unknown): Value;
};
export type AnyCodec = {
  readonly schema: v.GenericSchema;
  encode(value: never, base: SocketBase): unknown;
  decode(wire: never, base: SocketBase, fields?: unknown): unknown;
};
type ValueOf<C extends AnyCodec> = ReturnType<C["decode"]>;
type WireOf<C extends AnyCodec> = ReturnType<C["encode"]>;

/** A value that travels as it is. */
export const plain = <T>(schema: v.GenericSchema<unknown, T>): Codec<T> => ({
  schema,
  encode: (value) => value,
  decode: (wire) => wire,
});

const Int = v.pipe(v.number(), v.safeInteger());
export const int = plain(Int);
export const count = plain(Count);
export const text = plain(v.string());
export const truth = plain(v.boolean());

/** Epoch milliseconds, on the wire relative to the base. */
export const time: Codec<number> = {
  schema: Int,
  encode: (at, base) => at - base.now,
  decode: (wire, base) => wire + base.now,
};

/** Number of a change of the inbox, on the wire relative to the base. */
export const changeNumber: Codec<number> = {
  schema: Count,
  encode: (counter, base) => counter - base.counter,
  decode: (wire, base) => wire + base.counter,
};

/** Boolean, on the wire 1 or 0. */
export const bit: Codec<boolean, 0 | 1> = {
  schema: v.picklist([0, 1]),
  encode: (value) => (value ? 1 : 0),
  decode: (wire) => wire === 1,
};

/** `true` or absent, on the wire 1 or 0. */
export const mark: Codec<true | undefined, 0 | 1> = {
  schema: bit.schema,
  encode: (value) => (value ? 1 : 0),
  decode: (wire) => (wire === 1 ? true : undefined),
};

export const uuid: Codec<Uuid, PackedUuid> = { schema: PackedUuid, encode: packUuid, decode: unpackUuid };

/** One of a list, on the wire its index. */
export const oneOf = <T extends string>(list: readonly T[]): Codec<T, number> => ({
  schema: v.pipe(Int, v.minValue(0), v.maxValue(list.length - 1)),
  encode: (value) => list.indexOf(value),
  decode: (wire) => list[wire] as T,
});

/** Booleans, the first in the lowest bit of a number on the wire. */
export const bits = <const Name extends string>(names: readonly Name[]): Codec<Record<Name, boolean>, number> => ({
  schema: Count,
  encode(value) {
    let wire = 0;
    for (let i = 0; i < names.length; i++) if (value[names[i] as Name]) wire += 2 ** i;
    return wire;
  },
  decode(wire) {
    const value = {} as Record<Name, boolean>;
    for (let i = 0; i < names.length; i++) value[names[i] as Name] = (wire & (2 ** i)) !== 0;
    return value;
  },
});

/** A value or null. */
export const nullable = <V, W>({ schema, encode, decode }: Codec<V, W>): Codec<V | null, W | null> => ({
  schema: v.nullable(schema),
  encode: (value, base) => (value === null ? null : encode(value, base)),
  decode: (wire, base) => (wire === null ? null : decode(wire, base)),
});

/** A value or undefined, on the wire null. */
export const optional = <V, W>({ schema, encode, decode }: Codec<V, W>): Codec<V | undefined, W | null> => ({
  schema: v.nullable(schema),
  encode: (value, base) => (value === undefined ? null : encode(value, base)),
  decode: (wire, base) => (wire === null ? undefined : decode(wire, base)),
});

export const list = <V, W>({ schema, encode, decode }: Codec<V, W>): Codec<V[], W[]> => ({
  schema: v.array(schema),
  encode: (values, base) => values.map((value) => encode(value, base)),
  decode: (wires, base) => wires.map((wire) => decode(wire, base)),
});

/**
 * Name and codec of a field. A third element is the value that an absent field stands for, by default undefined. With
 * several names, the codec encodes the whole value, and decodes to an object of these fields.
 */
type Field = readonly [name: string | readonly string[], codec: AnyCodec, absent?: unknown];
export type Fields = readonly Field[];

type OptionalName<C extends AnyCodec, Name> = undefined extends ValueOf<C> ? Name : never;
type NamedValue<One extends Field> = {
  [Single in One as Exclude<Single[0], readonly string[] | OptionalName<Single[1], Single[0]>>]: ValueOf<Single[1]>;
} & { [Single in One as Exclude<OptionalName<Single[1], Single[0]>, readonly string[]>]?: ValueOf<Single[1]> };
type Taker<One> = One extends readonly [readonly string[], infer C extends AnyCodec]
  ? (value: ValueOf<C>) => void
  : never;
/** Intersection of the values of fields with several names. */
type SharedValue<One> = Taker<One> extends (value: infer Value) => void ? Value : unknown;
type FieldsValue<F extends Fields> = NamedValue<F[number]> & SharedValue<F[number]>;
/** Without a value for the absence, an absent field is undefined. An empty list stands for itself. */
type TailValue<F extends Fields> = {
  [One in Extract<F[number], readonly [string, AnyCodec]> as One[0]]?: ValueOf<One[1]> | undefined;
} & {
  [One in Extract<F[number], readonly [string, AnyCodec, unknown]> as One[0]]: ValueOf<One[1]> | Extract<One[2], null>;
};
export type TupleValue<F extends Fields, T extends readonly Fields[]> = FieldsValue<F> &
  (T extends readonly [] ? unknown : TailValue<T[number][number][]>);

export type FieldsWire<F extends Fields> = { -readonly [I in keyof F]: WireOf<F[I][1]> };
export type TupleWire<Start extends unknown[], T extends readonly Fields[]> = T extends readonly [
  infer Next extends Fields,
  ...infer Rest extends readonly Fields[],
]
  ? Start | TupleWire<[...Start, ...FieldsWire<Next>], Rest>
  : Start;

const isAbsent = (value: unknown, absent: unknown): boolean =>
  value === absent || (Array.isArray(absent) && (value as unknown[]).length === 0);

/**
 * Named fields as a JSON array. Each list in `tails` follows the fields before it, but is left out together with the
 * lists after it while all its fields are absent.
 */
export const tuple = <const F extends Fields, const T extends readonly Fields[]>(
  fields: F,
  ...tails: T
): Codec<TupleValue<F, T>, TupleWire<FieldsWire<F>, T>> => {
  const all = [fields, ...tails].flat() as Field[];
  const names = all.map(([name]) => name);
  const codecs = all.map(([, codec]) => codec);
  const absents = all.map(([, , absent]) => absent);
  const ends: number[] = [];
  const schemas: v.GenericSchema[] = [];
  for (const group of [fields, ...tails]) {
    const end = (ends.at(-1) ?? 0) + group.length;
    ends.push(end);
    schemas[end] = v.strictTuple(codecs.slice(0, end).map(({ schema }) => schema));
  }
  // Values are copies of an object that has all lasting fields: V8 makes an object slow that gets many one by one.
  const lasting = all.filter(([, , absent], i) => i < fields.length || absent !== undefined).flatMap(([name]) => name);
  const blank = JSON.parse(JSON.stringify(Object.fromEntries(lasting.map((name) => [name, 0]))));
  const isLeftOut = (value: Readonly<Record<string, unknown>>, from: number, end: number) => {
    for (let i = from; i < end; i++) if (!isAbsent(value[names[i] as string], absents[i])) return false;
    return true;
  };
  const encode = (value: Readonly<Record<string, unknown>>, base: SocketBase) => {
    let last = tails.length;
    while (last > 0 && isLeftOut(value, ends[last - 1] as number, ends[last] as number)) last--;
    const wire: unknown[] = [];
    for (let i = 0; i < (ends[last] as number); i++) {
      const name = names[i];
      wire.push(codecs[i]?.encode((typeof name === "string" ? value[name] : value) as never, base));
    }
    return wire;
  };
  const decode = (wire: readonly unknown[], base: SocketBase) => {
    const value: Record<string, unknown> = { ...blank };
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const part = i < wire.length ? codecs[i]?.decode(wire[i] as never, base, value) : absents[i];
      if (typeof name !== "string") Object.assign(value, part);
      else if (part !== undefined || i < fields.length) value[name] = part;
    }
    return value;
  };
  const shortest = schemas[fields.length] as v.GenericSchema;
  const schema = v.lazy((wire) => (Array.isArray(wire) && schemas[wire.length]) || shortest);
  return { schema: tails.length === 0 ? shortest : schema, encode, decode } as unknown as Codec<
    TupleValue<F, T>,
    TupleWire<FieldsWire<F>, T>
  >;
};
