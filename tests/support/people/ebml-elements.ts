/** Elements of EBML (RFC 8794), built byte by byte. */

/** Element with the size of its content in `sizeBytes` bytes. */
export const element = (id: string, data: Uint8Array, sizeBytes = 1): Buffer => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(data.length));
  const stated = size.subarray(8 - sizeBytes);
  stated[0] = (stated[0] ?? 0) | (0x100 >> sizeBytes);
  return Buffer.concat([Buffer.from(id, "hex"), stated, data]);
};

/** Element whose size is unknown, as in a recording that is still under way. */
export const endlessElement = (id: string, ...data: Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.from(id, "hex"), Buffer.from([0xff]), ...data]);

const text = (id: string, value: string): Buffer => element(id, Buffer.from(value, "latin1"));
const track = (kind: number): Buffer =>
  element("ae", Buffer.concat([element("d7", Buffer.from([1])), element("83", Buffer.from([kind]))]));

/** Tags with one value, whose size is stated in `sizeBytes` bytes. */
export const makeTags = (name: string, value: string, sizeBytes = 1): Buffer => {
  const simpleTag = element("67c8", Buffer.concat([text("45a3", name), text("4487", value)]));
  return element("1254c367", element("7373", Buffer.concat([element("63c0", Buffer.alloc(0)), simpleTag])), sizeBytes);
};

export const ebmlIds = {
  segment: "18538067",
  info: "1549a966",
  cluster: "1f43b675",
  timestamp: "e7",
  simpleBlock: "a3",
  cues: "1c53bb6b",
  attachments: "1941a469",
} as const;

export const makeEbmlHeader = (type: string): Buffer => element("1a45dfa3", text("4282", type));
export const makeTracks = (...kinds: number[]): Buffer => element("1654ae6b", Buffer.concat(kinds.map(track)));

/** Cluster with one block. */
export const makeBlocks = (block: Uint8Array): Buffer =>
  Buffer.concat([element(ebmlIds.timestamp, Buffer.from([0])), element(ebmlIds.simpleBlock, block, 4)]);
