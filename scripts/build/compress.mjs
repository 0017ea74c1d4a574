// Run by scripts/build/build.mjs with a folder: writes a brotli-compressed copy of each script and style at the highest
// quality. worker/service/client-files.ts serves them.
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const compress = promisify(brotliCompress);
const folder = process.argv[2];
if (!folder) throw new Error("Pass the folder of the client's scripts and styles");

const names = readdirSync(folder).filter((name) => /\.(js|css)$/.test(name));
await Promise.all(
  names.map(async (name) => {
    const content = await readFile(join(folder, name));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    };
    await writeFile(join(folder, `${name}.br`), await compress(content, { params }));
  }),
);
