// Compiles the attack programs into one folder that a cell may read.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { lastingFolder } from './playground.js'

const SOURCES = fileURLToPath(new URL('programs/', import.meta.url))
/** What was compiled before, by the hash of what it was compiled from. */
const COMPILED = fileURLToPath(new URL('../../build/attack-programs/', import.meta.url))
const FLAGS = ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-pthread']

export interface Programs {
  readonly folder: string
  /** The words that start a program: `read-path` is the one in C, `read-path.py` the one in Python. */
  readonly command: (name: string) => readonly [string, ...string[]]
}

export const PYTHON = '/usr/bin/python3'

/** Nothing is compiled before it is asked for. */
export const preparePrograms = (): Programs => {
  // /usr/local or a home folder may be missing in a cell; this one is granted by its path.
  const folder = lastingFolder()
  for (const name of readdirSync(SOURCES)) {
    if (['.py', '.mjs', '.sh'].includes(extname(name))) copyFileSync(join(SOURCES, name), join(folder, name))
  }
  const command = (name: string): readonly [string, ...string[]] => {
    const path = join(folder, name)
    switch (extname(name)) {
      case '.py':
        return [PYTHON, '-B', path]
      case '.mjs':
        return [process.execPath, path]
      case '.sh':
        return ['/bin/sh', path]
      default:
        prepare(join(SOURCES, `${name}.c`), path)
        return [path]
    }
  }
  return { folder, command }
}

const headers = (): string =>
  readdirSync(SOURCES)
    .filter((name) => extname(name) === '.h')
    .sort()
    .map((name) => readFileSync(join(SOURCES, name), 'utf8'))
    .join('')

/** A copy of its own for each file of tests: what attacks do to it is nobody else's. */
const prepare = (source: string, to: string): void => {
  if (!existsSync(to)) copyFileSync(compiled(source), to)
}

/** For tests in a place that cannot write to the checkout. */
export const compileAll = (): void => {
  for (const name of readdirSync(SOURCES)) if (extname(name) === '.c') compiled(join(SOURCES, name))
}

const compiled = (source: string): string => {
  const hash = createHash('sha256')
    .update(JSON.stringify([FLAGS, headers(), readFileSync(source, 'utf8')]))
    .digest('hex')
  const kept = join(COMPILED, `${basename(source, '.c')}-${hash.slice(0, 16)}`)
  if (!existsSync(kept)) {
    mkdirSync(COMPILED, { recursive: true })
    // Whole or not at all: others may compile the same at the same time.
    const unfinished = `${kept}.${String(process.pid)}`
    compile(source, unfinished)
    renameSync(unfinished, kept)
  }
  return kept
}

const compile = (source: string, to: string): void => {
  // Static where the C library allows it: such a program needs nothing from its cell but itself.
  try {
    execFileSync('cc', [...FLAGS, '-static', '-o', to, source], { stdio: 'pipe' })
  } catch {
    execFileSync('cc', [...FLAGS, '-o', to, source], { stdio: ['ignore', 'inherit', 'inherit'] })
  }
}

/** Every attack program in C, by name. Those that only play the host, or attack nobody, are left out. */
export const attackNames = (): readonly string[] =>
  readdirSync(SOURCES)
    .filter((name) => extname(name) === '.c')
    .map((name) => basename(name, '.c'))
    .filter((name) => !['victim', 'host-listeners', 'terminal-host', 'ipc-host', 'own-resolver'].includes(name))
