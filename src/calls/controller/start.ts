import * as v from "valibot";
import type { CallEnvironment } from "#calls/environment.ts";
import { createPeerMedia } from "#calls/media/peer-media.ts";
import type { CallStorage, CallSyncPort } from "#calls/sync-port.ts";
import { playTone } from "#calls/tones/tones.ts";
import { DeviceId } from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import { createUuid } from "#contract/ids.ts";
import { isQuietForCalls } from "#contract/settings/quiet-hours.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { hasSystemNotifications } from "#lib/browser/push/push-use.ts";
import { subscribeRingNotification } from "#lib/browser/push/ring-notifications.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { findCallDataUse, recordCallDataUse } from "#sync/actions/call-data-use.ts";
import type { SyncEngine } from "#sync/engine/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readSettings, toEffectiveSettings } from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { TabCallController } from "./call-controller.ts";
import { SavedCallStore } from "./saved-call.ts";

const deviceKey = "device";

/** Current store. Throws while it is being reopened, when nothing can be stored. */
const requireStoreContext = ({ client }: SyncEngine): SyncContext => {
  const context = client.context.get();
  if (!context) throw new SyncError("unavailable");
  return context;
};

const createCallStorage = (engine: SyncEngine): CallStorage => ({
  async getOrInsert(key, value) {
    const { store } = requireStoreContext(engine);
    return store.transaction("rw", store.meta, async () => {
      const row = await store.meta.get(key);
      if (row) return row.value;
      await store.meta.put({ key, value });
      return value;
    });
  },
  async put(key, value) {
    await requireStoreContext(engine).store.meta.put({ key, value });
  },
  async delete(key) {
    await requireStoreContext(engine).store.meta.delete(key);
  },
  async listByPrefix(prefix) {
    const rows = await requireStoreContext(engine).store.meta.where("key").startsWith(prefix).toArray();
    return rows.map(({ value }) => value);
  },
});

const createCallSyncPort = (engine: SyncEngine): CallSyncPort => {
  const { client, userId } = engine;
  const { platform } = client;
  return {
    me: userId,
    platform,
    feed: client.calls,
    connectionState: client.link,
    storage: createCallStorage(engine),
    request: (command) => client.request(command),
    announceTaken: (call) => client.announceCallTaken(call),
    checkConnection: () => client.refresh(),
    async findDialRefusal(peer) {
      const person = await requireStoreContext(engine)
        .store.people.get(peer)
        .catch(() => undefined);
      return person?.numberNotice === "left" ? "number_unconfirmed" : undefined;
    },
    async isRingAudible() {
      const settings = await readSettings(requireStoreContext(engine));
      const effective = toEffectiveSettings(settings);
      return effective.calls.sound && !isQuietForCalls(effective, getServerNow());
    },
    hasSystemNotifications: () => hasSystemNotifications(userId),
    subscribeRingNotification,
    findDataUse: (call) => findCallDataUse(call).catch(() => 0),
    async fetchIceServers(call) {
      const answer = v.safeParse(IceServers, await platform.request({ method: "GET", path: `/api/calls/${call}/ice` }));
      if (!answer.success) throw new SyncError("unavailable");
      return answer.output;
    },
  };
};

const findSessionStorage = (): Storage | undefined => {
  try {
    return sessionStorage;
  } catch {
    return undefined; // storage is forbidden
  }
};

/** Closing the page ends the call, so the browser asks first. */
const onUnload = (event: BeforeUnloadEvent): void => {
  event.preventDefault();
  event.returnValue = true; // required by browsers before 2024
};

const browserEnvironment: Omit<CallEnvironment, "showCall" | "showNotice"> = {
  createMedia: createPeerMedia,
  playTone,
  storage: findSessionStorage(),
  setUnloadGuard(isOn) {
    if (isOn) addEventListener("beforeunload", onUnload);
    else removeEventListener("beforeunload", onUnload);
  },
  isOnline: () => navigator.onLine,
  isDataSaver: isDataSaverOn,
  recordDataUse: recordCallDataUse,
};

/** Resolves once the store is open. */
const waitForStoreOpen = ({ client }: SyncEngine): Promise<void> =>
  new Promise((resolve) => {
    if (client.context.get()) return resolve();
    const unsubscribe = client.context.subscribe(() => {
      unsubscribe();
      resolve();
    });
  });

/** Device id of this browser: shared by its tabs, for as long as its data are kept. */
const readDeviceId = async (memory: CallStorage, newId: DeviceId): Promise<DeviceId> => {
  const stored = v.safeParse(DeviceId, await memory.getOrInsert(deviceKey, newId).catch(() => undefined));
  return stored.success ? stored.output : newId;
};

export const openCallController = async (
  engine: SyncEngine,
  screen: Pick<CallEnvironment, "showCall" | "showNotice">,
): Promise<TabCallController> => {
  await waitForStoreOpen(engine);
  const port = createCallSyncPort(engine);
  // A resumed call keeps its device id, even if the browser's data were removed.
  const saved = new SavedCallStore(browserEnvironment.storage, port.me).read();
  const device = await readDeviceId(port.storage, saved?.device ?? createUuid(port.platform.now()));
  const controller = new TabCallController(port, { ...browserEnvironment, ...screen }, device);
  await controller.start();
  return controller;
};
