import { useEffect, useState } from "react";
import type { NumberMethod, OwnNumber } from "#contract/auth/number.ts";
import { secondMs } from "#contract/limits/durations.ts";
import { fetchOwnNumber } from "./number-api.ts";
import { isOver } from "./running-proof.ts";

const pollMs = 4_000;

type AwaitedProof = {
  phone: string;
  method: NumberMethod;
  onOver: (own: OwnNumber) => void;
  /** Called with each answer that says that the proof goes on. */
  onAnswer?: (own: OwnNumber) => void;
};

/** Asks the server until a message, a call or contacts have ended the proof of a number, while the page is visible. */
export const useVerifiedElsewhere = ({ phone, method, onOver, onAnswer }: AwaitedProof): void =>
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const poll = async (): Promise<void> => {
      if (document.visibilityState === "hidden") return;
      // A lost connection is no failure: the next question asks again.
      const own = await fetchOwnNumber(signal).catch(() => undefined);
      if (!own || signal.aborted) return;
      if (isOver(own, phone, method)) onOver(own);
      else onAnswer?.(own);
    };
    const timer = setInterval(() => void poll(), pollMs);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [phone, method, onOver, onAnswer]);

/** Calls back whenever the person returns to the page: the number may have been verified meanwhile, on any device. */
export const useReturn = (onReturn: () => void): void =>
  useEffect(() => {
    const handleChange = () => {
      if (document.visibilityState === "visible") onReturn();
    };
    document.addEventListener("visibilitychange", handleChange);
    return () => document.removeEventListener("visibilitychange", handleChange);
  }, [onReturn]);

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

/** Passes on the code of an SMS that names this site, if the person agrees. Other browsers suggest it in the field. */
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
