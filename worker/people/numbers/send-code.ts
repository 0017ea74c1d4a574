import type { Language } from "#contract/language.ts";
import { numberProofMinutes } from "#contract/limits/phone-numbers.ts";
import { logError } from "#worker/lib/log.ts";
import { type CodeAdapter, fillPlaceholders, localSmsUrl } from "#worker/lib/number-adapters.ts";
import { storeLocalSms } from "#worker/mail/local-sms.ts";

const timeoutMs = 10_000;

/** Only letters of the GSM alphabet (3GPP TS 23.038), so that a text is one SMS. */
const texts: Record<Language, (code: string) => string> = {
  fr: (code) =>
    `Lisolo : votre code est ${code}, pendant ${numberProofMinutes} minutes. Ne le donnez à personne, Lisolo ne le demande jamais.`,
  en: (code) =>
    `Lisolo: your code is ${code}, for ${numberProofMinutes} minutes. Give it to nobody, Lisolo never asks for it.`,
  pt: (code) =>
    `Lisolo: o seu codigo é ${code}, durante ${numberProofMinutes} minutos. Nunca o partilhe, o Lisolo nunca o pede.`,
};

/** Text of an SMS. Its last line lets the browser fill the code in on this site only (WebOTP, W3C). */
const toText = (language: Language, code: string, host: string | undefined): string =>
  texts[language](code) + (host === undefined ? "" : `\n\n@${host} #${code}`);

const encoders: Record<CodeAdapter["content_type"], (value: string) => string> = {
  "application/json": (value) => JSON.stringify(value).slice(1, -1),
  "application/x-www-form-urlencoded": encodeURIComponent,
};

type CodeMessage = { to: string; code: string; language: Language; host: string | undefined };

/** Sends a code to a number by an adapter's aggregator. False unless it was accepted. Numbers are not logged. */
export const sendCode = async (
  adapter: CodeAdapter,
  secrets: Record<string, string>,
  { to, code, language, host }: CodeMessage,
): Promise<boolean> => {
  const text = toText(language, code, adapter.method === "sms_code" ? host : undefined);
  if (LOCAL_MAILBOX && adapter.url === localSmsUrl) {
    storeLocalSms({ to, channel: adapter.method, text });
    return true;
  }
  const values = { to, to_digits: to.slice(1), text, code, language };
  const headers = Object.entries(adapter.headers).map(([name, value]): [string, string] => [
    name,
    fillPlaceholders(value, {}, secrets, (secret) => secret),
  ]);
  try {
    const response = await fetch(adapter.url, {
      method: "POST",
      redirect: "manual",
      headers: [["content-type", adapter.content_type], ...headers],
      body: fillPlaceholders(adapter.body, values, secrets, encoders[adapter.content_type]),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) console.error(`a code was not sent: ${adapter.id} answered ${response.status}`);
    return response.ok;
  } catch (error) {
    logError(`a code was not sent by ${adapter.id}`, error);
    return false;
  }
};
