/** The measures that the bubbles are drawn with and that the list counts on before they are. All in CSS pixels. */
export const bubbleMaxPx = 544;
export const bubbleWidthShare = 0.85; // of the list's width within its edges
export const listEdgePx = 12;

const imageWidthMaxPx = 320;
const imageWidthMinPx = 200;
const imageHeightMaxPx = 360;
const imageRatioMax = 2;
const imageRatioMin = imageWidthMinPx / imageHeightMaxPx;
export const imagePaddingPx = 4;

/** A card (file, voice note) is this wide where there is room. */
export const cardWidthPx = 272;
export const cardHeightPx = 64;
/** The line of a call: a round icon of 40 px, and beside it two lines. */
export const callHeightPx = 56;
export const callIconPx = 40 + 10; // with the room beside it
export const callVoiceButtonPx = 48; // the button of one that was missed
export const forwardedLabelPx = 22;
export const senderNamePx = 22; // of who wrote it, among several others
export const avatarColumnPx = 40; // their picture
export const showMoreButtonPx = 48;

/** How a picture of this size stands in a bubble: its width where there is room, and width by height. */
export const toImageBox = (width: number, height: number): { widthPx: number; ratio: number } => {
  const ratio = Math.min(imageRatioMax, Math.max(imageRatioMin, width / height));
  return { widthPx: Math.round(Math.min(imageWidthMaxPx, Math.max(imageWidthMinPx, imageHeightMaxPx * ratio))), ratio };
};
