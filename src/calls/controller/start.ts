import * as v from "valibot";
import type { CallLink, CallMemory } from "#calls/link.ts";
import { makePeerMedia } from "#calls/media/peer-media.ts";
import { playTone } from "#calls/tones/tones.ts";
import type { CallWorld } from "#calls/world.ts";
import { Device } from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import { createUuid } from "#contract/ids.ts";
import { isSavingData } from "#lib/browser/network-info.ts";
import { findCallUse, rememberUse } from "#sync/calls/call-data-use.ts";
import type { Sync } from "#sync/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { Context } from "#sync/store/context.ts";
import { readSettings, shownSettings } from "#sync/store/settings-rows.ts";
import { CallEngine } from "./call-controller.ts";
import { CallKeeper } from "./saved-call.ts";

const deviceKey = "device";

/** The store as it is now; while it is opened anew, nothing can be kept. */
const contextOf = ({ tab }: Sync): Context => {
  const context = tab.context.get();
  if (!context) throw new SyncError("unavailable");
  return context;
};

const memoryOf = (sync: Sync): CallMemory => ({
  async make(key, value) {
    const { strict } = contextOf(sync);
    return strict.transaction("rw", strict.meta, async () => {
      const row = await strict.meta.get(key);
      if (row) return row.value;
      await strict.meta.put({ key, value });
      return value;
    });
  },
  async put(key, value) {
    await contextOf(sync).strict.meta.put({ key, value });
  },
  async delete(key) {
    await contextOf(sync).store.meta.delete(key);
  },
  async all(prefix) {
    const rows = await contextOf(sync).store.meta.where("key").startsWith(prefix).toArray();
    return rows.map(({ value }) => value);
  },
});

const linkOf = (sync: Sync): CallLink => {
  const { tab, userId } = sync;
  const { platform } = tab;
  return {
    me: userId,
    platform,
    news: tab.calls,
    state: tab.link,
    memory: memoryOf(sync),
    ask: (command) => tab.ask(command),
    take: (call) => tab.takeCall(call),
    look: () => tab.look(),
    async hearsRinging() {
      const settings = await readSettings(contextOf(sync).store);
      return shownSettings(settings).calls.sound;
    },
    usedBy: (call) => findCallUse(call).catch(() => 0),
    async iceServers(call) {
      const answer = v.safeParse(IceServers, await platform.request({ method: "GET", path: `/api/calls/${call}/ice` }));
      if (!answer.success) throw new SyncError("unavailable");
      return answer.output;
    },
  };
};

const findStorage = (): Storage | undefined => {
  try {
    return sessionStorage;
  } catch {
    return undefined; // forbidden
  }
};

/** A page that goes in the middle of a call takes the call with it: the browser asks before it does. */
const onUnload = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
  event.returnValue = true; // what browsers before 2024 look at
};

const world: Omit<CallWorld, "show" | "say"> = {
  makeMedia: makePeerMedia,
  playTone,
  storage: findStorage(),
  guard(isOn) {
    if (isOn) addEventListener("beforeunload", onUnload);
    else removeEventListener("beforeunload", onUnload);
  },
  isOnline: () => navigator.onLine,
  isThrifty: isSavingData,
  used: rememberUse,
};

/** Resolves once there is a store. */
const whenOpen = ({ tab }: Sync): Promise<void> =>
  new Promise((resolve) => {
    if (tab.context.get()) return resolve();
    const unsubscribe = tab.context.subscribe(() => {
      unsubscribe();
      resolve();
    });
  });

/** This browser as one of a person's devices: the same in all its tabs, for as long as its data is kept. */
const readDevice = async (memory: CallMemory, made: Device): Promise<Device> => {
  const known = v.safeParse(Device, await memory.make(deviceKey, made).catch(() => undefined));
  return known.success ? known.output : made;
};

export const openEngine = async (sync: Sync, shown: Pick<CallWorld, "show" | "say">): Promise<CallEngine> => {
  await whenOpen(sync);
  const link = linkOf(sync);
  // In a call that is taken up again it goes on under the name it has there, also where its data were removed.
  const kept = new CallKeeper(world.storage, link.me).read();
  const device = await readDevice(link.memory, kept?.device ?? createUuid(link.platform.now()));
  const engine = new CallEngine(link, { ...world, ...shown }, device);
  await engine.start();
  return engine;
};
