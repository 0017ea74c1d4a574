import { type GeneratedFile, hostileFiles, manyPartedFiles } from "#tests/support/files/hostile-files.ts";
import { ascii, box, makeHeic, trak, uint32 } from "#tests/support/people/iso-boxes.ts";

/** Honest files of the same size, whose costs are those of reading and storing so many bytes. */
const honestFiles: readonly GeneratedFile[] = [
  { name: "any bytes", make: (n) => Buffer.alloc(n, 0x61) },
  ...manyPartedFiles,
  { name: "HEIF: one picture", make: (n) => makeHeic("heic", Buffer.alloc(n - 1_000, 0x61)) },
  {
    name: "MP4: one film",
    make: (n) =>
      Buffer.concat([
        box("ftyp", ascii("isom"), uint32(0)),
        box("moov", trak("vide")),
        box("mdat", Buffer.alloc(n - 200, 0x61)),
      ]),
  },
];

/** Files that one account uploads and completes. */
export const fileAttacks: readonly GeneratedFile[] = [
  ...honestFiles.map((file) => ({ ...file, name: `honest ${file.name}` })),
  ...hostileFiles,
];
