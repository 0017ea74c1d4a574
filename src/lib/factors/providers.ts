import * as v from "valibot";
import { Provider } from "#contract/auth/security.ts";

/** Identity providers that people may sign in with. The Worker writes it into the log-in and registration pages (worker/service/provider-pages.ts). */
const none: readonly Provider[] = [];

let known: readonly Provider[] | undefined;

const readPage = (): readonly Provider[] => {
  const text = document.querySelector<HTMLMetaElement>('meta[name="providers"]')?.content;
  if (!text) return none;
  try {
    const parsed = v.safeParse(v.array(Provider), JSON.parse(text));
    return parsed.success ? parsed.output : none;
  } catch {
    return none;
  }
};

/** As the page that stands here says it. */
export const listProviders = (): readonly Provider[] => {
  known ??= readPage();
  return known;
};

/** Those that the pages are prerendered for, where there is no page yet. */
export const showProviders = (providers: readonly Provider[]): void => {
  known = providers;
};

/** What a person reads of one. */
export const nameOfProvider = (id: string): string =>
  listProviders().find((provider) => provider.id === id)?.name ?? id;
