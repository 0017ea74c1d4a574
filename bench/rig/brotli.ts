import { brotliCompressSync, constants } from "node:zlib";

/** Size after brotli at quality 11, as for files compressed at build time. */
export function brotliSize(bytes: Buffer): number {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params }).length;
}
