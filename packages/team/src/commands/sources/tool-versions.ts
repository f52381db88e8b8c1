// The versions of registered tools, for `cordon manifest`.
import type { CommandLine } from 'cordon/commands'

import { namesStore } from '../../options/store-help.js'
import { openStore, teamOf } from '../../options/store-options.js'

export const toolVersions = async (
  { given, environment }: CommandLine,
  command: string,
): Promise<ReadonlyMap<string, number> | undefined> => {
  if (!namesStore(given.values)) return undefined
  const store = await openStore(given, environment, command)
  try {
    const tools = await store.ask('listTools', { team: await teamOf(store, given, environment, command) })
    return new Map(tools.map(({ key, version }) => [key, version]))
  } finally {
    await store.close()
  }
}
