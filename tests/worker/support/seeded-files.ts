import { env } from "cloudflare:workers";
import type { MediaType } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { openDb } from "#worker/db/client.ts";
import { files } from "#worker/db/file-schema.ts";

type Seed = { type?: MediaType; name?: string; status?: "receiving" | "ready" };

/** Inserts an uploaded file directly into the directory and R2. */
export const seedFile = async (owner: Uuid, { type = "image/jpeg", name, status = "ready" }: Seed = {}) => {
  const id = createUuid();
  const key = `${owner}_${id}`;
  const isImage = type.startsWith("image/");
  await env.FILES.put(key, "bytes");
  await openDb(env)
    .insert(files)
    .values({
      id,
      owner_id: owner,
      name: name ?? "vacances.jpg",
      announced_size: 2_000,
      size: 1_234,
      type,
      width: isImage ? 800 : null,
      height: isImage ? 600 : null,
      key,
      status,
      created_at: Date.now(),
    });
  return { id, key };
};

/** Stored fields of a file seeded with the defaults. */
const seededFields = { name: "vacances.jpg", mime: "image/jpeg", size: 1_234 } as const;

export const makeImageBody = (file: Uuid, text?: string) =>
  ({
    type: "image",
    file,
    ...seededFields,
    width: 800,
    height: 600,
    thumb: "abc",
    ...(text === undefined ? {} : { text }),
  }) satisfies AttachedBody;

export const makeDocumentBody = (file: Uuid, name: string, text?: string) =>
  ({
    type: "file",
    file,
    name,
    mime: "application/pdf",
    size: 1_234,
    ...(text === undefined ? {} : { text }),
  }) satisfies AttachedBody;

export const makeVoiceBody = (file: Uuid) =>
  ({
    type: "voice",
    file,
    ...seededFields,
    mime: "audio/webm",
    ms: 4_000,
    waveform: "0aZ_",
  }) satisfies AttachedBody;

/** Number of messages that reference a file in the directory; undefined if the file does not exist. */
export const countFileReferences = async (file: Uuid): Promise<number | undefined> => {
  const found = await env.DB.prepare(
    "SELECT (SELECT count(*) FROM file_uses WHERE file_id = files.id) AS uses FROM files WHERE id = ?",
  )
    .bind(file)
    .first<number>("uses");
  return found ?? undefined;
};
