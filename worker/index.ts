import { DurableObject } from "cloudflare:workers";
import { api } from "./api";

export class UserChannel extends DurableObject<Env> {}

export class Conversation extends DurableObject<Env> {}

export default { fetch: api.fetch } satisfies ExportedHandler<Env>;
