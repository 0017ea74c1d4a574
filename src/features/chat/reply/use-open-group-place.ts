import { useNavigate } from "react-router";
import { parseGroupPlace, type ReplyPlace } from "#contract/messages/body.ts";

/** Function that opens a group at the message of a place. False for messages of the open chat. */
export const useOpenGroupPlace = () => {
  const navigate = useNavigate();
  return (target: ReplyPlace | undefined): boolean => {
    const place = parseGroupPlace(target);
    if (place) void navigate(`/app/group/${place.group}`, { state: { openAt: place.seq } });
    return place !== undefined;
  };
};
