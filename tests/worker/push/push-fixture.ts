import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect } from "vitest";
import type { Language } from "#contract/language.ts";
import type { PushPayload } from "#contract/push.ts";
import type { Person } from "#tests/support/people/people.ts";
import { readRow, waitUntil } from "#tests/worker/support/device.ts";
import { PushDevice, servePushes } from "./push-service.ts";

/** Time after which a conversation repeats a notice that was taken and not written (`FanOut`). */
const unconfirmedMs = 1_000;

/** Devices of the current test, whose push services answer. */
let devices: PushDevice[] = [];

/** Makes the push services of all subscribed devices answer in each test of this file. */
export const startPushServices = (): void => {
  beforeEach(() => {
    devices = [];
    servePushes(() => devices);
  });
};

/** Adds a device whose push service answers. */
export const addDevice = (device: PushDevice): PushDevice => {
  devices.push(device);
  return device;
};

/** A device of a person, subscribed. */
export const subscribe = async (person: Person, language: Language = "fr"): Promise<PushDevice> => {
  const device = addDevice(await PushDevice.create());
  expect(await device.subscribe(person, { language })).toBe(204);
  return device;
};

export const channelOf = (person: Person) => env.USER_CHANNEL.getByName(person.id);
export const runAlarm = (person: Person) => runDurableObjectAlarm(channelOf(person));
/** Lets the conversation repeat what channels have not confirmed, as its alarm does. */
export const runConversationAlarm = async (conversation: string): Promise<void> => {
  await scheduler.wait(unconfirmedMs);
  await runDurableObjectAlarm(env.CONVERSATION.getByName(conversation));
};
/** Ends the object without any notice. */
export const kill = (person: Person) =>
  runInDurableObject(channelOf(person), (_, state) => state.abort("as if the machine had died")).catch(() => undefined);
export const killConversation = (conversation: string) =>
  runInDurableObject(env.CONVERSATION.getByName(conversation), (_, state) =>
    state.abort("as if the machine had died"),
  ).catch(() => undefined);

/** Time in which a push that must not be sent would have been. */
export const settle = () => scheduler.wait(600);

export const waitForUnread = (person: Person, id: string, count: number) =>
  waitUntil(async () => (await readRow(person, id)).unread === count);

export const kinds = (device: PushDevice): PushPayload["data"]["kind"][] =>
  device.received.map(({ payload }) => payload.data.kind);
export const bodies = (device: PushDevice): string[] => device.received.map(({ payload }) => payload.notification.body);
