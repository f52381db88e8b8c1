// The labels of a host, which people give it, and its mechanisms.
import { CordonError } from '../../errors/index.js'
import { openSandbox } from '../../sandbox/index.js'
import type { SandboxOptions } from '../../sandbox/index.js'
import type { RegisteredTool } from '../../store/index.js'

export interface HostAbilities {
  readonly labels: readonly string[]
  readonly holds: readonly string[]
}

/** Why this host cannot run a tool. The database checks the same before it gives out a call. */
export const lackOf = (
  { needsLabels, needsBoundary }: Pick<RegisteredTool, 'needsLabels' | 'needsBoundary'>,
  { labels, holds }: HostAbilities,
): string | undefined => {
  const missing = [
    ...needsLabels.filter((label) => !labels.includes(label)).map((label) => `the label ${label}`),
    ...needsBoundary.filter((name) => !holds.includes(name)).map((name) => `the mechanism ${name}`),
  ]
  return missing.length === 0 ? undefined : `this host does not have ${missing.join(', ')}`
}

export const mechanismsHere = async (settings: SandboxOptions | undefined): Promise<readonly string[]> => {
  const sandbox = await openSandbox({ ...settings, nursery: 'none' })
  try {
    return sandbox.mechanisms()
  } finally {
    await sandbox.close()
  }
}

/** None on a host without a sandbox. Tools that need none can still be called. */
export const mechanismsIfAny = async (settings: SandboxOptions | undefined): Promise<readonly string[]> => {
  try {
    return await mechanismsHere(settings)
  } catch (error) {
    if (error instanceof CordonError) return []
    throw error
  }
}
