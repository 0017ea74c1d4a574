import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { bytesPerMinute, formatMegabytes } from "./data-cost.ts";

type DataCostDialogProps = {
  name: string;
  kind: CallKind;
  onCall: (kind: CallKind) => void;
  onClose: () => void;
};

const titles: Record<CallKind, TextKey> = { audio: "calls.price.title.audio", video: "calls.price.title.video" };
const bodies: Record<CallKind, TextKey> = { audio: "calls.price.audio", video: "calls.price.video" };
const labels: Record<CallKind, TextKey> = { audio: "people.audioCall", video: "people.videoCall" };

/**
 * Dialog with the data use of a minute: before a device's first call of each kind, and before every video call with
 * data saving.
 */
export default function DataCostDialog({ name, kind, onCall, onClose }: DataCostDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const isSaving = kind === "video" && isDataSaverOn();
  // The requested kind first; with data saving the cheaper one.
  const offered: CallKind[] = kind === "audio" ? ["audio"] : isSaving ? ["audio", "video"] : ["video", "audio"];
  return (
    <Modal
      role="alertdialog"
      labelledBy={`${id}-title`}
      describedBy={`${id}-body`}
      className={dialogCardClasses}
      onDismiss={onClose}
    >
      <div className="p-6">
        <h2 id={`${id}-title`} className="text-xl font-bold break-words text-balance">
          {t(titles[kind], { name: isolateBidi(name) })}
        </h2>
        <p id={`${id}-body`} className="mt-2 text-muted">
          {t(isSaving ? "calls.price.saving" : bodies[kind], {
            video: formatMegabytes(bytesPerMinute.video),
            audio: formatMegabytes(bytesPerMinute.audio),
          })}
        </p>
        <div className="mt-6 flex flex-col gap-3">
          {offered.map((option, index) => (
            <Button
              key={option}
              data-autofocus={index === 0 || undefined}
              variant={index === 0 ? "primary" : "secondary"}
              onClick={() => onCall(option)}
            >
              {t(labels[option])}
            </Button>
          ))}
          <Button variant="quiet" onClick={onClose}>
            {t("common.cancel")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
