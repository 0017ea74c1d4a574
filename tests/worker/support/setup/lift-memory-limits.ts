import { beforeEach } from "vitest";
import { liftMemoryLimits } from "./memory-limits.ts";

beforeEach(liftMemoryLimits);
