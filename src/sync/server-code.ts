/**
 * Code that talks to the server: the connection of the leader tab. It is one part of the client, loaded once the first
 * screen is drawn (scripts/build/chunks.mjs).
 */
export { Leader } from "./tabs/leader.ts";
