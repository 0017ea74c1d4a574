/** Number of microphone recordings in progress, which would record the page's own sounds. */
let recordingCount = 0;
export const isRecording = (): boolean => recordingCount > 0;
export const trackRecording = (): (() => void) => {
  recordingCount++;
  return () => {
    recordingCount--;
  };
};
