import {
  type AttachedBody,
  attachmentOf,
  type Body,
  type Forwarded,
  isUnsigned,
  type Source,
  type StoredBody,
} from "#contract/conversations.ts";
import { isPermanent } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findReadyFiles, type ReadyFile } from "#worker/db/files.ts";

/** What of a body is true, or why it may not be sent: the same for all messages that say it. */
export type BodyCheck = () => Promise<Body | Refusal>;

type Original = { body: StoredBody; author: Uuid };

/** The body with what the directory says of its file: what a device says of it counts for nothing. */
const withFile = (body: AttachedBody, { name, size, type, width, height }: ReadyFile): Body | Refusal => {
  const known = { name, size, mime: type };
  if (body.type === "file") return { ...body, ...known };
  if (body.type === "voice") return type.startsWith("audio/") ? { ...body, ...known } : { error: "file_kind_mismatch" };
  if (!type.startsWith("image/") || width === null || height === null) return { error: "file_kind_mismatch" };
  return { ...body, ...known, width, height };
};

/**
 * The mark of who wrote something first, as it may stand with it: without one it has to be the sender's own. A device that
 * names somebody whom the original names no more does not know yet that their account is gone.
 */
const markOf = (
  { forwarded }: Body,
  { body, author }: Original,
  me: Uuid,
): { isRight: boolean; forwarded?: Forwarded } => {
  const before = "forwarded" in body ? body.forwarded : undefined;
  if (!forwarded) return { isRight: author === me && !before };
  if (forwarded.by === author) return { isRight: true, forwarded };
  if (before && isUnsigned(body)) return { isRight: true, forwarded: before };
  return { isRight: forwarded.by === before?.by, forwarded };
};

/** A body that repeats what was read elsewhere, with the file and the words that stand there. */
const passedOn = (body: Body, original: Original, me: Uuid): Body | Refusal => {
  const from = original.body;
  if (from.type === "deleted" || from.type === "withheld" || from.type !== body.type) return { error: "original_gone" };
  const { isRight, ...mark } = markOf(body, original, me);
  if (!isRight) return { error: "original_gone" };
  const [said, stood] = [body, from].map((one) => ("text" in one ? one.text : undefined));
  if (said !== undefined && said !== stood) return { error: "invalid_input" };
  const [named, known] = [attachmentOf(body), attachmentOf(from)];
  if (!named || !known) return { ...body, ...mark };
  if (named.file !== known.file) return { error: "original_gone" };
  const { forwarded: _before, ...content } = known;
  if ("text" in content && said === undefined) delete content.text;
  return { ...content, ...mark };
};

/** Looks at bodies that name a file or somebody else before they are sent. */
export class BodyChecks {
  readonly #env: Pick<Env, "DB">;
  readonly #user: Uuid;
  readonly #read: (source: Source) => Promise<Original | Refusal>;

  /** `read` finds a message as this person may pass it on. */
  constructor(env: Pick<Env, "DB">, user: Uuid, read: (source: Source) => Promise<Original | Refusal>) {
    this.#env = env;
    this.#user = user;
    this.#read = read;
  }

  /** Undefined for a body of which there is nothing to find out. */
  of(body: Body, source: Source | undefined): BodyCheck | undefined {
    if (!source && !body.forwarded && !attachmentOf(body)) return undefined;
    let answer: ReturnType<BodyCheck> | undefined;
    return () => {
      answer ??= source ? this.#passOn(body, source) : this.#own(body);
      return answer;
    };
  }

  async #passOn(body: Body, source: Source): ReturnType<BodyCheck> {
    const original = await this.#read(source);
    if (!isRefusal(original)) return passedOn(body, original, this.#user);
    if (!isPermanent(original.error)) throw new Error("what is to be passed on cannot be read now");
    return { error: "original_gone" };
  }

  async #own(body: Body): ReturnType<BodyCheck> {
    const named = attachmentOf(body);
    if (body.forwarded || !named) return { error: "invalid_input" };
    const [file] = await findReadyFiles(openDb(this.#env), this.#user, [named.file]);
    return file ? withFile(named, file) : { error: "file_not_found" };
  }
}
