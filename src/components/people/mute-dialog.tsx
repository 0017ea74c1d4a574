import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import { getServerNow } from "#lib/browser/clock.ts";
import { toMutedText } from "./mute-texts.ts";

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/** Lengths of a mute; the last one has no end. */
const muteChoices = [
  { id: "hour", seconds: hourSeconds },
  { id: "eightHours", seconds: 8 * hourSeconds },
  { id: "week", seconds: 7 * daySeconds },
  { id: "always", seconds: undefined },
] as const;

type MuteDialogProps = {
  /** Called with the chosen length, undefined for a mute without an end, and the texts of the result. */
  onChoose: (seconds: number | undefined, texts: { done: string; failed: string }) => void;
  onClose: () => void;
};

/** Asks for how long a conversation is muted. */
export default function MuteDialog({ onChoose, onClose }: MuteDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const choose = (seconds: number | undefined) => {
    onClose();
    const end = seconds === undefined ? null : getServerNow() + seconds * 1_000;
    onChoose(seconds, { done: toMutedText(end, t), failed: t("mute.failed") });
  };
  return (
    <Modal labelledBy={id} className={dialogCardClasses} onDismiss={onClose}>
      <div className="flex flex-col gap-2 p-4">
        <h2 id={id} className="px-2 pt-2 pb-1 text-xl font-bold break-words">
          {t("mute.on")}
        </h2>
        {muteChoices.map((choice, index) => (
          <Button
            key={choice.id}
            variant="secondary"
            data-autofocus={index === 0 || undefined}
            onClick={() => choose(choice.seconds)}
          >
            {t(`mute.for.${choice.id}`)}
          </Button>
        ))}
        <Button variant="quiet" onClick={onClose}>
          {t("common.cancel")}
        </Button>
      </div>
    </Modal>
  );
}
