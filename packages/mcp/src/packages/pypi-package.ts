// Packages of PyPI, installed by pip into a virtual environment. Only wheels are taken: an archive of sources runs its
// own code when it is installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { messageOf } from 'cordon/errors'
import { isMapping } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { complaintOf } from './install-cell.js'
import type { Installer, RunStep, Step } from './install-cell.js'
import { inOrder } from './lock-file.js'
import type { LockEntry, LockedPackage } from './lock-file.js'
import { normalName } from './package-words.js'
import { PIP_INDEX } from './registry.js'

const PIP = ['python3', '-m', 'pip']
const WHEELS = ['--only-binary=:all:', '--no-cache-dir', '--quiet', '--disable-pip-version-check']

export const pypiInstaller: Installer = {
  presets: ['toolchains'],
  order: (folder) => ({
    registry: PIP_INDEX,
    folder,
    reads: [],
    // Nothing is installed into the system, which a cell cannot write to. Debian's pip asks for this word even so.
    variables: { HOME: join(folder, 'home'), PIP_CONFIG_FILE: '/dev/null', PIP_BREAK_SYSTEM_PACKAGES: '1' },
  }),
  resolve: async ({ name, wanted }, folder, run, depth) => {
    const entry = await resolve(name, wanted, [], folder, run)
    if (depth === 'files') await install(name, entry, folder, run)
    return entry
  },
  install: async ({ name }, entry, folder, run) => {
    // A lock may come with a project that nobody trusts. It may choose versions, but no packages.
    const found = await resolve(name, entry.version, versionsIn(entry), folder, run)
    const difference = differenceOf(entry, found)
    if (difference !== undefined) throw fail('mcp-package-altered', { name, problem: difference })
    await install(name, entry, folder, run)
  },
  start: ({ name, program = name, args }, folder) => {
    const script = join(folder, 'python', 'bin', program)
    if (!existsSync(script))
      throw fail('mcp-package-not-installed', {
        name,
        problem: `it has no program ${JSON.stringify(program)}`,
        fix: `name its program: uvx --from ${name} PROGRAM`,
      })
    return [join(folder, 'python', 'bin', 'python'), script, ...args]
  },
}

const install = async (name: string, entry: LockEntry, folder: string, run: RunStep): Promise<void> => {
  writeFileSync(join(folder, 'requirements.txt'), requirementsOf(entry))
  const made = await run(['python3', '-m', 'venv', '--without-pip', join(folder, 'python')])
  if (!made.isDone) throw notInstalled(name, made)
  const into = ['--python', join(folder, 'python', 'bin', 'python')]
  const words = ['install', '--require-hashes', '--no-deps', ...WHEELS, '-r', join(folder, 'requirements.txt')]
  const step = await run([...PIP, ...into, ...words])
  if (!step.isDone && /DO NOT MATCH THE HASHES/.test(step.stderr))
    throw fail('mcp-package-altered', { name, problem: complaintOf(step, COMPLAINT) })
  if (!step.isDone) throw notInstalled(name, step)
}

const COMPLAINT = /^(?:ERROR: ?)/

const notInstalled = (name: string, step: Step) =>
  fail('mcp-package-not-installed', {
    name,
    problem: complaintOf(step, step.stderr.includes('ERROR:') ? COMPLAINT : /^(?=.)/),
    fix:
      'check the name and the version; Cordon installs such packages with pip (python3 -m pip, 23.1 or newer), and ' +
      'only those with wheels for this Python',
  })

/** `versions`: lines that other packages are held to. */
const resolve = async (
  name: string,
  wanted: string,
  versions: readonly string[],
  folder: string,
  run: RunStep,
): Promise<LockEntry> => {
  const [report, constraints] = [join(folder, 'report.json'), join(folder, 'constraints.txt')]
  writeFileSync(constraints, `${versions.join('\n')}\n`)
  const words = ['install', '--dry-run', '--ignore-installed', ...WHEELS, `--report=${report}`, '-c', constraints]
  const step = await run([...PIP, ...words, wanted === '' ? name : `${name}==${wanted}`])
  if (!step.isDone) throw notInstalled(name, step)
  try {
    return readReport(name, readFileSync(report, 'utf8'))
  } catch (error) {
    const fix = 'use pip 23.1 or newer: python3 -m pip --version'
    throw fail('mcp-package-not-installed', { name, problem: messageOf(error), fix }, error)
  }
}

interface Reported {
  readonly metadata?: { readonly name?: unknown; readonly version?: unknown }
  readonly download_info?: { readonly archive_info?: { readonly hashes?: { readonly sha256?: unknown } } }
}

const readReport = (name: string, text: string): LockEntry => {
  const report: unknown = JSON.parse(text)
  const items = isMapping(report) && Array.isArray(report['install']) ? (report['install'] as readonly Reported[]) : []
  const tree: Record<string, LockedPackage> = {}
  for (const { metadata, download_info: download } of items) {
    const hash = download?.archive_info?.hashes?.sha256
    const { name: found, version } = metadata ?? {}
    if (typeof found !== 'string' || typeof version !== 'string') throw new Error('pip did not say what it found')
    if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash) || !/^[\w.!+-]+$/.test(version))
      throw new Error(`pip gave no sha256 of ${found}`)
    tree[normalName(found)] = { version, integrity: `sha256-${Buffer.from(hash, 'hex').toString('base64')}` }
  }
  const main = tree[name]
  if (main?.integrity === undefined) throw new Error('pip did not find it')
  return { version: main.version, integrity: main.integrity, tree: inOrder(tree) }
}

const linesOf = ({ tree }: LockEntry, line: (name: string, locked: LockedPackage) => string): readonly string[] =>
  Object.entries(tree).flatMap(([name, locked]) => (locked === undefined ? [] : [line(name, locked)]))

/** The lock is a file of a project: nothing but a name and a version may get into a line of pip. */
const versionsIn = (entry: LockEntry): readonly string[] =>
  linesOf(entry, (name, { version }) => {
    if (normalName(name) !== name || !/^[a-z0-9-]+$/.test(name) || !/^[\w.!+-]+$/.test(version))
      throw fail('mcp-package-altered', { name: JSON.stringify(name), problem: 'its name or version is none of PyPI' })
    return `${name}==${version}`
  })

const requirementsOf = (entry: LockEntry): string =>
  linesOf(entry, (name, { version, integrity = '' }) => {
    const hash = Buffer.from(integrity.replace(/^sha256-/, ''), 'base64').toString('hex')
    return `${name}==${version} --hash=sha256:${hash}\n`
  }).join('')

const differenceOf = (locked: LockEntry, found: LockEntry): string | undefined => {
  const told = ({ tree }: LockEntry, name: string): string =>
    tree[name] === undefined ? 'nothing' : `${tree[name].version} with ${tree[name].integrity ?? 'no hash'}`
  const names = [...new Set([...Object.keys(locked.tree), ...Object.keys(found.tree)])]
  const other = names.find((name) => told(locked, name) !== told(found, name))
  if (other !== undefined)
    return `the lock has ${told(locked, other)} for ${other}, and the index ${told(found, other)}`
  return locked.integrity === found.integrity ? undefined : 'it pins two versions'
}
