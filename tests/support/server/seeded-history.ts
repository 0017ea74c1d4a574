import { rgbaToThumbHash } from "thumbhash";
import * as v from "valibot";
import { Call } from "#contract/calls/call.ts";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { sendPicture, sendReport, sendVoice } from "#tests/support/browser/chat-files.ts";
import { makePicture } from "#tests/support/people/attachments.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const thumb = Buffer.from(rgbaToThumbHash(2, 2, new Uint8Array(16).fill(120))).toString("base64url");
const pixels = { width: 320, height: 240 };

const requestOk = async (site: Site, by: Person, method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await callSite(site, method, path, { token: by.token, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** Publishes a status, as any API client would. */
const publish = async (site: Site, { token }: Person, content: string, hasPicture = false): Promise<void> => {
  const form = new FormData();
  const post = { id: createUuid(), content, ...(hasPicture ? { picture: { ...pixels, thumb } } : {}) };
  form.append("post", JSON.stringify(post));
  if (hasPicture) {
    const bytes = new Uint8Array(makePicture(pixels.width, pixels.height));
    form.append("picture", new Blob([bytes], { type: "image/png" }));
  }
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await site.fetch(`${site.origin}/api/tala`, { method: "POST", headers, body: form });
  if (status !== 201) throw new Error(`not published: ${status}`);
};

export type SeededHistory = { ana: Person; ben: Person; blocked: Person; asking: Person; asked: Person; group: Uuid };

/** Makes people `n` to `n + 4`. Ana has content on every screen; Ben is the person she chats with. */
export const seedHistory = async (site: Site, n: number): Promise<SeededHistory> => {
  const [ana, ben] = [await makePerson(site, n, "Ana Mbuyi"), await makePerson(site, n + 1, "Ben Kasongo")];
  const [blocked, asking] = [await makePerson(site, n + 2, "Chloé"), await makePerson(site, n + 3, "Didier Ilunga")];
  const asked = await makePerson(site, n + 4, "Esther");
  for (const other of [ben, blocked]) await connectPeople(site, ana, other);
  await requestOk(site, asking, "POST", "/api/requests", { to_user_id: ana.id });
  await requestOk(site, ana, "POST", "/api/requests", { to_user_id: asked.id });

  const chat = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, chat, ["À regretter"]);
  await requestOk(site, ana, "DELETE", `/api/conversations/${chat}/messages/1`);
  const dialled = await requestOk(site, ana, "POST", "/api/calls", { callee_id: ben.id, type: "audio" });
  const { call_id } = v.parse(v.object({ call_id: Call.entries.call_id }), dialled);
  await requestOk(site, ana, "POST", `/api/calls/${call_id}/end`, { to_user_id: ben.id, status: "cancelled" });
  await sendPicture(site, ben, chat, "fleuve.png", 0, "Vue du fleuve");
  await sendVoice(site, ben, chat, 2_000);
  await sendReport(site, ana, chat);
  await sendTexts(site, ben, chat, ["Mbote Ana, voir https://example.org"]);
  await sendTexts(site, ana, chat, ["Mbote Ben"]);
  await sendTexts(site, ben, privateConversationId(ben.id, ana.id), ["À ce soir"]);
  await sendTexts(site, blocked, privateConversationId(ana.id, blocked.id), ["Avant"]);
  await requestOk(site, ana, "PUT", `/api/blocks/${blocked.id}`);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ben, group, ["Bonsoir la famille"]);
  await sendTexts(site, ana, group, ["Bonsoir"]);
  await requestOk(site, ana, "PUT", `/api/mutes/${group}`);

  await publish(site, ben, "Une belle journée à tous");
  await publish(site, ben, "Sur la route de Matadi", true);
  await publish(site, ana, "Bon dimanche, voir https://example.org", true);
  await publish(site, ana, "Mbote na bino");
  return { ana, ben, blocked, asking, asked, group };
};
