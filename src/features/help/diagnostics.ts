import { getLanguage } from "#i18n/setup.ts";
import { getAppearance, serializeAppearance } from "#lib/browser/appearance.ts";
import type { UnsentSummary } from "#sync/unsent-summary.ts";

/** What helps somebody else to find out what is wrong on this phone, and says nothing of who uses it. */
export type Diagnostics = {
  version: string;
  language: string;
  look: string;
  browser: string;
  screen: string;
  zoom: string;
  network: string;
  link: string;
  trouble: string;
  waiting: string;
  storage: string;
  worker: string;
  microphone: string;
  camera: string;
};

/** The build's own name: the browser loads the app's first script by it. */
export const parseBuildId = (scriptUrl: string): string =>
  /\/assets\/[\w.]+-([\w-]{6,12})\.js$/.exec(scriptUrl)?.[1] ?? "dev";

/** In English in every language: it is read by those who help. */
export const formatDiagnostics = (facts: Diagnostics): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const unknownValue = "unknown";

/** How much is on this phone only. */
export const formatUnsentCounts = (unsent: UnsentSummary | undefined): string =>
  unsent ? `${unsent.messages} messages, ${unsent.posts} statuses, ${unsent.drafts} drafts` : unknownValue;

const bytesPerMb = 1_000_000;

const readNetwork = (): string => {
  const connection = (
    navigator as Navigator & { connection?: { effectiveType?: string; saveData?: boolean; rtt?: number } }
  ).connection;
  const parts = [navigator.onLine ? "online" : "offline"];
  if (connection?.effectiveType) parts.push(connection.effectiveType);
  if (connection?.rtt !== undefined) parts.push(`${connection.rtt} ms`);
  if (connection?.saveData) parts.push("saving data");
  return parts.join(", ");
};

const readStorage = async (): Promise<string> => {
  const { usage, quota } = await navigator.storage.estimate();
  const kept = (await navigator.storage.persisted()) ? "kept" : "may be cleared";
  const toMb = (bytes: number | undefined) =>
    bytes === undefined ? unknownValue : `${Math.round(bytes / bytesPerMb)} MB`;
  return `${toMb(usage)} of ${toMb(quota)}, ${kept}`;
};

const readPermission = async (name: string): Promise<string> =>
  (await navigator.permissions.query({ name: name as PermissionName })).state;

/** What a browser does not know or does not tell is unknown, and nothing of it keeps the rest from being told. */
const readOrUnknown = (ask: () => Promise<string>): Promise<string> =>
  Promise.resolve()
    .then(ask)
    .catch(() => unknownValue);

export type AppDiagnostics = Pick<Diagnostics, "version" | "link" | "trouble" | "waiting">;

/** Reads the browser's own facts. No address, no time zone, nothing from the local store goes into it. */
export const collectDiagnostics = async (known: AppDiagnostics): Promise<Diagnostics> => {
  const [storage, microphone, camera] = await Promise.all([
    readOrUnknown(readStorage),
    readOrUnknown(() => readPermission("microphone")),
    readOrUnknown(() => readPermission("camera")),
  ]);
  return {
    version: known.version,
    language: getLanguage(),
    look: serializeAppearance(getAppearance()) || "as the system",
    browser: navigator.userAgent,
    screen: `${innerWidth}×${innerHeight} at ${devicePixelRatio}`,
    zoom: getComputedStyle(document.documentElement).fontSize,
    network: readNetwork(),
    link: known.link,
    trouble: known.trouble,
    waiting: known.waiting,
    storage,
    worker: navigator.serviceWorker?.controller ? "running" : "none",
    microphone,
    camera,
  };
};
