import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { dialCall, useCanCall } from "#calls/call-state.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import type { CallKind } from "#contract/calls/call.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { getSession } from "#lib/session/session.ts";
import { bytesPerMinute, formatDataRate, formatMegabytes } from "./data-cost.ts";
import { isDataCostSeen, markDataCostSeen } from "./data-cost-seen.ts";

const DataCostDialog = lazyOverlay(() => import("./data-cost-dialog.tsx"));

const icons: Record<CallKind, string> = { audio: "i-ph-phone", video: "i-ph-video-camera" };
const labels: Record<CallKind, TextKey> = { audio: "people.audioCallName", video: "people.videoCallName" };
const menuLabels: Record<CallKind, TextKey> = { audio: "people.audioCall", video: "people.videoCall" };
const bothKinds: readonly CallKind[] = ["audio", "video"];

type CallStart = {
  /** Whether this browser is in no call. */
  canCall: boolean;
  start: (kind: CallKind) => void;
  /** The calls as menu items; `refuse` as in `CallButtons`. */
  menuItems: (refuse?: () => void) => MenuItem[];
  /** Data use of a minute, or why no call is possible now. */
  getHint: (kind: CallKind) => string;
  /**
   * Dialog with the data use, to be rendered by the caller. Shown before the first call of a kind and before costly
   * ones.
   */
  dialog: ReactNode;
};

const shouldShowDataCost = (kind: CallKind): boolean => !isDataCostSeen(kind) || (kind === "video" && isDataSaverOn());

/** Starts calls to a person. */
export const useCallStart = (peer: Uuid, name: string): CallStart => {
  const { t } = useTranslation();
  const canCall = useCanCall();
  const [askedKind, setAsked] = useState<CallKind>();
  if (askedKind && !canCall) setAsked(undefined); // another call has come in meanwhile
  const call = (kind: CallKind) => {
    const me = getSession()?.userId;
    if (me) void dialCall({ conversation: privateConversationId(me, peer), peer, kind });
  };
  // During a call the failure notice is shown instead of the data use.
  const start = (kind: CallKind) => (canCall && shouldShowDataCost(kind) ? setAsked(kind) : call(kind));
  return {
    canCall,
    start,
    menuItems: (refuse) =>
      bothKinds.map((kind) => ({
        id: kind,
        label: t(menuLabels[kind]),
        icon: icons[kind],
        disabled: !canCall,
        onSelect: () => (refuse ? refuse() : start(kind)),
      })),
    getHint: (kind) =>
      canCall ? t("calls.perMinute", { amount: formatMegabytes(bytesPerMinute[kind]) }) : t("errors.call_in_progress"),
    dialog: askedKind && (
      <DataCostDialog
        name={name}
        kind={askedKind}
        onClose={() => setAsked(undefined)}
        onCall={(kind) => {
          setAsked(undefined);
          markDataCostSeen(askedKind);
          call(kind);
        }}
      />
    ),
  };
};

type CallButtonsProps = {
  peer: Uuid;
  name: string;
  kinds?: readonly CallKind[];
  /** Called instead of dialling if this person cannot be called. */
  refuse?: (() => void) | undefined;
  /** Class of a button with a label below its icon; without it the buttons are round icons. */
  tile?: string;
};

/** Buttons for audio and video calls with a person, disabled during a call (SPEC.md §2). */
export function CallButtons({ peer, name, kinds = bothKinds, refuse, tile }: CallButtonsProps) {
  const { t } = useTranslation();
  const { canCall, start, getHint, dialog } = useCallStart(peer, name);
  const press = (kind: CallKind) => (refuse ? refuse() : start(kind));
  return (
    <>
      {kinds.map((kind) => {
        const shared = { title: getHint(kind), disabled: !canCall, onClick: () => press(kind) };
        return tile === undefined ? (
          <IconButton key={kind} {...shared} icon={icons[kind]} label={t(labels[kind], { name })} />
        ) : (
          <button key={kind} type="button" className={`${tile} disabled:opacity-50`} {...shared}>
            <span className={`${icons[kind]} text-2xl`} aria-hidden="true" />
            {t(menuLabels[kind])}
            {!refuse && (
              <span className="text-xs font-normal text-muted" aria-hidden="true">
                {formatDataRate(kind)}
              </span>
            )}
          </button>
        );
      })}
      {dialog}
    </>
  );
}
