import type { UnsentSummary } from "#sync/drafts/unsent-summary.ts";

/** Technical facts for diagnosing a problem on this device. They contain no personal data. */
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

/** Parses the build id (content hash) from the URL of the app's entry script; "dev" if there is none. */
export const parseBuildId = (scriptUrl: string): string =>
  /\/assets\/[\w.]+-([\w-]{6,12})\.js$/.exec(scriptUrl)?.[1] ?? "dev";

/** Formats the facts, one per line. Always in English, because support staff read it. */
export const formatDiagnostics = (facts: Diagnostics): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const unknownValue = "unknown";

/** Formats the number of items that exist on this device only. */
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
  const persistence = (await navigator.storage.persisted()) ? "kept" : "may be cleared";
  const toMb = (bytes: number | undefined) =>
    bytes === undefined ? unknownValue : `${Math.round(bytes / bytesPerMb)} MB`;
  return `${toMb(usage)} of ${toMb(quota)}, ${persistence}`;
};

const readPermission = async (name: string): Promise<string> =>
  (await navigator.permissions.query({ name: name as PermissionName })).state;

/** Runs a query of a browser API; "unknown" if it is unsupported or fails. */
const readOrUnknown = (query: () => Promise<string>): Promise<string> =>
  Promise.resolve()
    .then(query)
    .catch(() => unknownValue);

export type AppDiagnostics = Pick<Diagnostics, "version" | "language" | "look" | "link" | "trouble" | "waiting">;

/** Collects the facts. It includes no IP address, no time zone and no stored content. */
export const collectDiagnostics = async (appState: AppDiagnostics): Promise<Diagnostics> => {
  const [storage, microphone, camera] = await Promise.all([
    readOrUnknown(readStorage),
    readOrUnknown(() => readPermission("microphone")),
    readOrUnknown(() => readPermission("camera")),
  ]);
  return {
    version: appState.version,
    language: appState.language,
    look: appState.look || "as the system",
    browser: navigator.userAgent,
    screen: `${innerWidth}×${innerHeight} at ${devicePixelRatio}`,
    zoom: getComputedStyle(document.documentElement).fontSize,
    network: readNetwork(),
    link: appState.link,
    trouble: appState.trouble,
    waiting: appState.waiting,
    storage,
    worker: navigator.serviceWorker?.controller ? "running" : "none",
    microphone,
    camera,
  };
};
