// The sandbox of macOS, experimental. Its spawning of sandbox-exec was never tried: docs/macos.md says what was.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fail } from '../../errors/index.js'
import type { AbsolutePath } from '../../policy/index.js'
import { parseAbsolutePath } from '../../policy/index.js'

import { interrupted } from '../call-result.js'
import type { CallResult } from '../call-result.js'
import { SYSTEM_PATH, programNamedIn } from '../grants/program.js'
import { runProgram } from '../host/plain-process.js'
import { bytesOf } from '../launch/run-in-cell.js'
import { buildEnvironment, proxyVariables } from '../plan/environment.js'
import { networkFiles } from '../plan/network-files.js'
import type { EnforcedBy } from '../plan/sandbox-profile.js'
import type { CellSettings, Pool, RunInput, Sandbox } from '../sandbox-interface.js'
import { DEFAULT_OUTPUT_LIMIT } from '../plan/plan-supervision.js'
import { describeSeatbelt, planSeatbelt } from './plan-seatbelt.js'
import { confinedBy } from './profile-text.js'
import { openProxyPort } from './proxy-port.js'
import { testThisMac } from './test-this-mac.js'
import { failedAt } from '../plan/host-facts.js'
import type { HostFacts } from '../plan/host-facts.js'

export const openSeatbelt = async (): Promise<Sandbox> => {
  if (process.getuid?.() === 0)
    throw fail('host-cannot-hold', {
      mechanism: 'seatbelt',
      problem: 'it was not made for tools of root',
      fix: 'run as an ordinary user',
    })
  const claims = await testThisMac()
  const ending = new AbortController()
  const calls = new Set<Promise<CallResult>>()
  const perform = (settings: CellSettings, input: RunInput): Promise<CallResult> => {
    if (ending.signal.aborted) throw fail('sandbox-closed', { what: 'sandbox' })
    const call = runCall(settings, input, claims, ending.signal)
    calls.add(call)
    const forget = () => calls.delete(call)
    void call.then(forget, forget)
    return call
  }
  return {
    host: NO_HOST_FACTS,
    strongest: NO_HOST_FACTS,
    mechanisms: () => [],
    run: async (request) => {
      if (request.onStarted !== undefined)
        throw unsupported('a program that stays open', 'run the server in a container')
      return perform(request, request)
    },
    startsElsewhere: () => Promise.resolve(false),
    headStart: () => Promise.resolve(undefined),
    receive: () => undefined,
    attach: () =>
      Promise.reject(unsupported('a program on this terminal', 'call it as a tool of createCordon(), or run on Linux')),
    warm: (settings) => poolOf(settings, perform),
    close: async () => {
      ending.abort()
      await Promise.allSettled(calls)
    },
  }
}

const unsupported = (mechanism: string, fix: string) =>
  fail('host-cannot-hold', { mechanism, problem: 'the Seatbelt backend does not have it yet', fix })

/** Nothing is kept ready: each call starts its own program. */
const poolOf = (
  settings: CellSettings,
  perform: (settings: CellSettings, input: RunInput) => Promise<CallResult>,
): Pool => ({
  run: async (input) => {
    const { early } = settings
    if (early === undefined) return perform(settings, input)
    return perform(settings, { ...input, argv: early.argv, stdin: Buffer.concat([early.stdin, bytesOf(input.stdin)]) })
  },
  ready: () => Promise.resolve(),
  size: () => 0,
  close: () => undefined,
})

const runCall = async (
  settings: CellSettings,
  input: RunInput,
  claims: EnforcedBy,
  closed: AbortSignal,
): Promise<CallResult> => {
  const { boundary } = settings
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-'))) as AbsolutePath
  const isServed = boundary.network.kind === 'hosts' && settings.proxy !== undefined
  const proxy = isServed && input.network !== undefined ? await openProxyPort(input.network) : undefined
  try {
    const request = {
      boundary,
      temporary,
      cwd: parseAbsolutePath(settings.cwd, 'cwd'),
      program: programNamedIn(input.argv),
      searchPath: settings.searchPath ?? SYSTEM_PATH,
      port: proxy?.port,
    }
    const plan = planSeatbelt(request)
    const own =
      proxy === undefined || input.network === undefined
        ? {}
        : { ...proxyVariables(proxy.port, temporary, input.network.proxySecret), ...input.network.variables }
    if (proxy !== undefined)
      for (const file of networkFiles(settings.proxy?.authority ?? '', temporary, Infinity).own)
        writeFileSync(file.path, file.content)
    const environment = buildEnvironment(boundary, settings.hostEnvironment ?? {}, temporary, own)
    await input.beforeStart?.({
      network: 'unknown',
      open_files: 0,
      file_size: 0,
      cpu_seconds: 0,
      form: 'seatbelt',
      writable: plan.write.map(({ path }) => path),
      startsAnyProgram: plan.exec === 'all',
    })
    const signal = input.signal === undefined ? closed : AbortSignal.any([input.signal, closed])
    if (input.signal?.aborted === true) throw fail('cancelled', {}, input.signal.reason)
    const { ending, stdout, stderr, wallMs } = await runProgram({
      argv: confinedBy(plan, plan.program, input.argv.slice(1)),
      cwd: plan.cwd,
      environment,
      stdin: bytesOf(input.stdin),
      wall: boundary.limits.wall,
      output: boundary.limits.output ?? DEFAULT_OUTPUT_LIMIT,
      signal,
      onStdout: input.onStdout,
      onStderr: input.onStderr,
    })
    const result: CallResult = {
      ...ending,
      stdout,
      stderr,
      profile: describeSeatbelt(request, plan, claims, Object.keys(environment)),
      // Seatbelt tells its refusals to the log of the system, where they cannot be told apart by call.
      violations: [],
      usage: { wallMs, cpuMs: 0, maxResidentBytes: 0, peakMemoryBytes: undefined },
    }
    if (closed.aborted) throw interrupted(fail('sandbox-closed', { what: 'sandbox' }), result)
    if (signal.aborted) throw interrupted(fail('cancelled', {}, input.signal?.reason), result)
    return result
  } finally {
    proxy?.close()
    rmSync(temporary, { recursive: true, force: true })
  }
}

const OF_LINUX = failedAt('platform', 'it is a mechanism of Linux')

/** The mechanisms of Linux, all missing. */
const NO_HOST_FACTS: HostFacts = {
  launcher: '',
  namespaces: OF_LINUX,
  mounts: OF_LINUX,
  ownProc: OF_LINUX,
  landlock: { ...OF_LINUX, abi: 0 },
  listener: OF_LINUX,
  nesting: OF_LINUX,
  borrowing: OF_LINUX,
  cgroup: OF_LINUX,
  measuring: OF_LINUX,
  kernelSecrets: [],
  isRoot: false,
  identity: undefined,
  wall: undefined,
  passedOver: [],
  temporaryFolder: tmpdir() as AbsolutePath,
}
