import { useMemo } from "react";
import { formatDate, formatDay, formatTime } from "./format.ts";
import { useLanguage } from "./setup.ts";

/** Formatting functions that follow the language of a component. */
export const useFormat = () => {
  const language = useLanguage();
  return useMemo(
    () => ({
      time: (at: number) => formatTime(at, language),
      date: (at: number) => formatDate(at, language),
      day: (at: number) => formatDay(at, language),
    }),
    [language],
  );
};
