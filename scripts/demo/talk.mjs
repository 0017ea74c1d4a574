// Messages of the demo, with stable ids, so that another run does not repeat existing ones.
import { createHash } from "node:crypto";
import { ApiRefusal, callApi } from "./api.mjs";
import { uploadBody } from "./files.mjs";

/** @param {...string} parts */
export function stableId(...parts) {
  const hex = createHash("sha256").update(parts.join("/")).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-7$3-8$4-$5");
}

/**
 * Error handler for `catch` that turns these refusals into undefined.
 * @param {...string} codes
 */
export function ignoreErrors(...codes) {
  return (error) => {
    if (error instanceof ApiRefusal && codes.includes(error.code)) return undefined;
    throw error;
  };
}

/**
 * Sends lines in order, consecutive ones of the same person in one request. Their ids count up from `first`.
 * @param {string} origin
 * @param {{ id: string, name: string, speakers: Record<string, { token: string }> }} conversation
 * @param {string[]} lines each a speaker's letter, a space and the text
 * @param {number} first
 * @returns {Promise<number>} the place of the last
 */
export async function sendLines(origin, { id, name, speakers }, lines, first) {
  let head = 0;
  for (let start = 0; start < lines.length; ) {
    const speaker = lines[start][0];
    let end = start;
    while (lines[end]?.[0] === speaker) end++;
    const messages = lines.slice(start, end).map((line, i) => ({
      cid: stableId(name, String(first + start + i)),
      body: { type: "text", text: line.slice(2) },
    }));
    const { token } = speakers[speaker];
    const { sent } = await callApi(origin, "POST", `/api/conversations/${id}/messages`, { token, body: { messages } });
    for (const { seq } of sent) head = Math.max(head, seq);
    start += sent.length; // messages the server did not accept yet are sent again
  }
  return head;
}

/**
 * Groups consecutive lines of the same speaker.
 * @param {string[]} lines
 * @returns {string[][]}
 */
export const groupBySpeaker = (lines) =>
  lines.reduce(
    (turns, line) => {
      const last = turns.at(-1);
      if (last?.[0]?.[0] === line[0]) last.push(line);
      else turns.push([line]);
      return turns;
    },
    /** @type {string[][]} */ ([]),
  );

/**
 * Sends the i-th attachment of a conversation.
 * @param {string} origin
 * @param {{ id: string, path: string[], speakers: Record<string, any> }} conversation
 * @param {any} attachment
 * @param {number} i
 */
export async function sendAttachment(origin, { id, path, speakers }, attachment, i) {
  const person = speakers[attachment.by];
  const body = await uploadBody(origin, person, stableId(...path, "file", String(i)), attachment);
  const messages = [{ cid: stableId(...path, "shown", String(i)), body }];
  await callApi(origin, "POST", `/api/conversations/${id}/messages`, { token: person.token, body: { messages } });
}
