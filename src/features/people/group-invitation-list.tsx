import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { useLastDefined } from "#components/layout/use-last-defined.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toAvatarPerson } from "#components/people/avatar-text.ts";
import { LazyBlockPersonDialog } from "#components/people/lazy-dialogs.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import { type GroupInvitation, GroupInvitations, groupInvitationsPath } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { blockPerson } from "#sync/actions/contacts.ts";
import { acceptGroupInvitation, declineGroupInvitation } from "#sync/actions/group-invitations.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { toNameList } from "./request-context-list.tsx";

type InvitationAction = "accept" | "decline" | "block";

const parseInvitations = (body: unknown): readonly GroupInvitation[] =>
  parseResponse(GroupInvitations, body).invitations;

/** Side by side if the labels fit, otherwise stacked. */
const buttonClass = "flex-1 !min-w-max";

type InvitationRowProps = { invitation: GroupInvitation; onAnswered: (id: Uuid) => void };

function GroupInvitationRow({ invitation, onAnswered }: InvitationRowProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [pending, setPending] = useState<InvitationAction>();
  const [isConfirming, setConfirming] = useState(false);
  const { id, group, from_user: sender, contacts } = invitation;
  const senderName = sender.username || t("common.user");
  const name = isolateBidi(group.name);

  const run = async (
    action: InvitationAction,
    command: () => Promise<void>,
    done: Parameters<typeof showToast>[0],
  ): Promise<void> => {
    setPending(action);
    try {
      await command();
      showToast(done);
      onAnswered(id);
    } catch (error) {
      // Unlike messages, an answer does not wait for the network.
      const message = toErrorCode(error) === "offline" ? t("senga.group.offline") : toErrorText(error, t);
      showToast({ title: t("common.error"), message, tone: "danger" });
      setPending(undefined);
    }
  };
  const toButtonState = (action: InvitationAction) => ({
    className: buttonClass,
    busy: pending === action,
    disabled: pending !== undefined && pending !== action,
  });
  const lines = [
    t(invitation.is_contact ? "senga.group.fromContact" : "senga.group.from", { name: isolateBidi(senderName) }),
    ...(invitation.is_contact ? [] : [t(sender.verified ? "people.verified" : "people.unverified")]),
    ...(contacts.count > 0 ? [t("senga.group.contacts", { count: contacts.count, names: toNameList(contacts) })] : []),
  ];
  return (
    <li tabIndex={-1} className="flex flex-col gap-3 px-4 py-3 -outline-offset-3">
      <PersonListItem
        person={{ ...toAvatarPerson({ name: group.name, picture: null }, group.id), members: group.count }}
      />
      <div className="text-sm text-muted">
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <div className="flex flex-wrap gap-3">
        <Button
          variant="secondary"
          {...toButtonState("block")}
          aria-label={t("people.blockName", { name: senderName })}
          onClick={() => setConfirming(true)}
        >
          {t("people.block")}
        </Button>
        <Button
          variant="secondary"
          {...toButtonState("decline")}
          aria-label={t("senga.group.declineName", { name: group.name })}
          onClick={() =>
            void run("decline", () => declineGroupInvitation(id), {
              message: t("senga.group.declined", { name }),
              isShownByScreen: true,
            })
          }
        >
          {t("senga.decline")}
        </Button>
        <Button
          {...toButtonState("accept")}
          aria-label={t("senga.group.acceptName", { name: group.name })}
          onClick={() =>
            void run("accept", () => acceptGroupInvitation(id), {
              message: t("senga.group.accepted", { name }),
              action: { label: t("senga.group.open"), onSelect: () => navigate(`/app/group/${group.id}`) },
            })
          }
        >
          {t("senga.accept")}
        </Button>
      </div>
      {isConfirming && (
        <LazyBlockPersonDialog
          name={senderName}
          onConfirm={() => {
            setConfirming(false);
            const message = t("people.blocked", { name: isolateBidi(senderName) });
            void run("block", () => blockPerson(sender.id), { message, isShownByScreen: true });
          }}
          onClose={() => setConfirming(false)}
        />
      )}
    </li>
  );
}

const noInvitations: readonly GroupInvitation[] = [];

/** Received invitations to groups, from the server. `count`: their number, which the server pushes. */
export function GroupInvitationList({ count }: { count: number }) {
  const { t } = useTranslation();
  const [answered, setAnswered] = useState<ReadonlySet<Uuid>>(new Set());
  // Another number asks again. What was shown before stays meanwhile.
  const [query] = useRemoteQuery(`${groupInvitationsPath}?count=${count}`, count > 0, parseInvitations);
  const found = query.state === "found" ? query.body : undefined;
  const invitations = useLastDefined(count === 0 ? noInvitations : found)?.filter(({ id }) => !answered.has(id));
  if (count === 0 && !invitations?.length) return null;
  return (
    <div aria-busy={!invitations && query.state === "loading"}>
      {invitations ? (
        <ul aria-label={t("senga.group.title")} className="divide-y divide-line">
          {invitations.map((invitation) => (
            <GroupInvitationRow
              key={invitation.id}
              invitation={invitation}
              onAnswered={(id) => setAnswered((before) => new Set(before).add(id))}
            />
          ))}
        </ul>
      ) : (
        <p className="px-4 py-3 text-muted">
          {t(query.state === "loading" ? "common.loading" : "senga.group.waiting", { count })}
        </p>
      )}
    </div>
  );
}
