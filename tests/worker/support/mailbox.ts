import * as v from "valibot";
import { site } from "./site.ts";

const Mails = v.array(v.object({ to: v.string(), subject: v.string(), text: v.string(), html: v.string() }));
export type Mail = v.InferOutput<typeof Mails>[number];

/** Mails to an address that were stored locally, newest first. */
export const readMails = async (address: string): Promise<Mail[]> => {
  const answer = await site.fetch("http://localhost/dev/mail", { headers: { accept: "application/json" } });
  return v.parse(Mails, await answer.json()).filter(({ to }) => to === address);
};

/** Link, token and code of a mail. */
export const parseMail = ({ text }: Mail): { link: URL; token: string; code: string } => {
  const link = new URL(/https:\S+/.exec(text)?.[0] ?? "");
  const token = link.searchParams.get("token") ?? new URLSearchParams(link.hash.slice(1)).get("token") ?? "";
  return { link, token, code: /\b\d{8}\b/.exec(text)?.[0] ?? "" };
};
