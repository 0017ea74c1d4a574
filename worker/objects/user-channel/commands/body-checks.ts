import {
  type AttachedBody,
  type Body,
  type Forwarded,
  type ForwardSource,
  findAttachment,
  isAnonymized,
  type StoredBody,
} from "#contract/conversations.ts";
import { isPermanentError } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findReadyFiles, type ReadyFile } from "#worker/db/files.ts";

/** What of a body is true, or why it may not be sent: the same for all messages that say it. */
export type BodyCheck = () => Promise<Body | Refusal>;

type ForwardOriginal = { body: StoredBody; author: Uuid };

/** The body with what the directory says of its file: what a device says of it counts for nothing. */
const fillFileFields = (body: AttachedBody, { name, size, type, width, height }: ReadyFile): Body | Refusal => {
  const fileFields = { name, size, mime: type };
  if (body.type === "file") return { ...body, ...fileFields };
  if (body.type === "voice")
    return type.startsWith("audio/") ? { ...body, ...fileFields } : { error: "file_kind_mismatch" };
  if (!type.startsWith("image/") || width === null || height === null) return { error: "file_kind_mismatch" };
  return { ...body, ...fileFields, width, height };
};

/**
 * The mark of who wrote something first, as it may stand with it: without one it has to be the sender's own. A device that
 * names somebody whom the original names no more does not know yet that their account is gone.
 */
const checkAttribution = (
  { forwarded }: Body,
  { body, author }: ForwardOriginal,
  me: Uuid,
): { isRight: boolean; forwarded?: Forwarded } => {
  const originalForwarded = "forwarded" in body ? body.forwarded : undefined;
  if (!forwarded) return { isRight: author === me && !originalForwarded };
  if (forwarded.by === author) return { isRight: true, forwarded };
  if (originalForwarded && isAnonymized(body)) return { isRight: true, forwarded: originalForwarded };
  return { isRight: forwarded.by === originalForwarded?.by, forwarded };
};

/** A body that repeats what was read elsewhere, with the file and the words that stand there. */
const checkForward = (body: Body, original: ForwardOriginal, me: Uuid): Body | Refusal => {
  const from = original.body;
  if (from.type === "deleted" || from.type === "withheld" || from.type !== body.type) return { error: "original_gone" };
  const { isRight: isAllowed, ...attribution } = checkAttribution(body, original, me);
  if (!isAllowed) return { error: "original_gone" };
  const [sentText, originalText] = [body, from].map((candidate) => ("text" in candidate ? candidate.text : undefined));
  if (sentText !== undefined && sentText !== originalText) return { error: "invalid_input" };
  const [sentFile, fileFields] = [findAttachment(body), findAttachment(from)];
  if (!sentFile || !fileFields) return { ...body, ...attribution };
  if (sentFile.file !== fileFields.file) return { error: "original_gone" };
  const { forwarded: _before, ...content } = fileFields;
  if ("text" in content && sentText === undefined) delete content.text;
  return { ...content, ...attribution };
};

/** Looks at bodies that name a file or somebody else before they are sent. */
export class BodyChecks {
  readonly #env: Pick<Env, "DB">;
  readonly #user: Uuid;
  readonly #readOriginal: (source: ForwardSource) => Promise<ForwardOriginal | Refusal>;

  /** `read` finds a message as this person may pass it on. */
  constructor(env: Pick<Env, "DB">, user: Uuid, read: (source: ForwardSource) => Promise<ForwardOriginal | Refusal>) {
    this.#env = env;
    this.#user = user;
    this.#readOriginal = read;
  }

  /** Undefined for a body of which there is nothing to find out. */
  createCheck(body: Body, source: ForwardSource | undefined): BodyCheck | undefined {
    if (!source && !body.forwarded && !findAttachment(body)) return undefined;
    let answer: ReturnType<BodyCheck> | undefined;
    return () => {
      answer ??= source ? this.#checkForward(body, source) : this.#checkOwn(body);
      return answer;
    };
  }

  async #checkForward(body: Body, source: ForwardSource): ReturnType<BodyCheck> {
    const original = await this.#readOriginal(source);
    if (!isRefusal(original)) return checkForward(body, original, this.#user);
    if (!isPermanentError(original.error)) throw new Error("what is to be passed on cannot be read now");
    return { error: "original_gone" };
  }

  async #checkOwn(body: Body): ReturnType<BodyCheck> {
    const sentFile = findAttachment(body);
    if (body.forwarded || !sentFile) return { error: "invalid_input" };
    const [file] = await findReadyFiles(openDb(this.#env), this.#user, [sentFile.file]);
    return file ? fillFileFields(sentFile, file) : { error: "file_not_found" };
  }
}
