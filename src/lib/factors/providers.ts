import * as v from "valibot";
import { Provider } from "#contract/auth/security.ts";

/** Identity providers that people may sign in with. The Worker writes it into the log-in and registration pages (worker/service/provider-pages.ts). */
const noProviders: readonly Provider[] = [];

let cachedProviders: readonly Provider[] | undefined;

const readProvidersMeta = (): readonly Provider[] => {
  const text = document.querySelector<HTMLMetaElement>('meta[name="providers"]')?.content;
  if (!text) return noProviders;
  try {
    const parsed = v.safeParse(v.array(Provider), JSON.parse(text));
    return parsed.success ? parsed.output : noProviders;
  } catch {
    return noProviders;
  }
};

/** As the page that stands here says it. */
export const listPageProviders = (): readonly Provider[] => {
  cachedProviders ??= readProvidersMeta();
  return cachedProviders;
};

/** Those that the pages are prerendered for, where there is no page yet. */
export const setPageProviders = (providers: readonly Provider[]): void => {
  cachedProviders = providers;
};

/** What a person reads of one. */
export const toProviderName = (id: string): string =>
  listPageProviders().find((provider) => provider.id === id)?.name ?? id;
