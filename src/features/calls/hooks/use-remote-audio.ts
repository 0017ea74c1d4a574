import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { selectDevice } from "#calls/actions.ts";

type SinkAudioElement = HTMLAudioElement & { setSinkId?: (id: string) => Promise<void> };
type OutputPickerDevices = MediaDevices & { selectAudioOutput?: () => Promise<MediaDeviceInfo> };

const defaultOutputIds = ["", "default", "communications"];

/** Audio outputs of this device, as far as a page may choose them. */
export type AudioOutput = {
  /** Available outputs; empty if there is no choice. */
  outputs: MediaDeviceInfo[];
  /** Id of the selected output; empty for the default. */
  selectedId: string;
  /** Resolves to whether the output was changed. */
  selectOutput: (id: string) => Promise<boolean>;
  /** Switches between the loudspeaker and the default output; undefined if there is only one. */
  toggleSpeaker: (() => Promise<boolean>) | undefined;
};

const isLoudspeaker = ({ label }: MediaDeviceInfo): boolean => /speaker|parleur|altifalante|alto-falante/i.test(label);

/**
 * Plays the remote audio on the output selected in the call, if available. Separate from the call screen, so that a
 * minimized call stays audible.
 */
export const useRemoteAudio = (remote: MediaStream | undefined, wantedId: string | undefined) => {
  const element = useRef<SinkAudioElement>(null);
  const [isBlocked, setBlocked] = useState(false);
  const [outputs, setOutputs] = useState<MediaDeviceInfo[]>([]);
  const [selectedId, setSelectedId] = useState("");

  const play = useCallback(() => {
    const audio = element.current;
    if (!audio?.srcObject) return;
    audio.play().then(
      () => setBlocked(false),
      (error: unknown) => {
        // Playing is also interrupted by another stream replacing this one, which is no refusal.
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

  const setOutput = useCallback(async (id: string): Promise<boolean> => {
    try {
      await element.current?.setSinkId?.(id);
      setSelectedId(id);
      return true;
    } catch {
      return false;
    }
  }, []);
  useEffect(() => {
    // The output selected before a reload may be gone; the default then remains.
    if (wantedId !== undefined) void setOutput(wantedId);
  }, [wantedId, setOutput]);

  const canSelect = "setSinkId" in HTMLMediaElement.prototype;
  // A headset that is pulled out leaves the element silent: the default output takes over until it is back.
  const followOutputs = useEffectEvent((devices: readonly MediaDeviceInfo[]) => {
    if (!wantedId) return;
    const id = devices.some(({ deviceId }) => deviceId === wantedId) ? wantedId : "";
    if (id !== selectedId) void setOutput(id);
  });
  useEffect(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    if (!devices || !canSelect || !remote) return;
    const update = async () => {
      const all = await devices.enumerateDevices().catch(() => []);
      setOutputs(all.filter(({ kind, deviceId }) => kind === "audiooutput" && !defaultOutputIds.includes(deviceId)));
      return all;
    };
    const onChange = () => void update().then(followOutputs);
    void update();
    devices.addEventListener("devicechange", onChange);
    return () => devices.removeEventListener("devicechange", onChange);
  }, [canSelect, remote]);

  const selectOutput = async (id: string): Promise<boolean> => {
    const isChanged = await setOutput(id);
    if (isChanged) selectDevice("audiooutput", id);
    return isChanged;
  };
  const { selectAudioOutput } = (navigator.mediaDevices ?? {}) as OutputPickerDevices;
  const loudspeaker = outputs.find(isLoudspeaker) ?? outputs[1];
  const toggleSpeaker =
    canSelect && outputs.length > 1 && loudspeaker
      ? () => selectOutput(selectedId === "" ? loudspeaker.deviceId : "")
      : canSelect && selectAudioOutput
        ? async () => {
            if (selectedId !== "") return selectOutput("");
            try {
              return await selectOutput((await selectAudioOutput.call(navigator.mediaDevices)).deviceId);
            } catch {
              return true; // closed without a selection
            }
          }
        : undefined;
  const audioOutput: AudioOutput = { outputs, selectedId, selectOutput, toggleSpeaker };
  return { element, isBlocked, play, audioOutput };
};
