import { afterEach } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { ModelDevice } from "./model-device.ts";
import { ModelServer } from "./model-server.ts";

let devices: ModelDevice[] = [];

/** Makes a device whose tabs are closed when its test ends. */
export const makeDevice = (server: ModelServer, user: Uuid): ModelDevice => {
  const device = new ModelDevice(server, user);
  devices.push(device);
  return device;
};

export const makePair = (): { server: ModelServer; amina: Uuid; benoit: Uuid; chat: ConversationId } => {
  const server = new ModelServer();
  const amina = server.addPerson("Amina");
  const benoit = server.addPerson("Benoît");
  return { server, amina, benoit, chat: server.connect(amina, benoit) };
};

/** Makes Amina's group with two of her contacts, who do not know each other. */
export const makeGroup = () => {
  const server = new ModelServer();
  const amina = server.addPerson("Amina");
  const benoit = server.addPerson("Benoît");
  const chantal = server.addPerson("Chantal");
  const withBenoit = server.connect(amina, benoit);
  server.connect(amina, chantal);
  const group = server.createGroup(amina, "Famille", [benoit, chantal]);
  return { server, amina, benoit, chantal, withBenoit, group };
};

afterEach(async () => {
  await Promise.all(devices.map((device) => device.closeTabs()));
  devices = [];
});
