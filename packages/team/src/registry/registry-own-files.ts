import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

import type { OwnFile } from 'cordon/runtime'

import type { RegistrySettings } from './registry-access.js'

/** The store on this host. Access to its socket or folder would let a tool act as anybody and approve calls. */
export const registryOwnFiles = (settings: RegistrySettings): readonly OwnFile[] =>
  placesOf(settings).map((path) => ({
    path,
    access: 'withheld',
    what: 'the store in which calls are approved',
    fix: 'grant something else, or move the store',
  }))

const UNIX = 'unix:'

const placesOf = (settings: RegistrySettings): readonly string[] => {
  if ('engine' in settings) return isAbsolute(settings.engine.where) ? [settings.engine.where] : []
  if (!settings.server.startsWith(UNIX)) return []
  const socket = settings.server.slice(UNIX.length)
  const folder = dirname(socket)
  // The embedded store lies beside the socket of `cordon serve`.
  return [existsSync(join(folder, 'data', 'PG_VERSION')) ? folder : socket]
}
