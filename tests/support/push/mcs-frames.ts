/** Protocol Buffers and frames of MCS, the connection between Chromium and its push service. */

export const mcsTags = {
  heartbeatPing: 0,
  heartbeatAck: 1,
  loginRequest: 2,
  loginResponse: 3,
  dataMessage: 8,
} as const;
export const mcsVersion = 41;

const varint = (value: number | bigint): Buffer => {
  const bytes: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
};

const wireTypes = { varint: 0, fixed64: 1, bytes: 2 } as const;

/** Field of a Protocol Buffers message. */
export const numberField = (number: number, value: number | bigint): Buffer =>
  Buffer.concat([varint((number << 3) | wireTypes.varint), varint(value)]);

export const bytesField = (number: number, value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value as Uint8Array);
  return Buffer.concat([varint((number << 3) | wireTypes.bytes), varint(bytes.length), bytes]);
};

export const fixed64Field = (number: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint((number << 3) | wireTypes.fixed64), bytes]);
};

export const encodeFrame = (tag: number, message: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([Buffer.from([tag]), varint(message.length), message]);

/** Message from the push service to a subscription (DataMessageStanza). */
export const encodeDataMessage = (message: {
  id: string;
  app: string;
  subtype: string;
  sender: string;
  sentAt: number;
  body: Uint8Array;
}): Buffer => {
  const appData = (key: string, value: string) =>
    bytesField(7, Buffer.concat([bytesField(1, key), bytesField(2, value)]));
  return Buffer.concat([
    bytesField(2, message.id),
    bytesField(3, message.sender),
    bytesField(5, message.app),
    appData("subtype", message.subtype),
    appData("content-encoding", "aes128gcm"),
    bytesField(9, message.id),
    numberField(18, message.sentAt),
    bytesField(21, message.body),
  ]);
};

/** Reads the tags of the frames that arrive on a connection, whose chunks may end inside a frame. */
export const createFrameReader = (onFrame: (tag: number) => void): ((chunk: Buffer) => void) => {
  let pending = Buffer.alloc(0);
  let isFirst = true;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const start = isFirst ? 1 : 0; // the first frame follows a version byte
      let [length, shift, at] = [0, 0, start + 1];
      let byte = 128;
      while (byte & 128) {
        if (at >= pending.length) return;
        byte = pending[at++] ?? 0;
        length |= (byte & 127) << shift;
        shift += 7;
      }
      if (pending.length < at + length) return;
      const tag = pending[start] ?? 0;
      pending = pending.subarray(at + length);
      isFirst = false;
      onFrame(tag);
    }
  };
};
