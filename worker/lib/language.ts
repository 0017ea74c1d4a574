import { type Language, resolveLanguage } from "../../contract/language";
import type { AppContext } from "./app";

/** The language of whoever asks: what they chose in this browser, what it prefers, French. */
export const languageOf = (c: AppContext): Language =>
  resolveLanguage({ cookies: c.req.header("cookie"), accept: c.req.header("accept-language") });
