import { useTranslation } from "react-i18next";

type StaleListNoteProps = {
  /** How many are in the list; undefined while there is none. */
  shown: number | undefined;
  /** How many the group has. */
  count: number;
  state: "loading" | "ready" | "failed";
};

/** Says of a list of members that is shown before it is level with the group what may be wrong with it. */
export function StaleListNote({ shown, count, state }: StaleListNoteProps) {
  const { t } = useTranslation();
  const note = () => {
    if (shown === undefined || state === "ready") return undefined;
    if (shown >= count) return state === "failed" ? t("groups.page.outdated") : undefined;
    return t(state === "failed" ? "groups.page.incomplete" : "groups.page.loadingRest");
  };
  const text = note();
  // Always there, as a status that comes with its words is not read out everywhere.
  return <div role="status">{text !== undefined && <p className="px-4 pb-3 text-muted">{text}</p>}</div>;
}
