// Loads modules of a project in a cell that can read the project, and can do nothing else (decision 34).
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import type { JsonValue } from 'cordon/gate'
import { PACKAGE_FOLDER, jsonOfFile, packagesFrom } from 'cordon/runtime'
import { escapeGlob, isWithinPath, parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath } from 'cordon/policy'
import { createCordon, tool } from 'cordon'
import type { LoadRequest } from 'cordon/runtime'

import { fail } from '../errors/errors.js'
import type { ProjectRequest } from './project-request.js'

// The built file, also when this one is run from its source.
const LOADER = join(PACKAGE_FOLDER, 'dist', 'bundle', 'describe', 'load-entries.js')

const LIMITS = { memory: '2G', processes: 64, output: '64M', scratch: '16M', openFiles: 4096 } as const
const RESULT = { bytes: 32 * 1024 * 1024, elements: 4_000_000 }
/** What `exported` of the loader returns for these files. */
export const loadInCell = async (
  exported: 'loadConfig' | 'loadEntries',
  { folder, home, key, timeout }: ProjectRequest,
  files: readonly string[],
): Promise<JsonValue> => {
  if (!existsSync(LOADER)) throw fail('copy-partial', {})
  const roots = [folder, dirname(LOADER), ...packagesFor(folder, home)]
  const load = tool({
    name: 'load',
    module: LOADER,
    export: exported,
    policy: {
      filesystem: {
        read: [...roots.map(escapeGlob), ...roots.flatMap(secretsIn).map((path) => `!${escapeGlob(path)}`)],
        write: 'none',
      },
      network: 'none',
      // Code that looks for the home finds that of the user, of which it can read nothing.
      environment: [`HOME=${home}`],
      exec: 'none',
      limits: { ...LIMITS, wall: `${timeout}ms`, cpu: `${timeout}ms` },
    },
    // The paths are arguments of the loader, and the boundary decides what it reads.
    argumentGate: 'off',
    result: RESULT,
  })
  const settings = { workspace: folder, home, mode: 'never', ruleFiles: 'none', telemetry: 'off' } as const
  const cordon = await createCordon({ ...settings, tools: [load] })
  const request: LoadRequest = { project: folder, home, key: key.key, files }
  const result = await cordon.call('load', request).finally(cordon.close)
  if (result.status === 'ok') return result.output
  const named = files.map((file) => file.slice(folder.length + 1)).join(', ')
  const problem = (result.facts.error?.message ?? result.status).replace('the tool "load"', 'its code')
  const isUsed = problem.includes(ONLY_DESCRIBED)
  const fix = (isUsed ? FIX : FIXES[result.status]) ?? result.facts.error?.fix ?? FIX
  throw fail('project-undescribed', { project: named, problem, fix })
}

/** The code called its runtime, which starts nothing here. */
const ONLY_DESCRIBED = 'the project is only described here'
const FIX = 'move that code out of the top level of the module, into a function: the module is only loaded here'
const FIXES: Readonly<Partial<Record<string, string>>> = {
  timeout: 'if it needs more time: --timeout 5m',
  failed: 'correct the module, so that it can be loaded without the network, variables and other programs',
}

/** Packages above the project, and linked ones: those of a workspace. */
const packagesFor = (folder: AbsolutePath, home: AbsolutePath): readonly string[] => {
  const found: string[] = []
  for (let at: string = folder; ; at = dirname(at)) {
    const modules = join(at, 'node_modules')
    if (isFolder(modules)) {
      if (at !== folder) found.push(modules)
      const linked = linkedPackages(modules).filter((path) => !isWithinPath(folder, path) && !isWithinPath(home, path))
      // What a linked package needs may lie above it.
      found.push(...linked.flatMap((path) => packagesFrom(path, 'needed').map((each) => each.folder)))
    }
    const settings = join(at, 'package.json')
    if (at !== folder && existsSync(settings)) found.push(settings)
    if (at === '/') return found
  }
}

/** Secrets that no manifest needs. Packages that were installed have none, and their folders are large. */
const secretsIn = (folder: string): readonly string[] => {
  if (basename(folder) === 'node_modules' || !isFolder(folder)) return []
  try {
    return readdirSync(folder).flatMap((name) =>
      name === '.git' || name.startsWith('.env') ? [join(folder, name)] : secretsIn(join(folder, name)),
    )
  } catch {
    // Nobody knows what is in a folder that cannot be listed.
    return [folder]
  }
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** A project could link any folder. So it counts only if it is the package of that name. */
const linkedPackages = (modules: string): readonly AbsolutePath[] =>
  readdirSync(modules)
    .flatMap((name) =>
      name.startsWith('@') && isFolder(join(modules, name))
        ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`)
        : [name],
    )
    .filter((name) => lstatSync(join(modules, name)).isSymbolicLink())
    .flatMap((name) => {
      const path = join(modules, name)
      const manifest = jsonOfFile(join(path, 'package.json')) as { readonly name?: unknown } | null | undefined
      return manifest?.name === name ? [parseAbsolutePath(realpathSync(path))] : []
    })
