import type { Platform } from "./platform.ts";
import { Retry } from "./retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "./sync-error.ts";

/** Sends operations of one kind that the person made and the server has not confirmed. */
export type OperationSender<Operation> = {
  /** Sends an operation and removes it from the store once the server confirmed it. Rejects with a SyncError. */
  send(operation: Operation): Promise<unknown>;
  /** Handles an operation that the server refused for good, or that is given up. It must not be listed again. */
  handleRefusal(operation: Operation, error: SyncError): Promise<unknown>;
  /** Whether an operation that the server cannot take is given up; by default it is repeated for good. */
  isTooOld?(operation: Operation): Promise<boolean>;
};

export type OperationKind<Operation> = {
  /** Stored operations to be sent, in this order. */
  list(): readonly Operation[] | Promise<readonly Operation[]>;
  /** Loads the code that sends them, when the first one is listed. */
  load(): Promise<OperationSender<Operation>>;
  /** An operation that must be repeated delays the later ones. */
  isOrdered?: true;
};

/**
 * Sends the operations of one kind, one at a time, until the server confirmed or refused each of them. One that fails
 * temporarily is repeated after a back-off, and by a later page if this one ends: each kind makes its requests
 * idempotent.
 */
export const createOperationRunner = <Operation>(
  platform: Platform,
  { list, load, isOrdered }: OperationKind<Operation>,
): Retry => {
  const runner = new Retry(platform, async () => {
    const operations = await list();
    if (operations.length === 0) return "done";
    const sender = await load();
    let failure: SyncError | undefined;
    for (const operation of operations) {
      if (runner.isStopped) return "done";
      try {
        await sendOperation(sender, operation);
      } catch (error) {
        failure = asSyncError(error);
        if (isOrdered) break;
      }
    }
    return failure ?? "again"; // others may have been added meanwhile
  });
  return runner;
};

/** A server that does not know a command yet, such as during a deployment, is unavailable. */
const toOperationFailure = (error: unknown): SyncError => {
  const failure = asSyncError(error);
  const isUnknown = failure.code === "not_found" || failure.code === "method_not_allowed";
  return isUnknown ? new SyncError("unavailable") : failure;
};

/** Rejects with a SyncError if the operation must be repeated. */
async function sendOperation<Operation>(sender: OperationSender<Operation>, operation: Operation): Promise<void> {
  try {
    await sender.send(operation);
  } catch (error) {
    const failure = toOperationFailure(error);
    const isRepeated =
      isRetryableFailure(failure) && (failure.code === "offline" || !(await sender.isTooOld?.(operation)));
    if (isRepeated) throw failure;
    await sender.handleRefusal(operation, failure);
  }
}
