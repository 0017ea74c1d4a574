import { type Language, resolveLanguage } from "#contract/language.ts";
import type { AppContext } from "./app.ts";

/** Language of the requester: the one chosen in this browser, else the preferred one, else French. */
export const getRequestLanguage = (c: AppContext): Language =>
  resolveLanguage({ cookies: c.req.header("cookie"), accept: c.req.header("accept-language") });
