import { type ConversationId, createUuid } from "#contract/ids.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import { callSite, type Person, type Site } from "./people.ts";

/** Sends these texts in order, as any API client would. */
export const sendTexts = async (
  site: Site,
  from: Person,
  conversation: ConversationId,
  texts: string[],
): Promise<void> => {
  for (let start = 0; start < texts.length; start += sendBatchMax) {
    const messages = texts
      .slice(start, start + sendBatchMax)
      .map((text) => ({ cid: createUuid(), body: { type: "text", text } }));
    const path = `/api/conversations/${conversation}/messages`;
    const { status, body } = await callSite(site, "POST", path, { token: from.token, body: { messages } });
    if (status !== 200) throw new Error(`not sent: ${status} ${JSON.stringify(body)}`);
  }
};
