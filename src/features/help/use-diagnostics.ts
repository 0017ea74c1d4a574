import { useEffect, useState } from "react";
import { useLanguage } from "#i18n/setup.ts";
import { useAppearance } from "#lib/browser/appearance.ts";
import { useLink, useStorageTrouble, useUnsent } from "#sync/hooks/use-live-query.ts";
import { version } from "../../../package.json";
import { buildName, readFacts, toDiagnosis, toWaiting } from "./diagnostics.ts";

const scriptUrl = (): string => document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "";

/** Which Lisolo this is. */
export const readVersion = (): string => `${version} (${buildName(scriptUrl())})`;

/** The lines to copy; undefined until the browser has told. */
export const useDiagnosis = (): string | undefined => {
  const [text, setText] = useState<string>();
  const link = useLink();
  const trouble = useStorageTrouble() ?? "none";
  const waiting = toWaiting(useUnsent());
  const language = useLanguage();
  const appearance = useAppearance();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines name the language and the appearance
  useEffect(() => {
    let isWanted = true;
    void readFacts({ version: readVersion(), link, trouble, waiting }).then((facts) => {
      if (isWanted) setText(toDiagnosis(facts));
    });
    return () => {
      isWanted = false;
    };
  }, [link, trouble, waiting, language, appearance]);
  return text;
};
