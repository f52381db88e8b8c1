// The labels of a host, which people give it, and its mechanisms.
import type { RegisteredTool } from '../store/index.js'

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
