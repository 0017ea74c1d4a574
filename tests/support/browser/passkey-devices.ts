import type { CDPSession, Page } from "@playwright/test";

/** Holder of passkeys: the device itself, or a plugged-in key. */
type PasskeyTransport = "internal" | "usb";

/** Chromium's virtual authenticator for one page. It answers as if its user were present and verified. */
export class PasskeyDevice {
  readonly #cdp: CDPSession;
  readonly #id: string;

  private constructor(cdp: CDPSession, id: string) {
    this.#cdp = cdp;
    this.#id = id;
  }

  static async plugInto(page: Page, transport: PasskeyTransport = "internal"): Promise<PasskeyDevice> {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new PasskeyDevice(cdp, authenticatorId);
  }

  async credentials(): Promise<unknown[]> {
    const { credentials } = await this.#cdp.send("WebAuthn.getCredentials", { authenticatorId: this.#id });
    return credentials;
  }

  /** Sets whether it verifies its user. */
  async setVerified(isUserVerified: boolean): Promise<void> {
    await this.#cdp.send("WebAuthn.setUserVerified", { authenticatorId: this.#id, isUserVerified });
  }
}
