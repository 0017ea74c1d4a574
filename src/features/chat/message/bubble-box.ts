/** The measures that the bubbles are drawn with and that the list counts on before they are. All in CSS pixels. */
export const bubbleMaxPx = 544;
export const bubbleShare = 0.85; // of the list's width within its edges
export const listEdgePx = 12;

const pictureMaxPx = 320;
const pictureMinPx = 200;
const pictureHighPx = 360;
const widest = 2;
const slimmest = pictureMinPx / pictureHighPx;
export const picturePaddingPx = 4;

/** A card (file, voice note) is this wide where there is room. */
export const cardPx = 272;
export const cardHighPx = 64;
/** The line of a call: a round icon of 40 px, and beside it two lines. */
export const callHighPx = 56;
export const callIconPx = 40 + 10; // with the room beside it
export const callVoicePx = 48; // the button of one that was missed
export const forwardedPx = 22;
export const namePx = 22; // of who wrote it, among several others
export const besidePx = 40; // their picture
export const moreButtonPx = 48;

/** How a picture of this size stands in a bubble: its width where there is room, and width by height. */
export const pictureBox = (width: number, height: number): { widthPx: number; ratio: number } => {
  const ratio = Math.min(widest, Math.max(slimmest, width / height));
  return { widthPx: Math.round(Math.min(pictureMaxPx, Math.max(pictureMinPx, pictureHighPx * ratio))), ratio };
};
