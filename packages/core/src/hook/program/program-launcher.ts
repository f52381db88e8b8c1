// The small script that settings of agents and clients name. It starts the copy of Cordon that was installed last, so
// one installation renews the program of all of them.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { quotedWord, unquotedWord } from '../../platform/index.js'

export const programsIn = (dataFolder: string): string => join(dataFolder, 'programs')

export const launcherOf = (dataFolder: string): string => join(dataFolder, 'bin', 'cordon')

/** The same place for whoever reads a settings file that a team shares. For a shell. */
export const SHARED_LAUNCHER = '"${XDG_DATA_HOME:-$HOME/.local/share}/cordon/bin/cordon"'

interface Started {
  readonly node: string
  /** Of the copy. */
  readonly folder: string
}

export const launcherText = ({ node, folder }: Started): string =>
  `#!/bin/sh\n# Written by cordon hook install and cordon mcp install.\n` +
  `exec ${quotedWord(node)} ${quotedWord(join(folder, 'bin', 'cordon.js'))} "$@"\n`

/** Undefined if there is none that Cordon wrote. */
export const readLauncher = (dataFolder: string): Started | undefined => {
  const path = launcherOf(dataFolder)
  if (!existsSync(path)) return undefined
  const words = /^exec '(?<node>.*)' '(?<folder>.*)\/bin\/cordon\.js' "\$@"$/m.exec(readFileSync(path, 'utf8'))?.groups
  const { node, folder } = words ?? {}
  return node === undefined || folder === undefined
    ? undefined
    : { node: unquotedWord(node), folder: unquotedWord(folder) }
}
