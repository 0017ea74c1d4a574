import { useEffect, useEffectEvent, useRef, useState } from "react";
import * as v from "valibot";
import { phoneSearchMinLength } from "#contract/limits.ts";
import { FoundPerson, toPhoneQuery } from "#contract/people.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useRetry } from "#sync/hooks/use-retry.ts";

/** Pause in typing before a search starts. Long, because each request costs seconds on a slow network. */
const searchDebounceMs = 600;

export type PeopleSearchState =
  | { status: "idle" }
  | { status: "refused" } // too few digits
  | { status: "searching" }
  | { status: "failed"; error: unknown }
  | { status: "found"; people: FoundPerson[]; digits: string };

const FoundPersonList = v.array(FoundPerson);
const idleSearch: PeopleSearchState = { status: "idle" };

/** Search by phone number: after a pause in typing, on submit, and again when the network returns. */
export const usePeopleSearch = () => {
  const [query, setQuery] = useState("");
  const [search, setSearch] = useState<PeopleSearchState>(idleSearch);
  const running = useRef<{ digits: string; controller: AbortController }>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const cancel = () => {
    clearTimeout(timer.current);
    running.current?.controller.abort();
    running.current = undefined;
  };
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      running.current?.controller.abort();
    },
    [],
  );

  const run = async (digits: string) => {
    if (running.current?.digits === digits) return;
    cancel();
    const controller = new AbortController();
    running.current = { digits, controller };
    setSearch({ status: "searching" });
    try {
      const response = await requestApi("POST", "/api/people/search", { phone: digits }, { signal: controller.signal });
      const people = v.parse(FoundPersonList, response);
      if (!controller.signal.aborted) setSearch({ status: "found", people, digits });
    } catch (error) {
      if (controller.signal.aborted) return;
      running.current = undefined; // allows a retry with the same digits
      setSearch({ status: "failed", error });
    }
  };

  const submit = () => {
    clearTimeout(timer.current);
    const digits = toPhoneQuery(query);
    if (digits.length >= phoneSearchMinLength) {
      void run(digits);
      return;
    }
    cancel();
    setSearch({ status: "refused" });
  };

  const change = (text: string) => {
    setQuery(text);
    clearTimeout(timer.current);
    const digits = toPhoneQuery(text);
    if (digits.length >= phoneSearchMinLength) {
      timer.current = setTimeout(() => void run(digits), searchDebounceMs);
    } else {
      cancel();
      setSearch(idleSearch);
    }
  };

  const isOffline = search.status === "failed" && toErrorCode(search.error) === "offline";
  const resume = useEffectEvent(() => {
    if (isOffline) submit();
  });
  useEffect(() => {
    const onOnline = () => resume();
    addEventListener("online", onOnline);
    return () => removeEventListener("online", onOnline);
  }, []);
  // The browser's "online" event may precede a working connection.
  const isConnected = useLinkState() === "online";
  useEffect(() => {
    if (isConnected) resume();
  }, [isConnected]);
  useRetry(isOffline ? search : undefined, submit);

  return { query, search, isOffline, change, submit };
};
