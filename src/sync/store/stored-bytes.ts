import type Dexie from "dexie";

/** Bytes of a file as they are stored: a Blob, or an ArrayBuffer in a database that takes no Blobs. */
export type StoredBytes = Blob | ArrayBuffer;

const probeKey = "probe";
const blobSupport = new WeakMap<Dexie, Promise<boolean>>();

/** Stores a Blob and deletes it again. Resolves to false if the database refuses it. */
const tryBlob = (store: Dexie): Promise<boolean> =>
  store
    .transaction("rw", store.table("blobs"), async (transaction) => {
      await transaction.table("blobs").put({ file: probeKey, blob: new Blob([probeKey]) });
      await transaction.table("blobs").delete(probeKey);
    })
    .then(
      () => true,
      () => false, // an ArrayBuffer is always accepted; it only costs more memory and time
    );

/**
 * The form in which a database stores a file. IndexedDB refuses Blobs in Safari's private windows; everywhere else it
 * writes them some ten times faster than an ArrayBuffer, and reads them without loading the whole file. Call it before
 * a transaction begins: reading the bytes would end it.
 */
export const toStoredBytes = async (store: Dexie, blob: Blob): Promise<StoredBytes> => {
  const isSupported = blobSupport.get(store) ?? tryBlob(store);
  blobSupport.set(store, isSupported);
  return (await isSupported) ? blob : blob.arrayBuffer();
};

/** Blob of stored bytes, without a type if they are an ArrayBuffer. */
export const toBlob = (bytes: StoredBytes): Blob => (bytes instanceof Blob ? bytes : new Blob([bytes]));
