import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { languages } from "#contract/language.ts";
import { site } from "#tests/worker/support/site.ts";
import { sendByEmailService, sendMail } from "#worker/mail/send-mail.ts";
import { createConfirmationMail, createFormerAddressMail, createRecoveryMail } from "#worker/mail/texts.ts";
import { createFactorResetMail, createPasswordChangeMail } from "#worker/mail/warnings.ts";

/** Objects of other tests may log errors too. */
const isOfMail = ([line]: unknown[]) => String(line).includes("a mail");

const link = "https://lisolo.test/recover#token=abc&type=recovery";

it("lists the local mails, the newest first, as a page and as JSON", async () => {
  await sendMail(env, createRecoveryMail("mailbox-1@lisolo.test", "fr", { link, code: "12345678" }));
  await sendMail(env, createRecoveryMail("mailbox-2@lisolo.test", "en", { link, code: "87654321" }));
  const answer = await site.fetch("http://localhost/dev/mail", { headers: { accept: "application/json" } });
  const mails = (await answer.json()) as { to: string; text: string }[];
  expect(mails.slice(0, 2).map(({ to }) => to)).toEqual(["mailbox-2@lisolo.test", "mailbox-1@lisolo.test"]);
  const page = await (await site.fetch("http://localhost/dev/mail", {})).text();
  expect(page).toContain('<a href="https://lisolo.test/recover#token=abc&amp;type=recovery">');
});

it("sends through the platform from the configured address", async () => {
  const send = vi.fn<SendEmail["send"]>();
  const post = { MAIL: { send }, MAIL_FROM: "lisolo@lisolo.test" } as unknown as Env;
  const mail = createRecoveryMail("ana@lisolo.test", "fr", { link, code: "12345678" });
  await sendByEmailService(post, mail);
  expect(send).toHaveBeenCalledExactlyOnceWith({ from: "lisolo@lisolo.test", ...mail });
});

it.each([
  ["sends again what the platform does not take for the moment", 2, [undefined, "E_INTERNAL_SERVER_ERROR"], 3, 0],
  ["gives up when it goes on not taking it, and says so once", 5, ["E_RATE_LIMIT_EXCEEDED"], 3, 1],
  ["does not try again whom it may not write to", 5, ["E_RECIPIENT_SUPPRESSED"], 1, 1],
])("%s", async (_, failures, codes, tries, lines) => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const send = vi.fn<SendEmail["send"]>();
  for (let n = 0; n < failures; n++) {
    const code = codes[n % codes.length];
    send.mockRejectedValueOnce(Object.assign(new Error("ana@lisolo.test"), code === undefined ? {} : { code }));
  }
  const mail = createRecoveryMail("ana@lisolo.test", "fr", { link, code: "12345678" });
  await sendByEmailService({ MAIL: { send }, MAIL_FROM: "lisolo@lisolo.test" } as unknown as Env, mail, [0, 0]);
  expect(error.mock.calls.filter(isOfMail)).toHaveLength(lines);
  error.mockRestore();
  expect(send).toHaveBeenCalledTimes(tries);
  for (const [sent] of send.mock.calls) expect(sent).toEqual({ from: "lisolo@lisolo.test", ...mail });
});

it("sends nothing if no sender is configured or the platform refuses, and logs no address", async () => {
  const lines: unknown[][] = [];
  const warn = vi.spyOn(console, "warn").mockImplementation((...line) => void lines.push(line));
  const error = vi.spyOn(console, "error").mockImplementation((...line) => void lines.push(line));
  const refused = Object.assign(new Error("ana@lisolo.test is not verified"), { code: "E_RECIPIENT_NOT_ALLOWED" });
  const send = vi.fn<SendEmail["send"]>().mockRejectedValue(refused);
  const mail = createRecoveryMail("ana@lisolo.test", "fr", { link, code: "12345678" });
  try {
    await sendByEmailService({ MAIL: { send }, MAIL_FROM: "" } as unknown as Env, mail);
    expect(send).not.toHaveBeenCalled();
    await sendByEmailService({ MAIL: { send }, MAIL_FROM: "lisolo@lisolo.test" } as unknown as Env, mail);
    expect(send).toHaveBeenCalledOnce();
  } finally {
    warn.mockRestore();
    error.mockRestore();
  }
  const ofMail = lines.filter(isOfMail);
  expect(ofMail).toHaveLength(2);
  expect(JSON.stringify(ofMail)).toContain("E_RECIPIENT_NOT_ALLOWED");
  expect(JSON.stringify(ofMail)).not.toMatch(/ana|12345678|abc/);
});

it("has the same content in text and HTML, loads no resources and tracks nobody, in every language", () => {
  for (const language of languages) {
    const brought = { link, code: "12345678" };
    const mails = [createRecoveryMail, createConfirmationMail].map((write) =>
      write("ana@lisolo.test", language, brought),
    );
    mails.push(
      createFormerAddressMail("ana@lisolo.test", language, "change"),
      createFormerAddressMail("ana@lisolo.test", language, "removal"),
      createFactorResetMail("ana@lisolo.test", language, Date.now()),
      createPasswordChangeMail("ana@lisolo.test", language),
    );
    for (const { subject, text, html } of mails) {
      expect(subject).toMatch(/^Lisolo/);
      expect(html).toContain(`<html lang="${language}">`);
      expect(html).not.toMatch(/<(img|script|link|style|iframe)|https?:\/\/(?!lisolo\.test)/);
      const words = html
        .replace(/<title>.*?<\/title>|<[^>]+>/g, " ")
        .replaceAll("&amp;", "&")
        .replace(/\s+/g, " ")
        .trim();
      expect(words).toBe(text.replace(/\s+/g, " ").trim());
    }
    for (const { text } of mails.slice(0, 2)) {
      expect(text).toContain(link);
      expect(text).toContain("12345678");
      expect(text).toMatch(/60 minut/);
    }
  }
});

it("escapes user text in HTML", () => {
  const evil = "https://lisolo.test/<script>alert(1)</script>";
  expect(createRecoveryMail("ana@lisolo.test", "en", { link: evil, code: "1" }).html).not.toContain("<script>");
});
