/** Name of the object that runs a mocked method: whose channel, or which conversation. */
export const nameOf = (object: unknown): string => (object as { ctx: DurableObjectState }).ctx.id.name ?? "";
