import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import type { GroupView } from "#sync/hooks/use-group.ts";
import { useGroupMembers } from "#sync/hooks/use-group.ts";
import { GroupHeader } from "./group-header.tsx";
import { PendingInvitations } from "./members/invited-people.tsx";
import { GroupMemberList, StaleListNote } from "./members/member-list.tsx";
import { toGroupMemberViews } from "./members/member-view.ts";
import { useGroupCandidates } from "./members/use-group-candidates.ts";
import { useGroupMenu } from "./use-group-menu.tsx";
import { useScrollRestore } from "./use-scroll-restore.ts";

type GroupPageProps = { view: GroupView; me: Uuid; onLeaving: (isLeaving: boolean) => void };

const tileClass =
  "flex min-h-16 flex-1 flex-col items-center justify-center gap-1 rounded-card border border-line bg-surface px-2 py-2 text-center text-sm leading-tight font-semibold text-accent hover:bg-raised";

/** Group page: picture and name, actions and members. */
export function GroupPage({ view, me, onLeaving }: GroupPageProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { id, group, muted, mutedUntil, mutedExceptMentions } = view;
  const list = useGroupMembers(id, group.roster);
  const isOffline = useIsOffline();
  const members = useMemo(
    () => list.members && toGroupMemberViews(list.members, list.areRolesKnown, me, group.role, language),
    [list.members, list.areRolesKnown, me, group.role, language],
  );
  const { scroller, setScroller, onScroll } = useScrollRestore(id, members !== undefined);
  const mayAdd = isGroupActionAllowed(group.role, "add");
  const candidates = useGroupCandidates(id, group.roster, mayAdd);
  const mute = { muted, mutedUntil, mutedExceptMentions };
  const menu = useGroupMenu({ id, group, mute, members, candidates, onLeaving });
  // Offline, the list is not requested: show the failure at once.
  const failure = list.state === "loading" && isOffline ? "offline" : list.state === "failed" ? list.code : undefined;
  return (
    <Screen
      title={`${group.name} – ${t("groups.page.title")}`}
      heading={t("groups.page.title")}
      description={t("groups.page.description")}
      backPath={`/app/group/${id}`}
      hasProfileButton={false}
      scrolls={false}
      actions={<MenuButton label={t("groups.page.menu")} items={menu.menuItems} />}
    >
      <div ref={setScroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain" onScroll={onScroll}>
        <div className="mx-auto w-full max-w-160 pb-8">
          <GroupHeader id={id} group={group} menu={menu} />
          <div className="flex flex-wrap gap-2 px-4 pb-4">
            {mayAdd && (
              <button type="button" className={tileClass} onClick={() => menu.openOverlay({ type: "add" })}>
                <span className="i-ph-user-plus text-2xl" aria-hidden="true" />
                {t("groups.add.action")}
              </button>
            )}
            <button
              type="button"
              className={tileClass}
              aria-busy={menu.isMuting || undefined}
              onClick={menu.toggleMute}
            >
              <span className={`${muted ? "i-ph-bell" : "i-ph-bell-slash"} text-2xl`} aria-hidden="true" />
              {t(muted ? "mute.off" : "mute.on")}
            </button>
            <button type="button" className={`${tileClass} !text-danger`} onClick={menu.confirmLeave}>
              <span className="i-ph-sign-out text-2xl" aria-hidden="true" />
              {t("groups.leave.short")}
            </button>
          </div>
          <h2 className="px-4 pt-2 pb-3 font-semibold">{t("groups.page.members")}</h2>
          <StaleListNote
            shown={members?.length}
            count={group.count}
            state={list.state === "ready" ? "ready" : failure === undefined ? "loading" : "failed"}
          />
          <GroupMemberList
            members={members ?? []}
            count={group.count}
            scroller={scroller}
            getMenuItems={menu.getMemberMenuItems}
          >
            {failure !== undefined && (
              <div role="status" className="flex flex-col items-center gap-3 px-6 py-4 text-center">
                <p>
                  <span className="font-semibold">{t("groups.membersFailed")}</span>
                  <br />
                  <span className="text-muted">{t(`errors.${failure}`)}</span>
                </p>
                <Button variant="secondary" onClick={list.refetch}>
                  {t("common.retry")}
                </Button>
              </div>
            )}
            {members === undefined && failure === undefined && (
              <div className="late grid place-items-center p-4 text-accent">
                <Spinner label={t("common.loading")} className="text-3xl" />
              </div>
            )}
          </GroupMemberList>
          {mayAdd && <PendingInvitations group={id} candidates={candidates} />}
        </div>
      </div>
      {menu.overlay}
    </Screen>
  );
}
