// Files that configure Cordon: rules, policies, approvals of sessions, sources of secrets; and the sockets of engines.
import { dirname, join, resolve } from 'node:path'

import { linkStatusAt, namesInFolder, readLink, realPathOf, statSync } from '../../platform/index.js'
import { parseAbsolutePath } from '../../policy/index.js'
import { engineSockets, futurePathOf } from '../../sandbox/index.js'

import { MANAGED_FOLDER } from '../rule-files/index.js'
import type { OwnFile } from './own-file.js'

const CHANGE = 'let a person change it, outside of a cell'

/** The folders of the user's and the machine's settings. The file with the sources of secrets may contain secrets. */
const configFiles = (folder: string): readonly OwnFile[] => [
  ...[folder, ...otherPlacesOf(folder)].map((path): OwnFile => ({
    path,
    access: 'read-only',
    what: 'the settings of Cordon',
    fix: CHANGE,
  })),
  {
    path: join(folder, SOURCES),
    access: 'withheld',
    what: 'where the values of credentials come from',
    fix: 'grant something else',
  },
  { path: MANAGED_FOLDER, access: 'read-only', what: 'the settings of Cordon for this machine', fix: CHANGE },
]

/**
 * What links in the folder, or in one of its folders, lead to: people keep their settings elsewhere. And files in it
 * that have another name.
 */
const otherPlacesOf = (folder: string): readonly string[] => {
  const names = namesInFolder(folder).filter((name) => name !== SOURCES)
  const paths = names.map((name) => join(folder, name))
  const within = paths.flatMap((path) => namesInFolder(path).map((name) => join(path, name)))
  return [...paths, ...within].flatMap((path) => {
    const target = readLink(path)
    // Not all the way: a tool must not change a link that it leads to either.
    if (target !== undefined) return [resolve(realPathOf(dirname(path)) ?? dirname(path), target)]
    const found = linkStatusAt(path)
    return found?.isFile() === true && found.nlink > 1 ? [path] : []
  })
}

/** Withheld, wherever it lies. */
const SOURCES = 'secrets.yaml'

/** Approvals of sessions, the embedded store, and by default the audit log. */
const stateFiles = (folder: string): readonly OwnFile[] => [
  { path: folder, access: 'withheld', what: 'the state of Cordon', fix: 'grant something else' },
]

/** Installed packages of MCP servers. A tool that changes one would choose what a server runs. */
const packageFiles = (folder: string): readonly OwnFile[] => [
  { path: folder, access: 'read-only', what: 'the packages of MCP servers', fix: 'grant something else' },
]

/** The copy from which hooks of all users of this machine start. Only root can write it. */
export const MACHINE_FOLDER = '/usr/local/lib/cordon'

/** Copies of Cordon, from which hooks and gateways start. */
const copyFiles = (folder: string): readonly OwnFile[] =>
  [folder, MACHINE_FOLDER].map((path) => ({
    path,
    access: 'read-only',
    what: 'the copies of Cordon',
    fix: 'grant something else',
  }))

/** Where the local host of a user may listen (native/front/host-place.c). No variable names another place. */
export const hostFolders = (): readonly string[] => {
  const user = String(process.geteuid?.() ?? 0)
  return [`/run/user/${user}/cordon`, '/run/cordon', `/tmp/cordon-host-${user}`]
}

const hostFiles = (): readonly OwnFile[] =>
  hostFolders().map((path) => ({
    path,
    access: 'withheld',
    what: 'the socket of the local host',
    fix: 'grant something else',
  }))

type Variables = Readonly<Record<string, string | undefined>>

/** The folders of a user: those by default, and those that the variables of the XDG specification name. */
export const userFiles = (variables: Variables, home: string, config?: string): readonly OwnFile[] => {
  const folders = (name: string, ...otherwise: readonly string[]): readonly string[] => {
    const named = variables[name]
    const usual = join(home, ...otherwise, 'cordon')
    return named?.startsWith('/') === true ? [...new Set([join(named, 'cordon'), usual])] : [usual]
  }
  return [
    ...(config === undefined ? folders('XDG_CONFIG_HOME', '.config') : [config]).flatMap(configFiles),
    ...folders('XDG_STATE_HOME', '.local', 'state').flatMap(stateFiles),
    ...folders('XDG_DATA_HOME', '.local', 'share').flatMap(copyFiles),
    ...folders('XDG_CACHE_HOME', '.cache').flatMap((folder) => packageFiles(join(folder, 'mcp'))),
    ...hostFiles(),
  ]
}

/** What the user named: policies, rules, certificates, tools, folders of tools. A pipe cannot be changed afterwards. */
export const namedFiles = (paths: readonly string[], what: string): readonly OwnFile[] =>
  paths
    .filter((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found !== undefined && (found.isFile() || found.isDirectory())
    })
    .map((path) => ({ path, access: 'read-only', what, fix: `grant something else; ${CHANGE}` }))

/**
 * The sockets at which Cordon looks for a container engine. The engine is trusted, so no tool may take its place.
 * `named`: the socket that an option names. The environment may name another one.
 */
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
