import type { ReactNode } from "react";

/** Content of an empty list: an icon, a message and an optional action. */
export function EmptyState(props: { icon: string; title: string; body?: ReactNode; action?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-88 flex-col items-center gap-2 px-6 py-12 text-center">
      <span
        className="mb-2 grid size-18 place-items-center rounded-full bg-accent-soft text-[36px] text-accent"
        aria-hidden="true"
      >
        <span className={props.icon} />
      </span>
      <p className="text-lg font-semibold text-balance">{props.title}</p>
      {props.body && <p className="text-muted text-pretty [overflow-wrap:anywhere]">{props.body}</p>}
      {props.action && <div className="mt-3">{props.action}</div>}
    </div>
  );
}
