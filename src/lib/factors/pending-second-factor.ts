import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { awaitingMinutes } from "#contract/limits.ts";
import { getSession, type Opened } from "#lib/session/session.ts";

/**
 * A session that owes its second step, for a phone that lets the page go while its person looks up a code. Of this tab
 * alone; nothing in it is secret, and its cookies are the browser's.
 */
const Owing = v.object({
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
export type Owing = Pick<v.InferOutput<typeof Owing>, "begun" | "typed"> & { opened: Opened };

const storageKey = "owing";
const owingMs = awaitingMinutes * 60_000;

export const keepOwing = (owing: Owing): void => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ ...owing, at: Date.now() }));
  } catch {
    // Storage is full or forbidden: the step lives as long as the page.
  }
};

export const forgetOwing = (): void => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** What began on this page and may still be owed. Whoever signed in since, in another tab, took the cookies of it. */
export const findOwing = (page: "login" | "recover"): Owing | undefined => {
  try {
    const parsed = v.safeParse(Owing, JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
    if (!parsed.success || Date.now() - parsed.output.at > owingMs || getSession()) {
      forgetOwing();
      return undefined;
    }
    return (parsed.output.begun === "login") === (page === "login") ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

const mark = "data-owing";

/** Runs before the first paint: the form keeps out of sight where its second step is about to take its place. */
export const owingScript = (page: "login" | "recover"): string =>
  `try{const o=JSON.parse(sessionStorage.${storageKey});` +
  `(o.begun=="login")==${page === "login"}&&Date.now()-o.at<${owingMs}&&` +
  `document.documentElement.setAttribute("${mark}","")}catch{};`;
export const owingCss = `[${mark}] main>*{visibility:hidden}`;

export const isStepExpected = (): boolean => document.documentElement.hasAttribute(mark);

/** Whatever there is now may be seen. */
export const endExpectation = (): void => document.documentElement.removeAttribute(mark);
