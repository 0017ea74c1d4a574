import { Secret, TOTP } from "otpauth";
import { totpSecretBytes, totpStepSeconds, totpWindowSteps } from "#contract/limits/authentication.ts";
import { drawQrCode } from "#worker/lib/qr-code.ts";

/**
 * Time-based one-time passwords (RFC 6238) with the parameters that every app supports: SHA-1, six digits, thirty
 * seconds.
 */

const defaultIssuer = "Lisolo";

const createTotp = (secret: Uint8Array<ArrayBuffer>, labels: { label?: string; issuer?: string } = {}): TOTP =>
  new TOTP({
    ...labels,
    secret: new Secret({ buffer: secret.buffer }),
    algorithm: "SHA1",
    digits: 6,
    period: totpStepSeconds,
  });

export const createTotpSecret = (): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(totpSecretBytes));

/**
 * Enrolment data of a code app: secret, `otpauth:` URI and its QR code. The SVG has no character that ends a URL,
 * because GoTrue's clients prefix it with `data:image/svg+xml;utf-8,`.
 */
export const toEnrolment = (secret: Uint8Array<ArrayBuffer>, label: string, issuer: string | undefined) => {
  const totp = createTotp(secret, { label, issuer: issuer || defaultIssuer });
  const uri = totp.toString();
  return { qr_code: drawQrCode(uri), secret: totp.secret.base32, uri };
};

/** Time step of a code within the accepted window; undefined if the code is wrong. */
export const findTotpStep = (secret: Uint8Array<ArrayBuffer>, code: string, now: number): number | undefined => {
  const token = code.replace(/\s/g, "");
  const delta = createTotp(secret).validate({ token, timestamp: now, window: totpWindowSteps });
  return delta === null ? undefined : Math.floor(now / 1_000 / totpStepSeconds) + delta;
};
