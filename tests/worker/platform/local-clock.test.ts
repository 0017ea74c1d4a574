import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { site } from "#tests/worker/support/site.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { createConfirmationMail } from "#worker/mail/texts.ts";

const dayMs = 24 * 3_600_000;
const local = "http://localhost";
const setClock = (origin: string, body: string, method = "PUT") => site.fetch(`${origin}/dev/clock`, { method, body });

afterEach(() => setClock(local, ""));

const link = "https://lisolo.test/recover#token=abc";
const writeMail = async (to: string): Promise<number> => {
  await sendMail(env, createConfirmationMail(to, "fr", { link, code: "12345678" }));
  const answer = await site.fetch(`${local}/dev/mail`, { headers: { accept: "application/json" } });
  const mails = (await answer.json()) as { to: string; sent_at: number }[];
  return mails.find((mail) => mail.to === to)?.sent_at ?? 0;
};

it("sets the clock of a local build to the past, and back", async () => {
  const now = Date.now();
  expect((await setClock(local, String(now - 30 * dayMs))).status).toBe(204);
  expect(Date.now()).toBeLessThan(now - 29 * dayMs);
  expect(new Date() < new Date(now - 29 * dayMs)).toBe(true);
  expect(new Date(7).getTime()).toBe(7);
  expect(await writeMail("clock-1@lisolo.test")).toBeLessThan(now - 29 * dayMs);
  expect((await setClock(local, "")).status).toBe(204);
  expect(await writeMail("clock-2@lisolo.test")).toBeGreaterThanOrEqual(now);
});

it("is accepted from this machine only, and not for the future", async () => {
  const now = Date.now();
  expect((await setClock("https://lisolo.example", String(now - dayMs))).status).toBe(404);
  expect((await setClock(local, String(now + dayMs))).status).toBe(400);
  expect((await setClock(local, "yesterday")).status).toBe(400);
  expect((await setClock(local, String(now - dayMs), "POST")).status).toBe(405);
  expect(Date.now()).toBeGreaterThanOrEqual(now);
});
