import type { Uuid } from "#contract/ids.ts";
import { notificationSettingsPath, type PushPayload, testNotificationTag } from "#contract/push.ts";
import { productName, toTestText } from "#worker/lib/push/texts.ts";
import type { PushSubscription } from "./subscription-table.ts";

/** Content of the push that a person sends to their own device. */
export const createTestPayload = (user: Uuid, { language, origin }: PushSubscription, sentAt: number): PushPayload => ({
  web_push: 8030,
  notification: {
    title: productName,
    body: toTestText(language),
    navigate: origin + notificationSettingsPath,
    tag: testNotificationTag,
    lang: language,
    dir: "auto",
  },
  mutable: true,
  data: { kind: "test", user, count: 0, sentAt, isAlerting: true },
});
