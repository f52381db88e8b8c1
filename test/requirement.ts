import type { TestContext } from 'vitest'

/**
 * For a test that cannot run everywhere: `needs(context, hasPodman, 'podman is not installed')`.
 * Skips the test with the reason. In CI it fails instead, because there every test must run.
 */
export const needs = (context: TestContext, isMet: boolean, reason: string): void => {
  if (isMet) return
  if (process.env['CI'] !== undefined && process.env['CI'] !== '')
    throw new Error(`cannot run here, and CI must run everything: ${reason}`)
  context.skip(`cannot run here: ${reason}`)
}
