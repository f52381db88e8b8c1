// The result of `cordon doctor` as text.
import { LIMIT_NAMES } from '../../policy/index.js'
import type { Limits } from '../../policy/index.js'
import type { EnforcedBy } from '../../sandbox/index.js'

import { oneLine } from '../../line/text/console-text.js'
import type { Paint } from '../../line/text/console-text.js'
import { DEFAULT_PROCESSES, describeContainer } from '../../diagnosis/index.js'
import type { EngineDiagnosis, FormDiagnosis, HostDiagnosis } from '../../diagnosis/index.js'

/** What `cordon doctor --json` prints. */
export interface Diagnosis extends HostDiagnosis {
  /** For container tools. */
  readonly engine: EngineDiagnosis
  /** Of coding agents, for an agent that is started in this folder. */
  readonly hooks: readonly HookDiagnosis[]
}

interface HookDiagnosis {
  readonly agent: string
  readonly scope: string
  readonly file: string
  readonly in_force: boolean
  /** In words. */
  readonly state: string
  readonly problems: readonly { readonly problem: string; readonly fix: string }[]
}

const LIMIT_LABELS: Readonly<Record<keyof Limits, string>> = {
  memory: 'memory',
  processes: 'processes (of a policy)',
  cpu: 'processor time',
  wall: 'wall clock',
  output: 'output',
  openFiles: 'open files',
  fileSize: 'file size',
  scratch: 'private /tmp',
}

const LABELS: Readonly<Record<string, string>> = {
  filesystem_read: 'reading files',
  filesystem_write: 'writing files',
  carve_outs: 'carve-outs, protected names',
  file_names: 'hiding file names',
  file_metadata: 'modes, owners, times',
  network: 'network',
  unix_sockets: 'Unix sockets of the host',
  processes: 'signals to other processes',
  process_list: 'seeing other processes',
  process_contents: 'looking into other processes',
  ipc: 'shared memory, queues',
  environment: 'variables',
  exec: 'which programs may start',
  syscalls: 'system calls',
  privileges: 'privileges',
  end_of_call: 'nothing left running',
  [DEFAULT_PROCESSES]: 'limit: processes (default)',
  ...Object.fromEntries(LIMIT_NAMES.map((name) => [`limits.${name}`, `limit: ${LIMIT_LABELS[name]}`])),
}

const NO_FORM_OF_ITS_OWN = 'this host cannot build a cell with Landlock; --form mounts builds one without'

export const renderDiagnosis = (diagnosis: Diagnosis, paint: Paint): string => {
  const { host, backend, form, why, forms, walls, engine, hooks, findings } = diagnosis
  const place = host.container === null ? '' : `, in a ${describeContainer(host.container)}`
  const lines = [
    `${host.system} ${host.kernel} (${host.architecture}), Node ${host.node}, as ` +
      `${host.user === 'root' ? 'root' : 'an ordinary user'}${place}`,
    '',
    backend === null
      ? paint('red', forms?.mounts.held === true ? NO_FORM_OF_ITS_OWN : 'this host cannot build a cell')
      : `backend: ${paint('bold', backend)}${form === null ? '' : `, form: ${paint('bold', form)}`}`,
    `  ${oneLine(why)}`,
    ...(forms === null ? [] : ['', ...renderTable(forms, paint)]),
    ...(walls.length === 0 ? [] : ['', 'Other backends (--backend):']),
    ...walls.map(({ backend: name, held, problem }) =>
      oneLine(`  ${name.padEnd(12)}${held ? 'starts here' : (problem ?? '')}`),
    ),
    '',
    'Container engine (containerTool, --backend container):',
    ...engineLines(engine).map((line) => oneLine(`  ${line}`)),
    '',
    ...(hooks.length === 0 ? [] : ['Hooks of coding agents (cordon hook):', ...hooks.flatMap(hookLines), '']),
    ...(findings.length === 0
      ? ['Nothing is missing.']
      : [
          'To get more:',
          ...findings.flatMap((finding) => [
            '',
            `  ${paint('yellow', oneLine(finding.what))}`,
            `    because ${oneLine(finding.because)}`,
            `    fix: ${oneLine(finding.fix)}`,
          ]),
        ]),
  ]
  return `${lines.join('\n')}\n`
}

const engineLines = ({ found, silent, fix }: EngineDiagnosis): readonly string[] => [
  ...silent.map(({ socket, problem }) => `${socket} does not answer: ${problem}`),
  ...(found === null
    ? [`${silent.length === 0 ? 'none was found; ' : ''}to start one: ${fix ?? ''}`]
    : [`${found.name} ${found.version}, ${found.rootless ? 'rootless' : 'of root'}, at ${found.socket}`]),
]

const hookLines = ({ agent, scope, file, state, problems }: HookDiagnosis): readonly string[] => [
  oneLine(`  ${agent} (${scope}, ${file}): ${state}`),
  ...problems.flatMap(({ problem, fix }) => [oneLine(`    ${problem}`), oneLine(`      fix: ${fix}`)]),
]

/** The mounts form takes the place of the first one where it is all there is. */
const renderTable = (forms: NonNullable<Diagnosis['forms']>, paint: Paint): readonly string[] => {
  const strongest = !forms.namespaces.held && !forms.landlock.held && forms.mounts.held ? 'mounts' : 'namespaces'
  const shown = [forms[strongest], forms.landlock] as const
  const names = [...new Set([...shown.flatMap(({ enforced }) => Object.keys(enforced ?? {})), ...Object.keys(LABELS)])]
  const rows = names.map((name) => [LABELS[name] ?? name, cellOf(shown[0], name), cellOf(shown[1], name)] as const)
  const header = ['boundary', strongest, 'landlock'] as const
  const width = (column: 0 | 1) => Math.max(...[header, ...rows].map((row) => row[column].length)) + 2
  // Pad before painting, because colours have no width.
  const line = ([label, strong, weak]: readonly [string, string, string], style: Paint) =>
    `  ${label.padEnd(width(0))}${style('dim', strong.padEnd(width(1)))}${style('dim', weak)}`.trimEnd()
  const markMissing: Paint = (_, text) => (text.trim() === NOT_ENFORCED ? paint('red', text) : text)
  return [
    paint(
      'bold',
      line(header, (_, text) => text),
    ),
    ...rows.map((row) => line(row, markMissing)),
  ]
}

const NOT_ENFORCED = 'not enforced'

const cellOf = ({ held, enforced }: FormDiagnosis, name: string): string => {
  if (!held) return '-'
  const mechanisms = (enforced as EnforcedBy)[name]
  return mechanisms === undefined || mechanisms.length === 0 ? NOT_ENFORCED : mechanisms.join(', ')
}
