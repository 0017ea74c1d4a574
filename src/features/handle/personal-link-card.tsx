import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { QrCode } from "#components/images/qr-code.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import type { OwnLink } from "#contract/names/personal-link.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { removeLink, renewLink } from "./handle-api.ts";

type LinkAction = "renew" | "remove";

/** Own personal link with its QR code: create, copy, share, renew and turn off. */
export function PersonalLinkCard({ initial }: { initial: OwnLink["link"] }) {
  const { t } = useTranslation();
  const [link, setLink] = useState(initial);
  const [busy, setBusy] = useState<LinkAction>();
  const [confirming, setConfirming] = useState<LinkAction>();

  const run = async (action: LinkAction) => {
    setBusy(action);
    try {
      setLink((await (action === "renew" ? renewLink() : removeLink())).link);
      if (link && action === "renew") showToast({ message: t("handle.link.renewed") });
      else if (link) announceResult(t("handle.link.removed"));
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
    }
    setBusy(undefined);
    setConfirming(undefined);
  };

  if (!link) {
    return (
      <div className="flex flex-col gap-4 p-4">
        <p>{t("handle.link.none")}</p>
        <Button busy={busy === "renew"} onClick={() => void run("renew")}>
          <IconLabel icon="i-ph-qr-code" label={t("handle.link.create")} />
        </Button>
      </div>
    );
  }
  const { url } = link;
  const copied = { done: t("handle.link.copied"), failed: t("handle.link.copyFailed") };
  return (
    <div className="flex flex-col gap-4 p-4">
      <p>{t("handle.link.body")}</p>
      <QrCode svg={link.qr_code} label={t("handle.link.qr")} />
      <p className="rounded-card bg-raised px-4 py-3 text-center text-sm break-all select-all" dir="ltr">
        {url}
      </p>
      <div className="flex flex-wrap gap-3">
        <Button variant="secondary" className="grow" onClick={() => void copyText(url, copied)}>
          <IconLabel icon="i-ph-copy" label={t("handle.link.copy")} />
        </Button>
        {"share" in navigator && (
          // Closing the share sheet rejects too.
          <Button className="grow" onClick={() => void navigator.share({ url }).catch(() => undefined)}>
            <IconLabel icon="i-ph-share-network" label={t("handle.link.share")} />
          </Button>
        )}
      </div>
      <div className="flex flex-wrap gap-3">
        <Button variant="quiet" className="grow" onClick={() => setConfirming("renew")}>
          {t("handle.link.renew")}
        </Button>
        <Button variant="quiet" className="grow" onClick={() => setConfirming("remove")}>
          {t("handle.link.remove")}
        </Button>
      </div>
      <ConfirmDialog
        open={confirming !== undefined}
        title={t(confirming === "remove" ? "handle.link.removeTitle" : "handle.link.renewTitle")}
        body={t("handle.link.endsBody")}
        confirmLabel={t(confirming === "remove" ? "handle.link.remove" : "handle.link.renew")}
        cancelLabel={t("common.cancel")}
        busy={busy !== undefined}
        onConfirm={() => confirming && void run(confirming)}
        onClose={() => setConfirming(undefined)}
      />
    </div>
  );
}
