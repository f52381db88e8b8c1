// Starts the native `cordon`, and knows its local host, which all tests of one user share.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, expect } from 'vitest'

import { ENDS_WHAT_HANGS_MS } from '../../../../test/hanging.js'
import { hostFolders } from '../../src/runtime/own-files/index.js'
import type { HostState } from '../../src/host/host-state.js'

export const FRONT = fileURLToPath(new URL('../../build/cordon', import.meta.url))

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

type Variables = Readonly<Record<string, string>>

interface FrontPlace {
  /** The folder in which it is called. */
  readonly folder: string
  readonly environment: Variables
  /** The path of something in the folder. */
  readonly at: (name: string) => string
  /** Writes a file in the folder. */
  readonly put: (name: string, text: string) => void
  readonly run: (words: readonly string[], more?: Variables, around?: readonly string[]) => Ran
  readonly start: (words: readonly string[], more?: Variables) => ChildProcess
  /** The events of its audit log. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[]
}

export const frontPlace = (): FrontPlace => {
  const root = realpathSync(mkdtempSync('/var/tmp/cordon-front-'))
  afterAll(() => {
    rmSync(root, { recursive: true, force: true })
  })
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root, LANG: 'C.UTF-8' }
  const at = (name: string): string => join(root, name)
  return {
    folder: root,
    environment,
    at,
    put: (name, text) => {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), text)
    },
    run: (words, more = {}, around = []) => {
      const [program = FRONT, ...rest] = [...around, FRONT, ...words]
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: root,
        env: { ...environment, ...more },
        encoding: 'utf8',
        timeout: ENDS_WHAT_HANGS_MS,
      })
      return { status, stdout, stderr }
    },
    start: (words, more = {}) =>
      spawn(FRONT, words, { cwd: root, env: { ...environment, ...more }, timeout: ENDS_WHAT_HANGS_MS }),
    log: () => {
      const folder = join(root, '.local/state/cordon')
      if (!existsSync(folder)) return []
      // Full files have a number. The present one is the newest.
      const names = readdirSync(folder)
        .filter((name) => /^audit\.jsonl(?:\.\d+)?$/.test(name))
        .toSorted()
      const lines = [...names.slice(1), ...names.slice(0, 1)].flatMap((name) =>
        readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'),
      )
      return lines.map((line) => (JSON.parse(line) as { readonly event: Readonly<Record<string, unknown>> }).event)
    },
  }
}

/** Undefined if no host is running. */
export const hostState = (): HostState | undefined => {
  const { stdout } = spawnSync(FRONT, ['host', 'status', '--json'], { encoding: 'utf8', timeout: ENDS_WHAT_HANGS_MS })
  return (JSON.parse(stdout) as HostState | null) ?? undefined
}

/** Settles with its state when there is one. */
export const hostStarted = async (place: FrontPlace): Promise<HostState> => {
  for (const begin = Date.now(); Date.now() - begin < ENDS_WHAT_HANGS_MS;) {
    const state = hostState()
    if (state !== undefined) return state
    expect(place.run(['run', '--', 'true'])).toEqual({ status: 0, stdout: '', stderr: '' })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no host was started')
}

/** How many of these runs the host served. */
export const servedOf = (work: () => void): number => {
  const before = hostState()?.served ?? 0
  work()
  return (hostState()?.served ?? 0) - before
}

/** Where the host of this build and user listens, or would. */
export const socketNow = (): string => {
  const build = readFileSync(`${FRONT}.front`, 'utf8').split('\n')[0] ?? ''
  const paths = hostFolders().map((folder) => join(folder, build))
  const isOwn = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false })?.uid === process.geteuid?.()
  return paths.find((path) => existsSync(path)) ?? paths.find((path) => isOwn(dirname(path))) ?? ''
}
