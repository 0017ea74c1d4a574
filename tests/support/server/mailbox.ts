import * as v from "valibot";

const Mails = v.array(v.object({ to: v.string(), subject: v.string(), text: v.string() }));
export type Mail = v.InferOutput<typeof Mails>[number];

/** Mails to an address that a local server stored, newest first. */
export const readMails = async (origin: string, address: string): Promise<Mail[]> => {
  const answer = await fetch(`${origin}/dev/mail`, { headers: { accept: "application/json" } });
  return v.parse(Mails, await answer.json()).filter(({ to }) => to === address);
};

/** Link, token and code of a mail. */
export const parseMail = ({ text }: Mail): { link: string; token: string; code: string } => {
  const link = /https?:\S+/.exec(text)?.[0] ?? "";
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
  return { link, token, code: /\b\d{8}\b/.exec(text)?.[0] ?? "" };
};
