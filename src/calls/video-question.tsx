import { useId } from "react";
import type { CallKind } from "../../contract/calls";
import { Button } from "../components/button";
import { Modal } from "../components/modal";
import { useT } from "../i18n/setup";
import { isolate } from "../lib/isolate";
import { bytesPerMinute, formatMegabytes } from "./data-use";

type VideoQuestionProps = { name: string; onCall: (kind: CallKind) => void; onClose: () => void };

/** Before a video call of somebody who saves data: what it takes, and that a voice takes a tenth. */
export default function VideoQuestion({ name, onCall, onClose }: VideoQuestionProps) {
  const t = useT();
  const id = useId();
  return (
    <Modal
      role="alertdialog"
      labelledBy={`${id}-title`}
      describedBy={`${id}-body`}
      className="rise m-auto w-[min(26rem,calc(100vw-2rem))] rounded-bubble border border-line bg-surface p-0 text-text shadow-xl"
      onDismiss={onClose}
    >
      <div className="p-6">
        <h2 id={`${id}-title`} className="text-xl font-bold break-words text-balance">
          {t("calls.saving.title", { name: isolate(name) })}
        </h2>
        <p id={`${id}-body`} className="mt-2 text-muted">
          {t("calls.saving.body", {
            video: formatMegabytes(bytesPerMinute.video),
            audio: formatMegabytes(bytesPerMinute.audio),
          })}
        </p>
        <div className="mt-6 flex flex-col gap-3">
          <Button data-autofocus onClick={() => onCall("audio")}>
            {t("people.audioCall")}
          </Button>
          <Button look="secondary" onClick={() => onCall("video")}>
            {t("people.videoCall")}
          </Button>
          <Button look="quiet" onClick={onClose}>
            {t("common.cancel")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
