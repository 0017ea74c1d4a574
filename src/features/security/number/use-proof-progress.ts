import { useEffect, useState } from "react";
import type { OwnNumber } from "#contract/auth/number.ts";
import { fetchOwnNumber } from "./number-api.ts";

const pollMs = 4_000;
const secondMs = 1_000;

/** Whether a proof of this number has ended, with the number verified or refused. */
const isOver = (own: OwnNumber, phone: string): boolean =>
  own.is_refused || (own.phone === phone && own.verified_at !== null && own.contested_until === null);

/** Asks the server until a message or a call has ended the proof of a number, while the page is visible. */
export const useVerifiedElsewhere = (phone: string, onOver: (own: OwnNumber) => void): void =>
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const poll = async (): Promise<void> => {
      if (document.visibilityState === "hidden") return;
      // A lost connection is no failure: the next question asks again.
      const own = await fetchOwnNumber(signal).catch(() => undefined);
      if (own && isOver(own, phone) && !signal.aborted) onOver(own);
    };
    const timer = setInterval(() => void poll(), pollMs);
    // The person comes back from the other app.
    document.addEventListener("visibilitychange", () => void poll(), { signal });
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [phone, onOver]);

/** Seconds left until a time; zero afterwards. */
export const useSecondsUntil = (at: number): number => {
  const [now, setNow] = useState(() => Date.now());
  const left = Math.max(0, Math.ceil((at - now) / secondMs));
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => setNow(Date.now()), secondMs);
    return () => clearTimeout(timer);
  });
  return left;
};

/** Credential of the browser with the code of a received SMS (WebOTP, W3C). TypeScript does not know it. */
type SmsCredential = Credential & { code: string };
const smsRequest = { otp: { transport: ["sms"] } };

/** Passes on the code of an SMS that names this site, once the person agreed. Other browsers suggest it in the field. */
export const useReceivedCode = (onCode: (code: string) => void): void =>
  useEffect(() => {
    if (!("OTPCredential" in window)) return;
    const controller = new AbortController();
    navigator.credentials
      .get({ ...smsRequest, signal: controller.signal } as CredentialRequestOptions)
      .then((credential) => {
        if (credential && !controller.signal.aborted) onCode((credential as SmsCredential).code);
      })
      .catch(() => undefined); // refused, or no SMS came: the code is typed
    return () => controller.abort();
  }, [onCode]);
