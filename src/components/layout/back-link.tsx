import { useNavigate } from "react-router";
import { IconLink } from "#components/controls/icon-link.tsx";

/** react-router numbers the entries of this tab's history in `history.state.idx`. */
const getHistoryIndex = (): number => {
  const state: unknown = window.history.state;
  const index = typeof state === "object" && state !== null && "idx" in state ? state.idx : 0;
  return typeof index === "number" ? index : 0;
};

const visitedPaths = new Map<number, string>();

/** Told by the shell at every navigation, so that "back" can tell whether the entry before is where it leads. */
export const recordVisitedPath = (pathname: string): void => {
  visitedPaths.set(getHistoryIndex(), pathname);
};

/** `up` leads to the screen above this one; `previous` to where the person came from, and `to` only stands in for it. */
export type BackMode = "up" | "previous";

/**
 * Where the entry before is the right one, this is the browser's own back, so that its history does not grow and
 * the screen returns as it was left; else `to` takes this entry's place.
 */
export function BackLink({ to, mode, label }: { to: string; mode: BackMode; label: string }) {
  const navigate = useNavigate();
  return (
    <IconLink
      icon="i-ph-arrow-left-bold"
      label={label}
      to={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        const before = visitedPaths.get(getHistoryIndex() - 1);
        if (before === to || (mode === "previous" && before !== undefined)) navigate(-1);
        else navigate(to, { replace: true });
      }}
    />
  );
}
