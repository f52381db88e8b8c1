// Warnings at the start of servers: paths that their cells hide, and settings that no server uses.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { isReadable, isWithinPath, nearestKey, parseAbsolutePath } from 'cordon/policy'
import type { AbsolutePath, Boundary, PlacedPolicy } from 'cordon/policy'
import { visible, visibleWord } from 'cordon/commands'
import type { Environment } from 'cordon/commands'

import type { PreparedServer } from './server-cell.js'
import type { AllServerSettings } from './server-settings.js'
import { entriesForNobody } from './tool-policies.js'
import type { ToolEntry } from './tool-policies.js'

/** A cell has its own empty ones. A server that keeps data there seems to save it, and all is gone when it ends. */
const PRIVATE = ['/tmp', '/dev/shm'].map((path) => parseAbsolutePath(path))

/**
 * A warning for each argument and variable of a server that names a path in such a folder. `written`: the policies of
 * its tools.
 */
export const hiddenPathsOf = (
  { server, base, cellFor }: PreparedServer,
  written: readonly PlacedPolicy[],
  environment: Environment,
): readonly string[] => {
  if (server.transport.kind === 'remote') return []
  const { cwd, home } = base.prepared.order
  const boundaries = [base, ...written.map((policy) => cellFor(policy))].map(({ prepared }) => prepared.tool.boundary)
  const words = server.argv.slice(1).map((text) => ({ of: 'an argument', text: text.replace(/^--?[\w-]+=/, '') }))
  const variables = base.prepared.tool.boundary.environment.map(({ name, value }) => ({
    of: `the variable ${name}`,
    text: value.kind === 'set' ? value.text : (environment[name] ?? ''),
  }))
  const found = [...words, ...variables].flatMap(({ of, text }) => {
    const path = pathIn(text, cwd, home)
    const isHidden =
      path !== undefined &&
      PRIVATE.some((folder) => path !== folder && isWithinPath(path, folder)) &&
      !boundaries.some((boundary) => reachesInto(boundary, path))
    return isHidden ? [{ of, path }] : []
  })
  return [...new Map(found.map((each) => [each.path, each])).values()].map(
    ({ of, path }) =>
      `the MCP server "${visible(server.name)}" gets ${visible(path)} (${of}), which its cell hides: what it writes ` +
      `there is lost when it ends; to keep it, ${keepingOf(path)}, or name a path outside of /tmp`,
  )
}

const reachesInto = (boundary: Boundary, path: AbsolutePath): boolean =>
  isReadable(boundary, path) ||
  [...boundary.read, ...boundary.write].some(({ negated, base }) => !negated && isWithinPath(base, path))

/** Only what exists can be granted. */
const keepingOf = (path: AbsolutePath): string => {
  const [word, folder] = [visibleWord(path), visibleWord(dirname(path))]
  const making = existsSync(dirname(path)) ? `touch ${word}` : `mkdir -p ${folder} && touch ${word}`
  return `${existsSync(path) ? '' : `run ${making}, and `}add --write ${word}`
}

const pathIn = (text: string, cwd: string, home: string): AbsolutePath | undefined => {
  const plain = text.replace(/^file:\/\/(?=\/)/, '').replace(/^~(?=\/)/, home)
  if (!/^\.{0,2}\//.test(plain) || plain.includes('\0')) return undefined
  return parseAbsolutePath(resolve(cwd, plain), 'a path of a server')
}

/** A project that nobody trusts grants nothing, and says so. */
export const ignoredSettings = ({ ignored }: AllServerSettings, configFolder: string): readonly string[] =>
  ignored.map(
    (path) =>
      `${visible(path)} does not count, because its project is not trusted; to trust it, add to ` +
      `${visible(configFolder)}/rules.yaml: trusted_projects: [${visible(dirname(dirname(path)))}]`,
  )

/**
 * Settings that no server uses, because a name differs. Nobody would notice, except that tools lack their policies.
 * `start`: what the names of its tools begin with, among several servers. `tools`: of `--tools`.
 */
export const unusedSettings = (
  servers: readonly { readonly name: string; readonly start: string }[],
  { names, of }: AllServerSettings,
  tools: readonly ToolEntry[],
): readonly string[] => {
  const starts = servers.map(({ start }) => start)
  const forNobody = entriesForNobody(starts, tools).map(
    ({ name, source }) =>
      `${visible(source)}: "${visible(name)}" is for no server of this gateway; names of tools begin with ` +
      starts.map((start) => `"${visible(start)}"`).join(' or '),
  )
  // Who gave --tools needs no settings. The settings of other servers are for other gateways.
  const withoutSettings = names.length === 0 || tools.length > 0 ? [] : servers.filter(({ name }) => isUnset(of(name)))
  return [
    ...forNobody,
    ...withoutSettings.map(({ name }) => {
      const near = nearestKey(name, names)
      return (
        `mcp.yaml has no settings for the server "${visible(name)}", but for ${names.map(visible).join(', ')}` +
        (near === undefined ? '; --server NAME names a server' : `; did you mean "${visible(near)}"?`)
      )
    }),
  ]
}

const isUnset = (settings: ReturnType<AllServerSettings['of']>): boolean =>
  Object.values(settings).every(({ length }) => length === 0)
