/**
 * When a program of a test is ended: as late as the test itself (vitest.config.ts). How long something takes says
 * nothing about whether it is right, so that a program that is only slow is not ended.
 */
export const ENDS_WHAT_HANGS_MS = 240_000
