import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { prepareTitleFocus } from "#components/focus/title-focus.ts";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import { isolateBidi } from "#lib/text/bidi.ts";
import { unblockPerson } from "#sync/actions/contacts.ts";
import { useBlockedPeople } from "#sync/hooks/use-people.ts";
import type { PersonRow } from "#sync/store/database.ts";

function BlockedPersonRow({ person }: { person: PersonRow }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const name = toNameOrNumber(person);
  const unblock = async () => {
    const moveFocus = prepareTitleFocus();
    setBusy(true);
    const isDone = await runWithToast(() => unblockPerson(person.id), {
      announced: t("people.unblocked", { name: isolateBidi(name) }),
      failed: t("people.unblockFailed"),
    });
    setBusy(false);
    // The row with the focused button is removed: focus the page title.
    if (isDone) moveFocus();
  };
  return (
    <li className="flex flex-wrap items-center justify-end gap-2 py-3 pr-3 pl-4">
      <Link to={`/app/user/${person.id}`} className="flex min-h-12 min-w-0 flex-[1_1_10rem] items-center rounded-card">
        <PersonListItem person={person} />
      </Link>
      <Button
        variant="secondary"
        className="!px-3 shrink-0 text-sm"
        aria-label={t("people.unblockName", { name })}
        busy={isBusy}
        onClick={() => void unblock()}
      >
        {t("people.unblock")}
      </Button>
    </li>
  );
}

/** Page of blocked people (SPEC.md §2 Blocked contacts). */
export default function BlockedScreen() {
  const { t } = useTranslation();
  const blocked = useBlockedPeople();
  return (
    <Screen
      title={t("blocked.title")}
      description={t("blocked.description")}
      backPath="/app/profile"
      backMode="previous"
      hasProfileButton={false}
    >
      {blocked?.length === 0 && (
        <div className="my-auto">
          <EmptyState icon="i-ph-prohibit" title={t("blocked.none")} body={t("blocked.noneBody")} />
        </div>
      )}
      {blocked && blocked.length > 0 && (
        <div className="mx-auto w-full max-w-120 sm:p-4">
          <p className="px-4 pt-4 pb-2 text-sm text-muted">{t("people.blockBody")}</p>
          <ul
            aria-label={t("blocked.title")}
            className="divide-y divide-line overflow-hidden border-y border-line bg-surface sm:rounded-card sm:border-x"
          >
            {blocked.map((person) => (
              <BlockedPersonRow key={person.id} person={person} />
            ))}
          </ul>
        </div>
      )}
    </Screen>
  );
}
