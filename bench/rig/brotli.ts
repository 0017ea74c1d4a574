import { brotliCompressSync, constants } from "node:zlib";

/** The size of these bytes after brotli at its best (quality 11), as files compressed ahead of time have. */
export function brotliSize(bytes: Buffer): number {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params }).length;
}
