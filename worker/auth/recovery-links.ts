import type { AppContext } from "../lib/app";

/** Where a mail leads: our own page, which gets the token in the fragment, so that no log and no other site ever sees it. */
export const toOwnPage = (c: AppContext, type: "recovery" | "email_change", token: string): string =>
  `${new URL(c.req.url).origin}/recover#${new URLSearchParams({ token, type })}`;
