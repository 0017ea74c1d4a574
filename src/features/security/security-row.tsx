import type { ReactNode } from "react";

type SecurityRowProps = {
  icon?: string;
  title: ReactNode;
  details?: (string | false)[];
  end?: ReactNode;
  /** Id of the text block, for `aria-describedby` of the row's button. */
  textId?: string;
};

/** Item of the account with details and an optional button. */
export function SecurityRow({ icon, title, details = [], end, textId }: SecurityRowProps) {
  return (
    <div className="flex min-h-14 items-center gap-3 py-2 pr-2 pl-4">
      {icon !== undefined && <span className={`${icon} shrink-0 text-2xl text-muted`} aria-hidden="true" />}
      <div id={textId} className="min-w-0 flex-1 py-1">
        <p className="font-medium break-words">{title}</p>
        {details.map(
          (detail) =>
            detail && (
              <p key={detail} className="text-sm text-muted break-words">
                {detail}
              </p>
            ),
        )}
      </div>
      {end}
    </div>
  );
}

type ActionRowProps = { icon: string; label: string; tone?: "danger"; busy?: boolean; onPress: () => void };

/** Full-width button of a card. */
export function ActionRow({ icon, label, tone, busy = false, onPress }: ActionRowProps) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={`busy-button flex min-h-14 w-full items-center gap-3 px-4 py-2 text-left font-semibold -outline-offset-3 hover:bg-raised ${tone === "danger" ? "text-danger" : "text-accent"}`}
      onClick={() => !busy && onPress()}
    >
      <span className={`${icon} shrink-0 text-2xl`} aria-hidden="true" />
      <span className="min-w-0 flex-1 break-words">{label}</span>
      <span className="spinner text-xl" aria-hidden="true" />
    </button>
  );
}

/** Explanatory text in a card. */
export function CardText({ children }: { children: ReactNode }) {
  return <p className="px-4 py-3 text-sm text-muted">{children}</p>;
}
