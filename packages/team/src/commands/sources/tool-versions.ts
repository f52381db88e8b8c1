// The versions of registered tools, for `cordon manifest`.
import type { CommandLine } from 'cordon/commands'

import { namesStore } from '../../options/store-help.js'
import { withStore } from '../../options/store-options.js'

export const toolVersions = async (
  line: CommandLine,
  command: string,
): Promise<ReadonlyMap<string, number> | undefined> => {
  if (!namesStore(line.given.values)) return undefined
  const tools = await withStore(line, command, async (store, team) => store.ask('listTools', { team: await team() }))
  return new Map(tools.map(({ key, version }) => [key, version]))
}
