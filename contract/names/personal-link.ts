import * as v from "valibot";

/** Personal link: leads to its owner's profile without their number or handle (docs/decisions/handles.md). */

const tokenPattern = /^[\w-]{22}$/; // 128 bits in base64url

const LinkToken = v.pipe(v.string(), v.regex(tokenPattern));
export const LinkSearch = v.strictObject({ token: LinkToken });

/** Own link and its QR code as SVG; null while there is none. */
export const OwnLink = v.object({ link: v.nullable(v.object({ url: v.string(), qr_code: v.string() })) });
export type OwnLink = v.InferOutput<typeof OwnLink>;

const linkPath = "/u/";
export const toLinkPath = (token: string): string => linkPath + token;

/** Token of the path of a link; undefined for any other path. */
const parseLinkPath = (path: string): string | undefined => {
  const token = path.startsWith(linkPath) ? path.slice(linkPath.length) : "";
  return v.is(LinkToken, token) ? token : undefined;
};

/** Token of the text of a QR code; undefined for anything but a personal link of this site. */
export const parseScannedLink = (text: string, origin: string): string | undefined =>
  text.startsWith(`${origin}/`) ? parseLinkPath(text.slice(origin.length)) : undefined;

/** Path of the app that shows the person to whom a link leads. */
export const toLinkAppPath = (token: string): string => `/app${linkPath}${token}`;
