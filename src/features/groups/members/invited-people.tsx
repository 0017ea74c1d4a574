import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { keepFocusInRows } from "#components/focus/row-focus.ts";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import type { GroupCandidates } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { useFormat } from "#i18n/use-format.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { withdrawGroupInvitation } from "#sync/actions/group-invitations.ts";
import type { GroupCandidatesView } from "./use-group-candidates.ts";

type InvitedPeopleProps = {
  group: Uuid;
  invited: GroupCandidates["invited"];
  onWithdrawn: () => void;
  /** On the group page; otherwise in a sheet, where it scrolls by itself. */
  isOnPage?: boolean;
};

/** People with an invitation that they have not accepted. It can be withdrawn. */
export function InvitedPeople({ group, invited, onWithdrawn, isOnPage = false }: InvitedPeopleProps) {
  const { t } = useTranslation();
  const { date } = useFormat();
  const id = useId();
  const Heading = isOnPage ? "h2" : "h3";
  const className = isOnPage ? "px-4" : "max-h-48 shrink-0 overflow-y-auto border-b border-line px-4 pb-2";
  const [busy, setBusy] = useState<Uuid>();
  const [lastWithdrawn, setLastWithdrawn] = useState<string>();

  const withdraw = async (user: Uuid, name: string) => {
    setBusy(user);
    try {
      await withdrawGroupInvitation(group, user);
      const message = t("groups.invited.withdrawn", { name: isolateBidi(name) });
      announceResult(message);
      setLastWithdrawn(message);
      onWithdrawn();
    } catch (error) {
      const message = `${t("groups.invited.withdrawFailed")}\n${toErrorText(error, t)}`;
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    setBusy(undefined);
  };
  if (invited.length === 0)
    return (
      lastWithdrawn !== undefined && (
        // Takes the focus of the last row.
        <p ref={focusOnMount} tabIndex={-1} className={`${className} text-sm text-muted focus-visible:outline-none`}>
          {lastWithdrawn}
        </p>
      )
    );
  return (
    <section ref={keepFocusInRows} aria-labelledby={id} className={className}>
      <Heading id={id} className={isOnPage ? "pt-6 pb-1 font-semibold" : "text-sm font-semibold"}>
        {t("groups.invited.title")}
      </Heading>
      <ul>
        {invited.map(({ profile, created_at: at }) => {
          const name = profile.username || t("common.user");
          return (
            <li key={profile.id} tabIndex={-1} className="-outline-offset-3 flex min-h-12 items-center gap-2">
              <span className="flex min-w-0 flex-1 flex-col">
                <bdi className="truncate">{name}</bdi>
                <span className="text-sm text-muted">{t("groups.invited.since", { date: date(at) })}</span>
              </span>
              <Button
                variant="quiet"
                busy={busy === profile.id}
                aria-label={t("groups.invited.withdrawName", { name })}
                onClick={() => void withdraw(profile.id, name)}
              >
                {t("groups.invited.withdraw")}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Section of the group page below its members. What this device heard of it before stays without a network. */
export function PendingInvitations({ group, candidates }: { group: Uuid; candidates: GroupCandidatesView }) {
  const { t } = useTranslation();
  const id = useId();
  const { invited, failure, refetch } = candidates;
  if (invited) return <InvitedPeople group={group} invited={invited} onWithdrawn={refetch} isOnPage />;
  if (failure === undefined) return null;
  return (
    <section aria-labelledby={id} className="flex flex-col items-start gap-3 px-4">
      <h2 id={id} className="pt-6 font-semibold">
        {t("groups.invited.title")}
      </h2>
      <p role="status" className="text-muted">
        {t("groups.invited.unknown")} {t(`errors.${failure}`)}
      </p>
      <Button variant="secondary" onClick={refetch}>
        {t("common.retry")}
      </Button>
    </section>
  );
}
