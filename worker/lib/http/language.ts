import { type Language, resolveLanguage } from "#contract/language.ts";
import type { AppContext } from "./app.ts";

/** The language of whoever asks: what they chose in this browser, what it prefers, French. */
export const getRequestLanguage = (c: AppContext): Language =>
  resolveLanguage({ cookies: c.req.header("cookie"), accept: c.req.header("accept-language") });
