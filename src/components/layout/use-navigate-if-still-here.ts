import { type NavigateOptions, useLocation, useNavigate } from "react-router";

/** Leads on from a screen when what was done there is done, which may take a while: not whoever has gone on meanwhile. */
export const useNavigateIfStillHere = (): ((to: string, options?: NavigateOptions) => void) => {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (to, options) => {
    if (location.pathname === pathname) void navigate(to, options);
  };
};
