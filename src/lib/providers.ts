import * as v from "valibot";
import { Provider } from "../../contract/security";

/** Where the Worker writes, into the log-in and registration pages, who signs people in besides us (worker/documents.ts). */
const metaName = "providers";
const none: readonly Provider[] = [];

let known: readonly Provider[] | undefined;

const readPage = (): readonly Provider[] => {
  const text = document.querySelector<HTMLMetaElement>(`meta[name="${metaName}"]`)?.content;
  if (!text) return none;
  try {
    const parsed = v.safeParse(v.array(Provider), JSON.parse(text));
    return parsed.success ? parsed.output : none;
  } catch {
    return none;
  }
};

/** Who signs people in besides us, as the page that stands here says it. */
export const listProviders = (): readonly Provider[] => {
  known ??= readPage();
  return known;
};
