import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { sendMail } from "../../worker/mail/sending";
import { recoveryMail } from "../../worker/mail/texts";
import { site } from "./site";

const link = "https://lisolo.test/recover#token=abc&type=recovery";

it("shows the mails of this machine, the newest first, as a page and as JSON", async () => {
  await sendMail(env, recoveryMail("mailbox-1@lisolo.test", "fr", { link, code: "12345678" }));
  await sendMail(env, recoveryMail("mailbox-2@lisolo.test", "en", { link, code: "87654321" }));
  const answer = await site.fetch(`${site.origin}/dev/mail`, { headers: { accept: "application/json" } });
  const mails = (await answer.json()) as { to: string; text: string }[];
  expect(mails.slice(0, 2).map(({ to }) => to)).toEqual(["mailbox-2@lisolo.test", "mailbox-1@lisolo.test"]);
  const page = await (await site.fetch(`${site.origin}/dev/mail`, {})).text();
  expect(page).toContain('<a href="https://lisolo.test/recover#token=abc&amp;type=recovery">');
});
