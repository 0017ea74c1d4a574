import * as v from "valibot";
import { Provider } from "#contract/auth/security.ts";

/**
 * Identity providers for signing in. The Worker writes them into the log-in and registration pages
 * (worker/service/provider-pages.ts).
 */
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

/** Providers listed in the current page. */
export const listPageProviders = (): readonly Provider[] => {
  cachedProviders ??= readProvidersMeta();
  return cachedProviders;
};

/** Sets the providers during prerendering, where there is no page to read. */
export const setPageProviders = (providers: readonly Provider[]): void => {
  cachedProviders = providers;
};

/** Display name of a provider. */
export const toProviderName = (id: string): string =>
  listPageProviders().find((provider) => provider.id === id)?.name ?? id;
