// `cordon runner`: runs approved calls of a team on this host.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, availableParallelism } from 'node:os'
import { resolve, join } from 'node:path'
import {
  usage as usageOf,
  STDERR,
  STDOUT,
  oneLine,
  writeText,
  readEgress,
  ownFilesOf,
  readOnly,
  withheld,
  auditPathOf,
  configFolderOf,
  counted,
} from 'cordon/commands'
import type { CommandLine, Environment } from 'cordon/commands'
import { messageOf } from 'cordon/errors'
import { parseAbsolutePath, renderIpAddress, resolvePolicy } from 'cordon/policy'
import { refuseOwnProgram } from 'cordon/runtime'
import type { OwnFile } from 'cordon/runtime'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from '../errors/errors.js'
import { sealingKeyOf } from '../options/store-options.js'
import type { RunnerNews } from '../runner/run-claimed.js'
import { startRunner } from '../runner/start-runner.js'
import type { Runner, RunnerOptions } from '../runner/start-runner.js'
import { installQueue, migrate, openPostgres } from '../store/index.js'
import { registrationOf, loadToolFiles } from '../tools/tool-files.js'
import type { RunnerTool } from '../tools/tool-files.js'

const usage = (problem: string, fix?: string) => usageOf(problem, 'cordon runner', fix)

export const runner = async ({ given, environment, startedAs }: CommandLine): Promise<number> => {
  const one = (name: string): string | undefined => given.values.get(name)?.[0]
  const many = (name: string): readonly string[] => given.values.get(name) ?? []
  const workspace = resolve(one('workspace') ?? '.')
  if (given.rest.length > 0) throw usage(`it takes options only: ${given.rest.join(' ')}`)
  const wanted = one('registration')
  if (wanted !== undefined && given.switches.has('registrations'))
    throw usage('--registration prints one tool, --registrations all of them')
  if (wanted !== undefined)
    return printJson(registrationFile(toolNamed(wanted, await toolsOf(many('tools'))), workspace))
  if (given.switches.has('registrations'))
    return printJson((await toolsOf(many('tools'))).map((tool) => registrationFile(tool, workspace)))
  const url = one('database') ?? environment['CORDON_DATABASE']
  if (url === undefined || url === '')
    throw usage('a runner needs the database of its team', 'name it: --database URL, or CORDON_DATABASE')
  if (given.switches.has('prepare')) return prepare(url)
  const sealingKey = sealingKeyOf(one('key'), environment)
  if (sealingKey === undefined && many('secret').some((word) => word.includes('=store:')))
    throw usage('credentials of the store need their key', 'name the key: --key FILE, or CORDON_KEY_FILE')
  const keyFile = one('key')
  const concurrency = countOf(one('concurrency')) ?? availableParallelism()
  const tools = await toolsOf(many('tools'))
  const places = { workspace: parseAbsolutePath(workspace), home: parseAbsolutePath(homedir()) }
  for (const { definition } of tools)
    refuseOwnProgram(
      resolvePolicy(definition.policy, { ...places, kind: 'process' }),
      { startedAs },
      'install Cordon outside of the folders that tools may write: npm install -g cordon',
    )
  const tell = (news: RunnerNews): void => {
    if (given.switches.has('json')) writeText(STDOUT, `${JSON.stringify(news)}\n`)
    else writeText(STDERR, `cordon: ${oneLine(describe(news))}\n`)
  }
  const healthFolder = one('health')
  const tellHealth =
    healthFolder === undefined
      ? undefined
      : openHealthFiles(healthFolder, (because) => {
          tell({ kind: 'trouble', because })
        })
  const signals = hearSignals()
  const started = await startRunner({
    url,
    name: one('name') ?? hostname(),
    labels: many('label'),
    concurrency,
    tools,
    runtime: {
      workspace,
      environment,
      audit: { path: auditPathOf(environment, homedir()) },
      egress: { secrets: secretsOf(many('secret')), ...(await wayOf(many('resolve'), one('upstream-ca'))) },
      ruleFiles: 'all',
      ...withoutUndefined({ manifest: one('manifest') }),
      configFolder: configFolderOf(environment, homedir()),
      ownFiles: ownFilesOption([
        ...ownFilesOf(environment, homedir()),
        ...(keyFile === undefined ? [] : [withheld(keyFile, 'the key of credentials')]),
        ...(healthFolder === undefined ? [] : [withheld(healthFolder, 'the files for probes')]),
        ...readOnly([one('upstream-ca'), ...many('tools'), ...tools.map(({ file }) => file)], 'a file of this runner'),
      ]),
    },
    ...timesOf(environment),
    ...withoutUndefined({ sealingKey, tellHealth }),
    tell,
  })
  await signals.obey(started)
  return 0
}

const ownFilesOption = (files: readonly OwnFile[]): NonNullable<RunnerOptions['runtime']['ownFiles']> => {
  const pathsOf = (access: OwnFile['access']): readonly string[] =>
    files.filter((file) => file.access === access).map(({ path }) => path)
  return { withheld: pathsOf('withheld'), readOnly: pathsOf('read-only') }
}

const toolsOf = async (places: readonly string[]): Promise<readonly RunnerTool[]> => {
  if (places.length === 0) throw usage('a runner needs tools', 'name a file or a folder: --tools FILE')
  return loadToolFiles(places)
}

/** As a file for `cordon team tools register`. */
const registrationFile = (tool: RunnerTool, workspace: string): object => {
  const { key, description, inputSchema, egressClass, needsBoundary, definition } = registrationOf(tool, {
    workspace,
    home: homedir(),
  })
  // JSON leaves out an undefined schema.
  return { key, description, input: inputSchema, egress_class: egressClass, needs_boundary: needsBoundary, definition }
}

const toolNamed = (wanted: string, tools: readonly RunnerTool[]): RunnerTool => {
  const tool = tools.find(({ definition: { name } }) => name === wanted)
  if (tool === undefined)
    throw usage(
      `there is no tool "${wanted}" in these files`,
      `there are: ${tools.map(({ definition: { name } }) => name).join(', ')}`,
    )
  return tool
}

const printJson = (value: object): number => {
  writeText(STDOUT, `${JSON.stringify(value, undefined, 2)}\n`)
  return 0
}

const prepare = async (url: string): Promise<number> => {
  const engine = openPostgres({ url })
  try {
    const applied = await migrate(engine)
    await installQueue(engine, url)
    writeText(
      STDERR,
      `cordon: ${engine.where} is prepared for runners ` +
        `(${applied.length === 0 ? 'it was up to date' : `applied: ${applied.join(', ')}`})\n`,
    )
    return 0
  } finally {
    await engine.close()
  }
}

const countOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > 1_000)
    throw usage(`--concurrency is a number from 1 to 1000, not ${text}`)
  return count
}

const secretsOf = (words: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1)
        throw fail('usage-error', {
          problem: '--secret is written ID=SOURCE',
          fix: 'for example --secret github-token=env:GITHUB_TOKEN',
        })
      return [word.slice(0, at), word.slice(at + 1)] as const
    }),
  )

const wayOf = async (resolved: readonly string[], authorityFile: string | undefined) => {
  const { pins, authorities } = await readEgress(resolved, authorityFile)
  return {
    pins: Object.fromEntries([...pins].map(([name, addresses]) => [name, addresses.map(renderIpAddress)])),
    authorities,
  }
}

/** For tests. All runners of a database need the same value. */
const timesOf = (environment: Environment) => {
  const silentMs = Number(environment['CORDON_RUNNER_SILENT_MS'] ?? '')
  return Number.isInteger(silentMs) && silentMs >= 1_000
    ? { silentMs, heartbeatMs: silentMs / 6, upkeepMs: silentMs / 6 }
    : {}
}

/**
 * The first signal stops new claims, the second cancels running calls, the third exits. Signals that arrive during the
 * start are obeyed after it.
 */
const hearSignals = (): { readonly obey: (started: Runner) => Promise<void> } => {
  let heard = 0
  let done = 0
  let act: (() => void) | undefined
  const hear = (): void => {
    heard += 1
    if (heard > (act === undefined ? 1 : 2)) process.exit(EXIT_AT_ONCE)
    act?.()
  }
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, hear)
  return {
    obey: (started) =>
      new Promise((settle, reject) => {
        act = () => {
          for (; done < heard; done += 1) {
            if (done === 0) started.drain().then(settle, reject)
            else started.cancel()
          }
        }
        act()
      }),
  }
}

const EXIT_AT_ONCE = 130

const describe = (news: RunnerNews): string => {
  switch (news.kind) {
    case 'ready':
      return `runner ${news.runner} is ready; mechanisms of this host: ${news.holds.join(', ')}`
    case 'serving':
      return news.tasks === 0
        ? 'none of these tools is registered in a team of this login; an admin registers them: cordon runner --tools ' +
            'FILE --registrations | cordon team tools register - --team TEAM'
        : `serves ${counted(news.tasks, 'tool')}`
    case 'left-to-others':
      return `${news.tool} is left to others: ${news.because}`
    case 'began':
      return `${news.invocation} ${news.tool} began`
    case 'without-credential':
      return `${news.invocation}: ${news.because}`
    case 'ended':
      return `${news.invocation} ${news.status}`
    case 'refused':
      return `${news.invocation}: its result was refused: ${news.because}`
    case 'lost':
      return `the database cannot be reached; cancelled ${counted(news.calls, 'call')}`
    case 'trouble':
      return news.because
    case 'draining':
      return `claims no more calls; ${String(news.calls)} still run`
  }
}

/**
 * The files of `cordon runner --health`, for probes. A probe looks at their times, so it starts no Node. `alive` is
 * written at every heartbeat, also while the database does not answer: ending the runner then would lose the results
 * that wait in it. `ready` is there only while the runner claims calls.
 */
const openHealthFiles = (folder: string, report: (problem: string) => void): ((isReady: boolean) => void) => {
  const [alive, ready] = [join(folder, 'alive'), join(folder, 'ready')]
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // An earlier process in the same container may have left them.
    for (const file of [alive, ready]) rmSync(file, { force: true })
    writeFileSync(alive, '')
  } catch (error) {
    throw fail('file-unwritable', { path: folder, problem: messageOf(error) }, error)
  }
  return (isReady) => {
    const now = `${new Date().toISOString()}\n`
    try {
      writeFileSync(alive, now)
      if (isReady) writeFileSync(ready, now)
      else rmSync(ready, { force: true })
    } catch (error) {
      report(`cannot write ${folder}: ${messageOf(error)}`)
    }
  }
}
