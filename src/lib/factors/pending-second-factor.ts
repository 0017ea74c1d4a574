import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { pendingSecondFactorMinutes } from "#contract/limits.ts";
import { getSession, type OpenedSession } from "#lib/session/session.ts";

/**
 * A session that owes its second step, for a phone that lets the page go while its person looks up a code. Of this tab
 * alone; nothing in it is secret, and its cookies are the browser's.
 */
const PendingSecondFactor = v.object({
  opened: v.object({
    userId: Uuid,
    awaits: Session.entries.awaits.wrapped,
    apps: v.array(v.object({ id: Uuid, friendly_name: v.string() })),
  }),
  /** By the log-in page in whichever way, or by the mail or the code of a recovery. */
  begun: v.picklist(["login", "mail", "code"]),
  /** The number, or the mail's address, as typed; empty where none was. */
  typed: v.string(),
  at: v.number(),
});
export type PendingSecondFactor = Pick<v.InferOutput<typeof PendingSecondFactor>, "begun" | "typed"> & {
  opened: OpenedSession;
};

const storageKey = "owing";
const pendingMaxMs = pendingSecondFactorMinutes * 60_000;

export const savePendingSecondFactor = (owing: PendingSecondFactor): void => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ ...owing, at: Date.now() }));
  } catch {
    // Storage is full or forbidden: the step lives as long as the page.
  }
};

export const clearPendingSecondFactor = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** What began on this page and may still be owed. Whoever signed in since, in another tab, took the cookies of it. */
export const findPendingSecondFactor = (page: "login" | "recover"): PendingSecondFactor | undefined => {
  try {
    const parsed = v.safeParse(PendingSecondFactor, JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
    if (!parsed.success || Date.now() - parsed.output.at > pendingMaxMs || getSession()) {
      clearPendingSecondFactor();
      return undefined;
    }
    return (parsed.output.begun === "login") === (page === "login") ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

const pendingAttribute = "data-owing";

/** Runs before the first paint: the form keeps out of sight where its second step is about to take its place. */
export const buildPendingSecondFactorScript = (page: "login" | "recover"): string =>
  `try{const o=JSON.parse(sessionStorage.${storageKey});` +
  `(o.begun=="login")==${page === "login"}&&Date.now()-o.at<${pendingMaxMs}&&` +
  `document.documentElement.setAttribute("${pendingAttribute}","")}catch{};`;
export const pendingSecondFactorCss = `[${pendingAttribute}] main>*{visibility:hidden}`;

export const isSecondFactorExpected = (): boolean => document.documentElement.hasAttribute(pendingAttribute);

/** Whatever there is now may be seen. */
export const clearSecondFactorExpectation = (): void => document.documentElement.removeAttribute(pendingAttribute);
