import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { pendingSecondFactorMinutes } from "#contract/limits/authentication.ts";
import { getSession, type OpenedSession } from "#lib/session/session.ts";

/**
 * Session that waits for its second factor, saved for phones that discard the page while a code is looked up. Stored
 * per tab. It contains no secret: the cookies belong to the browser.
 */
const PendingSecondFactor = v.object({
  opened: v.object({
    userId: Uuid,
    awaits: Session.entries.awaits.wrapped,
    apps: v.array(v.object({ id: Uuid, friendly_name: v.string() })),
  }),
  /** Started by the log-in page, or by the mail or the code of an account recovery. */
  begun: v.picklist(["login", "mail", "code"]),
  /** Phone number or mail address as typed; empty if there was none. */
  typed: v.string(),
  at: v.number(),
});
export type PendingSecondFactor = Pick<v.InferOutput<typeof PendingSecondFactor>, "begun" | "typed"> & {
  opened: OpenedSession;
};

const storageKey = "owing";
const pendingMaxMs = pendingSecondFactorMinutes * 60_000;

export const savePendingSecondFactor = (pending: PendingSecondFactor): void => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ ...pending, at: Date.now() }));
  } catch {
    // Storage is full or forbidden: the step lasts as long as the page.
  }
};

export const clearPendingSecondFactor = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};

/**
 * Pending second factor that started on this page. A sign-in in another tab has replaced its cookies and discards it.
 */
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

/** Inline script that runs before the first paint: hides the form if the second step will replace it. */
export const buildPendingSecondFactorScript = (page: "login" | "recover"): string =>
  `try{const o=JSON.parse(sessionStorage.${storageKey});` +
  `(o.begun=="login")==${page === "login"}&&Date.now()-o.at<${pendingMaxMs}&&` +
  `document.documentElement.setAttribute("${pendingAttribute}","")}catch{};`;
export const pendingSecondFactorCss = `[${pendingAttribute}] main>*{visibility:hidden}`;

export const isSecondFactorExpected = (): boolean => document.documentElement.hasAttribute(pendingAttribute);

/** Shows the page content again. */
export const clearSecondFactorExpectation = (): void => document.documentElement.removeAttribute(pendingAttribute);
