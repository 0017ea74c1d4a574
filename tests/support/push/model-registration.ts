import type { PushNotification } from "#sw/push-notification.ts";

const displayMs = 20;

type ShownNotification = PushNotification["options"] & { title: string; isDisplayed: boolean; close(): void };

/**
 * Notifications of a service worker's registration as Chromium manages them: a new one is stored first and displayed a
 * little later, and listing them removes those that are stored and not displayed yet.
 */
export class ModelRegistration {
  #shown: ShownNotification[] = [];

  get shown(): readonly ShownNotification[] {
    return this.#shown;
  }

  async showNotification(title: string, options: PushNotification["options"]): Promise<void> {
    const notification: ShownNotification = {
      ...options,
      title,
      isDisplayed: false,
      close: () => {
        this.#shown = this.#shown.filter((one) => one !== notification);
      },
    };
    this.#shown = [...this.#shown.filter(({ tag }) => tag !== options.tag), notification];
    await new Promise((resolve) => setTimeout(resolve, displayMs));
    notification.isDisplayed = true;
  }

  async getNotifications(): Promise<readonly ShownNotification[]> {
    this.#shown = this.#shown.filter(({ isDisplayed }) => isDisplayed);
    return this.#shown;
  }
}
