// The sockets at which Cordon looks for a container engine. The engine is trusted, so no tool may take its place.
import { resolve } from 'node:path'

import { engineSockets, futurePathOf } from '../../sandbox/index.js'
import { parseAbsolutePath } from '../../policy/index.js'

import type { OwnFile } from './own-file.js'

/** `named`: the socket that an option names. The environment may name another one. */
export const engineFiles = (
  environment: Readonly<Record<string, string | undefined>>,
  named?: string,
): readonly OwnFile[] => {
  const usual = engineSockets({ ...environment, DOCKER_HOST: undefined })
  const chosen = [...(named === undefined ? [] : [named]), ...engineSockets(environment)].filter(
    (path) => path !== '' && !usual.includes(path),
  )
  return [
    ...chosen.map((path) => resolve(path)),
    // Only root can change the links of the system on their way, such as /var/run.
    ...usual.map((path) => futurePathOf(parseAbsolutePath(resolve(path)))),
  ].map((path) => ({
    path,
    access: 'withheld',
    what: 'the socket of the container engine',
    fix: 'grant something else, or start the engine with a socket elsewhere',
  }))
}
