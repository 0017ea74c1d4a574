import { useEffect, useState } from "react";
import { useLanguage } from "#i18n/setup.ts";
import { serializeAppearance, useAppearance } from "#lib/browser/appearance.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useStorageTrouble } from "#sync/hooks/use-live-query.ts";
import { useUnsentSummary } from "#sync/hooks/use-unsent-content.ts";
import { version } from "../../../package.json";
import { collectDiagnostics, formatDiagnostics, formatUnsentCounts, parseBuildId } from "./diagnostics.ts";

const findScriptUrl = (): string => document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "";

/** Version and build id of the app. */
export const getAppVersion = (): string => `${version} (${parseBuildId(findScriptUrl())})`;

/** Diagnostics text; undefined until it is collected. */
export const useDiagnostics = (): string | undefined => {
  const [text, setText] = useState<string>();
  const link = useLinkState();
  const trouble = useStorageTrouble() ?? "none";
  const waiting = formatUnsentCounts(useUnsentSummary());
  const language = useLanguage();
  const look = serializeAppearance(useAppearance());
  useEffect(() => {
    let isCurrent = true;
    void collectDiagnostics({ version: getAppVersion(), language, look, link, trouble, waiting }).then((facts) => {
      if (isCurrent) setText(formatDiagnostics(facts));
    });
    return () => {
      isCurrent = false;
    };
  }, [link, trouble, waiting, language, look]);
  return text;
};
