import { type ReactNode, useId } from "react";
import { Screen } from "./screen.tsx";

type SettingsPageProps = { title: string; description: string; children: ReactNode };

/** Settings page below the own profile. */
export function SettingsPage({ title, description, children }: SettingsPageProps) {
  return (
    <Screen
      title={title}
      description={description}
      backPath="/app/profile"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-5 p-4 pb-8">{children}</div>
    </Screen>
  );
}

type SettingsCardProps = {
  /** Element id that `focusSecurityCard` looks up. */
  anchor?: string;
  title: string;
  icon: string;
  children: (headingId: string) => ReactNode;
};

/** Group of settings with a heading. */
export function SettingsCard({ anchor, title, icon, children }: SettingsCardProps) {
  const made = useId();
  const id = anchor ?? made;
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2">
      <h2 id={id} tabIndex={-1} className="flex items-center gap-2 px-4 font-semibold focus-visible:outline-none">
        <span className={`${icon} shrink-0 text-xl text-muted`} aria-hidden="true" />
        {title}
      </h2>
      <div className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface">
        {children(id)}
      </div>
    </section>
  );
}
