import { type NavigateOptions, useLocation, useNavigate } from "react-router";

/** Navigates after an action has finished, unless the person has left the screen in the meantime. */
export const useNavigateIfStillHere = (): ((to: string, options?: NavigateOptions) => void) => {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (to, options) => {
    if (location.pathname === pathname) void navigate(to, options);
  };
};
