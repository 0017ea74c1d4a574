// Timeline of the demo over the last weeks, by the adjustable clock of a local server (worker/lib/local-clock.ts).
import { callApi } from "./api.mjs";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const kinshasaMs = 60 * minuteMs; // UTC+1 in every season
const tokenMs = 8 * minuteMs; // access tokens are valid for ten minutes

const startMs = Date.now();
const midnightMs = Math.floor((startMs + kinshasaMs) / dayMs) * dayMs - kinshasaMs;

/**
 * Converts "minutes ago", or a time of day in Kinshasa some days ago, to epoch milliseconds.
 * @param {{ minutes: number } | { days: number, at: string }} when
 */
export function toEpochMs(when) {
  if ("minutes" in when) return startMs - when.minutes * minuteMs;
  const [hours, minutes] = when.at.split(":").map(Number);
  return midnightMs - when.days * dayMs + (hours * 60 + minutes) * minuteMs;
}

/**
 * @typedef {{ token: string, refreshToken: string, renewedMs: number }} Person
 * @typedef {{ at: number, participants: Person[], run: () => Promise<void> }} Event
 */

const setClock = async (origin, body) => {
  const response = await fetch(`${origin}/dev/clock`, { method: "PUT", body });
  if (!response.ok) throw new Error(`the clock could not be set: ${response.status}`);
};

/** Renews an access token that has expired by the demo's clock. */
async function renewToken(origin, person, now) {
  if (now - person.renewedMs < tokenMs) return;
  const path = "/api/auth/token?grant_type=refresh_token";
  const session = await callApi(origin, "POST", path, { body: { refresh_token: person.refreshToken } });
  person.token = session.access_token;
  person.refreshToken = session.refresh_token;
  person.renewedMs = now;
}

/**
 * Runs events at their time by the server's clock. If some exist already, everything happens now: a server's data must
 * never be in its own future.
 * @param {string} origin
 * @param {boolean} isPast
 */
export const createTimeline = (origin, isPast) => {
  const moveTo = async (ms) => {
    if (isPast) await setClock(origin, String(Math.min(ms, Date.now())));
  };
  return {
    /** @param {number} ms @param {Person[]} participants sessions to renew if necessary */
    async goTo(ms, participants = []) {
      await moveTo(ms);
      for (const person of participants) await renewToken(origin, person, isPast ? ms : Date.now());
    },
    /** @param {Event[]} events in any order */
    async live(events) {
      for (const { at, participants, run } of events.toSorted((one, other) => one.at - other.at)) {
        await this.goTo(at, participants);
        await run();
      }
    },
    /** Resets the clock to the machine's time. */
    async end() {
      if (isPast) await setClock(origin, "");
    },
  };
};

/**
 * Distributes rows over sittings of a few minutes each, the last of them before `until`.
 * @template T
 * @param {T[]} rows
 * @param {{ days: number, until: number, seed: number }} span
 * @returns {{ at: number, row: T, index: number }[]}
 */
export function spreadOverSittings(rows, { days, until, seed }) {
  const perSitting = 14;
  const sittings = Math.max(1, Math.ceil(rows.length / perSitting));
  const gapMs = (days * dayMs) / (sittings + 1);
  return rows.map((row, index) => {
    const sitting = Math.floor(index / perSitting);
    const base = until - (sittings - sitting) * gapMs;
    // Between half past seven in the morning and half past nine in the evening.
    const day = Math.floor((base + kinshasaMs) / dayMs) * dayMs - kinshasaMs;
    const minute = 450 + (((seed % 9973) * (sitting + 7) * 131) % 840);
    return { at: day + (minute + (index % perSitting) * 2) * minuteMs, row, index };
  });
}
