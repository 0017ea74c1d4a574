import { useCallback, useEffect, useRef, useState } from "react";
import { selectDevice } from "#calls/actions.ts";

type SinkAudioElement = HTMLAudioElement & { setSinkId?: (id: string) => Promise<void> };
type OutputPickerDevices = MediaDevices & { selectAudioOutput?: () => Promise<MediaDeviceInfo> };

const defaultOutputIds = ["", "default", "communications"];

/** The ways sound may leave this device, as far as a page may choose. */
export type AudioOutput = {
  /** Those to choose from; none where there is nothing to choose. */
  outputs: MediaDeviceInfo[];
  /** The chosen one's id; empty for the usual one. */
  selectedId: string;
  /** Resolves to whether it was done. */
  selectOutput: (id: string) => Promise<boolean>;
  /** To the loudspeaker or back to the usual way; undefined where there is one way only. */
  toggleSpeaker: (() => Promise<boolean>) | undefined;
};

const isLoudspeaker = ({ label }: MediaDeviceInfo): boolean => /speaker|parleur|altifalante|alto-falante/i.test(label);

/**
 * The other side's sound, by the output that was chosen in the call if it is there. It stands apart from the call's
 * screen: put away, the call is heard on.
 */
export const useRemoteAudio = (remote: MediaStream | undefined, wished: string | undefined) => {
  const element = useRef<SinkAudioElement>(null);
  const [isBlocked, setBlocked] = useState(false);
  const [outputs, setOutputs] = useState<MediaDeviceInfo[]>([]);
  const [chosen, setChosen] = useState("");

  const play = useCallback(() => {
    const audio = element.current;
    if (!audio?.srcObject) return;
    audio.play().then(
      () => setBlocked(false),
      (error: unknown) => {
        // Another stream that takes this one's place interrupts it, which is no refusal.
        if (error instanceof DOMException && error.name === "NotAllowedError") setBlocked(true);
      },
    );
  }, []);

  useEffect(() => {
    const audio = element.current;
    if (!audio || audio.srcObject === (remote ?? null)) return;
    audio.srcObject = remote ?? null;
    play();
  }, [remote, play]);

  const canChoose = element.current?.setSinkId !== undefined || "setSinkId" in HTMLMediaElement.prototype;
  useEffect(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!devices || !canChoose || !remote) return;
    const list = () =>
      devices.enumerateDevices().then(
        (all) =>
          setOutputs(
            all.filter(({ kind, deviceId }) => kind === "audiooutput" && !defaultOutputIds.includes(deviceId)),
          ),
        () => undefined,
      );
    void list();
    devices.addEventListener("devicechange", list);
    return () => devices.removeEventListener("devicechange", list);
  }, [canChoose, remote]);

  const route = useCallback(async (id: string): Promise<boolean> => {
    try {
      await element.current?.setSinkId?.(id);
      setChosen(id);
      return true;
    } catch {
      return false;
    }
  }, []);
  useEffect(() => {
    // Chosen before the page was loaded anew, and gone since: the usual one does.
    if (wished !== undefined) void route(wished);
  }, [wished, route]);
  const choose = async (id: string): Promise<boolean> => {
    const isDone = await route(id);
    if (isDone) selectDevice("audiooutput", id);
    return isDone;
  };
  const { selectAudioOutput } = (navigator.mediaDevices ?? {}) as OutputPickerDevices;
  const loud = outputs.find(isLoudspeaker) ?? outputs[1];
  const toggle =
    canChoose && outputs.length > 1 && loud
      ? () => choose(chosen === "" ? loud.deviceId : "")
      : canChoose && selectAudioOutput
        ? async () => {
            if (chosen !== "") return choose("");
            try {
              return await choose((await selectAudioOutput.call(navigator.mediaDevices)).deviceId);
            } catch {
              return true; // closed without choosing
            }
          }
        : undefined;
  const sound: AudioOutput = { outputs, selectedId: chosen, selectOutput: choose, toggleSpeaker: toggle };
  return { element, isBlocked, play, sound };
};
