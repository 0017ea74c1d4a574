import { useNavigate } from "react-router";
import { IconLink } from "./icon-button";

/** react-router numbers the entries of this tab's history in `history.state.idx`. */
const historyIndex = (): number => {
  const state: unknown = window.history.state;
  const index = typeof state === "object" && state !== null && "idx" in state ? state.idx : 0;
  return typeof index === "number" ? index : 0;
};

const visited = new Map<number, string>();

/** Told by the shell at every navigation, so that "back" can tell whether the entry before is where it leads. */
export const rememberPath = (pathname: string): void => {
  visited.set(historyIndex(), pathname);
};

/**
 * Leads to the screen above this one. Where that is the entry before, it is the browser's own back, so that its
 * history does not grow and the screen returns as it was left; else it takes this entry's place.
 */
export function BackLink({ to, label }: { to: string; label: string }) {
  const navigate = useNavigate();
  return (
    <IconLink
      icon="i-ph-arrow-left-bold"
      label={label}
      to={to}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        if (visited.get(historyIndex() - 1) === to) navigate(-1);
        else navigate(to, { replace: true });
      }}
    />
  );
}
