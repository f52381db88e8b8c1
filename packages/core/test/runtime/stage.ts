import { mkdtempSync, rmSync } from 'node:fs'

import { afterAll } from 'vitest'

import { createCordon } from '../../src/runtime/index.js'
import type { Cordon, CordonEvent, CordonOptions } from '../../src/runtime/index.js'

/** Runtimes and folders of one test file, all of them closed and removed at its end. */
export interface Stage {
  readonly workspace: string
  readonly newFolder: () => string
  readonly cordon: (options: Partial<CordonOptions>) => Promise<Cordon>
}

export const openStage = (): Stage => {
  const folders: string[] = []
  const open: Cordon[] = []
  const newFolder = (): string => {
    const folder = mkdtempSync('/var/tmp/cordon-runtime-')
    folders.push(folder)
    return folder
  }
  const workspace = newFolder()
  afterAll(async () => {
    await Promise.allSettled(open.map((each) => each.close()))
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  return {
    workspace,
    newFolder,
    cordon: async (options) => {
      const made = await createCordon({ tools: [], workspace, mode: 'on_request', ...options })
      open.push(made)
      return made
    },
  }
}

/** Everything that a runtime tells from now on. */
export const eventsOf = (runtime: Cordon): CordonEvent[] => {
  const seen: CordonEvent[] = []
  runtime.on('*', (event) => seen.push(event))
  return seen
}

/**
 * As text, because the test runner rewrites imports in functions, and a rewritten function does not stand by itself.
 */
export const asWritten = (text: string): ((input: never) => unknown) =>
  (0, eval)(`(${text})`) as (input: never) => unknown

export const READ = asWritten("async ({ path }) => (await import('node:fs')).readFileSync(path, 'utf8')")
export const WRITE = asWritten("async ({ path, text }) => { (await import('node:fs')).writeFileSync(path, text) }")
