import { env } from "cloudflare:workers";
import { type FileState, filePath, partBytes, partCount, partPath } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { filePartBytes } from "#contract/limits/files.ts";
import type { Person } from "#tests/support/people/people.ts";
import { call, site } from "./site.ts";

/** Upload of a file, as a device performs it. */

export type FileAnswer = { status: number; body: FileState & { error_code?: string } };

export const announceFile = async (by: Person, id: Uuid, size: number, name = "photo.jpg"): Promise<FileAnswer> => {
  const { status, body } = await call("PUT", filePath(id), { token: by.token, body: { name, size } });
  return { status, body: body as FileAnswer["body"] };
};

export const readFileState = async (by: Person, id: Uuid): Promise<FileAnswer> => {
  const { status, body } = await call("GET", filePath(id), { token: by.token });
  return { status, body: body as FileAnswer["body"] };
};

export const completeFile = async (by: Person, id: Uuid): Promise<FileAnswer> => {
  const { status, body } = await call("POST", `${filePath(id)}/complete`, { token: by.token });
  return { status, body: body as FileAnswer["body"] };
};

export const uploadPart = async (by: Person, id: Uuid, part: number, body: BodyInit) => {
  const response = await site.fetch(site.origin + partPath(id, part), {
    method: "PUT",
    headers: { authorization: `Bearer ${by.token}` },
    body,
  });
  const text = await response.text();
  return { status: response.status, error: text === "" ? undefined : JSON.parse(text).error_code };
};

export const slicePart = (bytes: Uint8Array, part: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes.subarray(part * filePartBytes, part * filePartBytes + partBytes(bytes.length, part)));

/** Announces a file and uploads all of its parts. */
export const uploadParts = async (by: Person, bytes: Uint8Array, name?: string): Promise<Uuid> => {
  const id = createUuid();
  const { status } = await announceFile(by, id, bytes.length, name);
  if (status !== 200) throw new Error(`not announced: ${status}`);
  for (let part = 0; part < partCount(bytes.length); part++) {
    const brought = await uploadPart(by, id, part, slicePart(bytes, part));
    if (brought.status !== 204) throw new Error(`part ${part} not taken: ${brought.status} ${brought.error}`);
  }
  return id;
};

/** Uploads a whole file and returns the server's state of it. */
export const uploadFile = async (by: Person, bytes: Uint8Array, name?: string): Promise<FileState> => {
  const { status, body } = await completeFile(by, await uploadParts(by, bytes, name));
  if (status !== 200) throw new Error(`not completed: ${status} ${body.error_code}`);
  return body;
};

export const listFileKeys = async (prefix: string): Promise<string[]> =>
  (await env.FILES.list({ prefix })).objects.map(({ key }) => key);

/** Stored object of a file, without an access check. */
export const readStoredFile = async (id: Uuid): Promise<{ key: string; bytes: Buffer } | undefined> => {
  const key = await env.DB.prepare("SELECT key FROM files WHERE id = ?").bind(id).first<string>("key");
  const object = key === null ? null : await env.FILES.get(key);
  return key !== null && object ? { key, bytes: Buffer.from(await object.arrayBuffer()) } : undefined;
};

export const makeRandomBytes = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
};
