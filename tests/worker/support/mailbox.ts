import * as v from "valibot";
import { site } from "./site.ts";

const Mails = v.array(v.object({ to: v.string(), subject: v.string(), text: v.string(), html: v.string() }));
export type Mail = v.InferOutput<typeof Mails>[number];

/** The mails to an address that this machine kept, the newest first. */
export const mailsTo = async (address: string): Promise<Mail[]> => {
  const answer = await site.fetch("http://localhost/dev/mail", { headers: { accept: "application/json" } });
  return v.parse(Mails, await answer.json()).filter(({ to }) => to === address);
};

/** What a mail brought. */
export const broughtBy = ({ text }: Mail): { link: URL; token: string; code: string } => {
  const link = new URL(/https:\S+/.exec(text)?.[0] ?? "");
  const token = link.searchParams.get("token") ?? new URLSearchParams(link.hash.slice(1)).get("token") ?? "";
  return { link, token, code: /\b\d{8}\b/.exec(text)?.[0] ?? "" };
};
