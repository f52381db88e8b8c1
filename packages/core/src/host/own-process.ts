// Runs that the local host would do differently from a process of the caller. Such a process does them. This is found
// before anything is decided, and `cordon host status` shows the reason.
import { delimiter, isAbsolute, join, resolve } from 'node:path'

import { leadsThroughProcess, statusAt, textOfFile } from '../platform/index.js'
import type { Sandbox } from '../sandbox/index.js'

import type { Arguments, Environment } from '../line/arguments.js'
import type { RunOrder } from '../run/request/run-request.js'
import { auditPathOf } from '../settings/own-folders.js'
import { openRunGate } from '../run/run-gate.js'
import type { PreparedRun } from '../run/run-gate.js'

type Reason = string | undefined

/** The host does not serve these options: they read or write files, or few people use them. */
const OF_OWN_PROCESS = ['help', 'dry-run', 'facts', 'manifest', 'session', 'backend', 'image', 'form']

/** Also patterns of paths, in which a name of a process may stand anywhere. */
const OF_A_PROCESS = /\/proc\/(?:self|thread-self|\d)|\/dev\/(?:fd|std(?:in|out|err))\b/

/** `folder`: of the caller. */
export const reasonInWords = ({ switches, values, rest }: Arguments, folder: string): Reason => {
  const found = OF_OWN_PROCESS.find((name) => switches.has(name) || values.has(name))
  if (found !== undefined) return `it has --${found}`
  const certificates = (values.get('upstream-ca') ?? []).map((path) => statusAt(resolve(folder, path)))
  if (certificates.some((status) => status?.isFile() === false)) return 'its certificates are in no ordinary file'
  const texts = [...[...values.values()].flat(), rest[0] ?? '']
  return texts.some((text) => OF_A_PROCESS.test(text)) ? THROUGH_PROC : undefined
}

const THROUGH_PROC = 'a path of it leads through /proc'

/** Variables whose paths would begin in another folder, or that lead elsewhere than those of the host. */
const PATHS = ['CORDON_AUDIT', 'CORDON_KEY_FILE', 'CORDON_TOKEN_FILE', 'CORDON_STORE', 'CORDON_SERVER', 'DOCKER_HOST']
const TEMPORARY = ['TMPDIR', 'TMP', 'TEMP']
const PLACES = /^(?:HOME|PATH|NODE_PATH|XDG_.*|CORDON_.*)$/

export const reasonInVariables = (environment: Environment): Reason => {
  const valueOf = (name: string): string => environment[name] ?? ''
  const isClear = (text: string): boolean => text === '' || isAbsolute(text) || /^[a-z]+:\/\//.test(text)
  if (valueOf('CORDON_SESSION') !== '') return 'it is of a session'
  if (!isAbsolute(valueOf('HOME'))) return 'HOME is not an absolute path'
  const log = auditPathOf(environment, valueOf('HOME'))
  const places = Object.entries(environment).flatMap(([name, text = '']) => (PLACES.test(name) ? text.split(':') : []))
  const through = reasonInPaths([...places, log].filter(isAbsolute))
  if (through !== undefined) return through
  const found =
    PATHS.find((name) => !isClear(valueOf(name).replace(/^unix:(?=\/)/, ''))) ??
    TEMPORARY.find((name) => !['', '/tmp', '/tmp/'].includes(valueOf(name)))
  return found === undefined ? undefined : `${found} names another place`
}

export const reasonInPaths = (paths: readonly string[]): Reason => {
  // They share most of their folders, so each link is read once.
  const links = new Map<string, string | null>()
  return paths.some((path) => leadsThroughProcess(path, links)) ? THROUGH_PROC : undefined
}

/** Where the program of a run may be. */
const programsOf = ({ argv: [program = ''], cwd }: RunOrder, { PATH = '' }: Environment): readonly string[] =>
  program.includes('/')
    ? [resolve(cwd, program)]
    : PATH.split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, program))

/** `pid`: of the caller. */
export const reasonInRun = async (prepared: PreparedRun, sandbox: Sandbox, pid: number): Promise<Reason> => {
  const { tool, order, isInteractive, environment } = prepared
  const { boundary } = tool
  const { memory, processes, output } = boundary.limits
  if (output !== undefined) return 'its output is limited'
  const bases = [...boundary.read, ...boundary.write].map(({ base }) => base)
  const through = reasonInPaths([...bases, order.cwd, ...programsOf(order, environment)])
  if (through !== undefined) return through
  // The cgroup of the call would be made beside that of this host.
  if ((memory !== undefined || processes !== undefined) && cgroupOf(pid) !== cgroupOf('self'))
    return 'its limits are counted in another cgroup'
  if (!(await sandbox.startsElsewhere({ boundary, cwd: order.cwd }))) return 'it needs a wall, or runs as another user'
  const reason = boundary.network.kind === 'hosts' ? reasonOfProxy(order, environment) : undefined
  if (reason !== undefined) return reason
  // The question is for the terminal of the caller.
  return isInteractive && (await wouldAsk(prepared)) ? 'it asks a person' : undefined
}

/** What a proxy in this process would trust, look up or know otherwise than one in a process of the caller's own. */
const reasonOfProxy = ({ secrets }: RunOrder, environment: Environment): Reason => {
  const variable = Object.entries(environment).find(([name, text]) => text !== '' && STEERING_PROXY.test(name))?.[0]
  if (variable !== undefined) return `${variable} steers what its proxy trusts or looks up`
  const files = [...secrets.values()].flatMap((source) => (source.kind === 'file' ? [source.path] : []))
  const through = reasonInPaths(files)
  if (through !== undefined) return through
  const asks = [...secrets.values()].some(({ kind }) => kind !== 'environment' && kind !== 'file')
  return asks ? 'a program or a service has the value of its credential' : undefined
}

const STEERING_PROXY = /^(?:NODE_|OPENSSL_|LD_|RESOLV_|RES_OPTIONS$|LOCALDOMAIN$|LOCPATH$|HOSTALIASES$)/

const cgroupOf = (process: number | 'self'): string | undefined => textOfFile(`/proc/${process}/cgroup`)

const wouldAsk = async (prepared: PreparedRun): Promise<boolean> => {
  const { gate, call } = openRunGate(prepared)
  return (await gate.decide(call)).kind === 'asking'
}
