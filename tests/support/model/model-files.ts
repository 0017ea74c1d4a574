import * as v from "valibot";
import { type FileState, NewFile, partBytes, partCount } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import type { AttachedBody, Body } from "#contract/messages/body.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";

export type ModelFile = {
  id: Uuid;
  owner: Uuid;
  name: string;
  size: number;
  parts: Map<number, Uint8Array>;
  /** Uploads of each part. */
  arrivals: Map<number, number>;
  isReady: boolean;
  isRemoved: boolean;
};

/** Files of the model: announced, uploaded in parts, completed, referenced by messages, read by those allowed to. */
export class ModelFiles {
  readonly all = new Map<Uuid, ModelFile>();
  /** Set to have requests refused. */
  refuse: (user: Uuid, request: HttpRequest) => Refusal | undefined = () => undefined;
  /** What completing detects, if different from the announced file. */
  detected: Partial<Pick<NonNullable<FileState["ready"]>, "type">> = {};

  async handle(user: Uuid, request: HttpRequest): Promise<FileState | Refusal | undefined> {
    const refusal = this.refuse(user, request);
    if (refusal) return refusal;
    const [, , , id = "", what, part] = request.path.split("/");
    const known = this.all.get(id);
    if (request.method === "PUT" && what === undefined) return this.#announce(user, id, request.body);
    if (!known || known.owner !== user || known.isRemoved) return { error: "file_not_found" };
    if (request.method === "GET") return this.#stateOf(known);
    if (request.method === "DELETE") {
      known.isRemoved = true;
      return undefined;
    }
    if (what === "complete") return this.#complete(known);
    return this.#storePart(known, Number(part), request.body);
  }

  /** Completes a body with the known facts of its file, as it is stored. */
  check(user: Uuid, body: AttachedBody, isRead: boolean): Body | Refusal {
    const file = this.all.get(body.file);
    if (!file?.isReady || file.isRemoved || (file.owner !== user && !isRead)) return { error: "file_not_found" };
    return { ...body, name: file.name, size: file.size, mime: this.detected.type ?? body.mime };
  }

  bytes(id: Uuid): Uint8Array {
    const file = this.all.get(id);
    const parts = [...(file?.parts ?? [])].sort(([a], [b]) => a - b);
    return new Uint8Array(parts.flatMap(([, bytes]) => [...bytes]));
  }

  #announce(user: Uuid, id: Uuid, body: unknown): FileState | Refusal {
    const parsed = v.safeParse(NewFile, body);
    if (!parsed.success) return { error: "invalid_input" };
    const { name, size } = parsed.output;
    const blank = { id, owner: user, name, size, isReady: false, isRemoved: false };
    const file = this.all.get(id) ?? { ...blank, parts: new Map(), arrivals: new Map() };
    if (file.owner !== user || file.isRemoved) return { error: "file_not_found" };
    if (file.name !== name || file.size !== size) return { error: "invalid_input" };
    this.all.set(id, file);
    return this.#stateOf(file);
  }

  async #storePart(file: ModelFile, part: number, body: unknown): Promise<undefined | Refusal> {
    if (!(body instanceof Blob) || body.size !== partBytes(file.size, part)) return { error: "file_part_mismatch" };
    file.arrivals.set(part, (file.arrivals.get(part) ?? 0) + 1);
    file.parts.set(part, new Uint8Array(await body.arrayBuffer()));
    return undefined;
  }

  #complete(file: ModelFile): FileState | Refusal {
    if (file.parts.size < partCount(file.size)) return { error: "file_incomplete" };
    file.isReady = true;
    return this.#stateOf(file);
  }

  #stateOf({ id, size, parts, isReady }: ModelFile): FileState {
    const type = this.detected.type ?? "image/jpeg";
    return { id, size, received: [...parts.keys()], ready: isReady ? { type, width: 40, height: 30 } : null };
  }
}
