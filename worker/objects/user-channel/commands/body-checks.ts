import { isPermanentError } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import {
  type AttachedBody,
  type Body,
  type Forwarded,
  type ForwardSource,
  findAttachment,
  getEditNumber,
  isAnonymized,
  type StoredBody,
  withoutEdits,
} from "#contract/messages/body.ts";
import { withMentions } from "#contract/messages/mentions.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { findReadyFiles, type ReadyFile } from "#worker/db/files.ts";

/** Verified body, or why it may not be sent. Shared by all messages with the same body. */
export type BodyCheck = () => Promise<Body | Refusal>;

type ForwardOriginal = { body: StoredBody; author: Uuid };

/** The body with the file data of the directory, which replaces what the device claims. */
const fillFileFields = (body: AttachedBody, { name, size, type, width, height }: ReadyFile): Body | Refusal => {
  const fileFields = { name, size, mime: type };
  if (body.type === "file") return { ...body, ...fileFields };
  if (body.type === "voice")
    return type.startsWith("audio/") ? { ...body, ...fileFields } : { error: "file_kind_mismatch" };
  if (!type.startsWith("image/") || width === null || height === null) return { error: "file_kind_mismatch" };
  return { ...body, ...fileFields, width, height };
};

/**
 * Checks the original author of a forward. Without one, the original must be the sender's own. A device may still name
 * an author whose account was deleted since; the anonymized form is stored then.
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

/** Checks a forward against its original and takes over the original's file and text. */
const checkForward = (body: Body, original: ForwardOriginal, me: Uuid): Body | Refusal => {
  const from = original.body;
  if (from.type === "deleted" || from.type === "withheld" || from.type !== body.type) return { error: "original_gone" };
  const { isRight: isAllowed, ...attribution } = checkAttribution(body, original, me);
  if (!isAllowed) return { error: "original_gone" };
  const [sentText, originalText] = [body, from].map((candidate) => ("text" in candidate ? candidate.text : undefined));
  if (sentText !== undefined && sentText !== originalText)
    return { error: getEditNumber(from) > 0 ? "original_edited" : "invalid_input" };
  const [sentFile, fileFields] = [findAttachment(body), findAttachment(from)];
  if (!sentFile || !fileFields) return { ...body, ...attribution };
  if (sentFile.file !== fileFields.file) return { error: "original_gone" };
  // Mentions and a reply are of another conversation, and a copy has no edits.
  const { forwarded: _before, reply: _reply, ...content } = withoutEdits(withMentions(fileFields, []));
  if ("text" in content && sentText === undefined) delete content.text;
  return { ...content, ...attribution };
};

/** Verifies bodies with a file or an original author before they are sent. */
export class BodyChecks {
  readonly #env: Pick<Env, "DB">;
  readonly #user: Uuid;
  readonly #readOriginal: (source: ForwardSource) => Promise<ForwardOriginal | Refusal>;

  /** `read` returns a message that this person may forward. */
  constructor(env: Pick<Env, "DB">, user: Uuid, read: (source: ForwardSource) => Promise<ForwardOriginal | Refusal>) {
    this.#env = env;
    this.#user = user;
    this.#readOriginal = read;
  }

  /** Creates the check of a body, undefined if there is nothing to verify. */
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
    if (!isPermanentError(original.error)) throw new Error("the forwarded message cannot be read now");
    return { error: "original_gone" };
  }

  async #checkOwn(body: Body): ReturnType<BodyCheck> {
    const sentFile = findAttachment(body);
    if (body.forwarded || !sentFile) return { error: "invalid_input" };
    const [file] = await findReadyFiles(openDb(this.#env), this.#user, [sentFile.file]);
    return file ? fillFileFields(sentFile, file) : { error: "file_not_found" };
  }
}
