// A plan and a command as the words that the launcher reads, and what a launcher that follows the plan reports.
import { fail } from '../../errors/index.js'

import { bytesOfName } from '../grants/file-names.js'
import { STREAM_LETTERS } from './plan.js'
import type { Access, ProxyNetwork, Command, Plan, Step } from './plan.js'
import { FORM_HAS } from './host-facts.js'

export const PLAN_VERSION = '1'

/** The words of each part of a plan. The launcher demands that the form comes first. */
const STATEMENTS: Readonly<Record<keyof Plan, (plan: Plan) => readonly string[]>> = {
  form: ({ form }) => ['form', form],
  steps: ({ steps }) => steps.flatMap(stepWords),
  rules: ({ rules }) => rules.flatMap(({ access, path }) => ['allow', access, path]),
  kept: ({ kept }) => [
    ...kept.roots.flatMap((path) => ['kept', path]),
    ...kept.sealed.flatMap((path) => ['sealed', path]),
    ...kept.hidden.flatMap((path) => ['hidden', path]),
  ],
  exec: ({ exec }) => [
    ...['exec', exec.kind],
    ...(exec.kind === 'all' ? [] : exec.programs.flatMap((program) => ['program', program])),
  ],
  limits: ({ limits }) => Object.entries(limits).flatMap(([name, value]) => ['limit', name, String(Math.ceil(value))]),
  traps: ({ traps }) => traps.flatMap((trap) => ['trap', trap]),
  cwd: ({ cwd }) => ['cwd', cwd],
  temporary: ({ temporary }) => ['temporary', temporary],
  cgroup: ({ cgroup }) => ['cgroup', cgroup ?? 'none'],
  network: ({ network }) =>
    typeof network === 'string'
      ? ['network', network]
      : ['network', NETWORK_WORDS[network.answeredBy], ...brokerWords(network)],
  stdio: ({ stdio }) => ['stdio', [stdio.in, stdio.out, stdio.err].map((stream) => STREAM_LETTERS[stream]).join('')],
  foreground: ({ foreground }) => ['foreground', foreground ? 'yes' : 'no'],
  clock: ({ clock }) => ['clock', clock],
  delivery: ({ delivery }) => ['delivery', delivery],
  probe: ({ probe }) => ['probe', probe ? 'yes' : 'no'],
}

const NETWORK_WORDS: Readonly<Record<ProxyNetwork['answeredBy'], string>> = {
  'keeper': 'broker',
  'outer-keeper': 'nested',
  'proxy': 'proxied',
}

/** The words of a plan, each ended by a NUL, the last one `end`. */
export const encodePlan = (plan: Plan): Buffer =>
  encodeWords([`cordon-plan-${PLAN_VERSION}`, ...Object.values(STATEMENTS).flatMap((words) => words(plan)), 'end'])

export const encodeCommand = ({ program, argv, environment }: Command): Buffer => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return encodeWords([program, String(argv.length), ...argv, String(variables.length), ...variables])
}

const brokerWords = ({ port, token, reaches }: ProxyNetwork): readonly string[] => [
  ...['proxy', String(port), token],
  ...reaches.flatMap((reach) => ['reach', reach.kind, reach.value, String(reach.port)]),
]

const stepWords = (step: Step): readonly string[] => {
  switch (step.kind) {
    case 'bind':
      return ['bind', step.access, step.path]
    case 'link':
      return ['link', step.path, step.target]
    case 'file':
    case 'cover':
      return [step.kind, step.path, step.content]
    default:
      return [step.kind, step.path]
  }
}

const encodeWords = (words: readonly string[]): Buffer => {
  // The rest of a word after a NUL would be read as another word.
  const broken = words.find((word) => word.includes('\0'))
  if (broken !== undefined)
    throw fail('plan-rejected', { problem: `a NUL byte in ${JSON.stringify(broken.slice(0, 80))}` })
  return bytesOfName(`${words.join('\0')}\0`)
}

/**
 * What a launcher that follows a plan reports: the number of its mounts and Landlock rules, and a sum over them. The
 * launcher makes the same sum beside the system calls themselves (native/wire/applied.h).
 */
export interface AppliedSum {
  readonly mounts: number
  readonly rules: number
  readonly sum: number
}

const BITS = { r: 1, w: 2, x: 4, d: 8, l: 16 } as const
const ZERO = '0'.charCodeAt(0)

/** A letter for each step that mounts something. The others only make folders, links and files. */
const MOUNTS: Readonly<Partial<Record<Step['kind'], string>>> = {
  bind: 'b',
  hide: 'o',
  cover: 'o',
  proc: 'n',
  scratch: 'n',
  terminals: 'n',
}

export const appliedSumOf = ({ form, steps, rules }: Plan): AppliedSum => {
  const mounts = FORM_HAS[form].ownRoot ? steps.flatMap((step) => entryOf(step) ?? []) : []
  const entries = [...mounts, ...rules.map(({ access, path }) => `a${bitsOf(access)}${path}\0`)]
  return { mounts: mounts.length, rules: rules.length, sum: sumOf(bytesOfName(entries.join(''))) }
}

const entryOf = (step: Step): string | undefined => {
  const letter = MOUNTS[step.kind]
  return letter === undefined ? undefined : `${letter}${step.kind === 'bind' ? bitsOf(step.access) : '0'}${step.path}\0`
}

/** One character: the bits of enum access, behind `0`. */
const bitsOf = (access: Access): string => {
  const bits = Object.entries(BITS).reduce((sum, [letter, bit]) => (access.includes(letter) ? sum | bit : sum), 0)
  return String.fromCharCode(bits + ZERO)
}

/** FNV-1a with 32 bits. */
const sumOf = (bytes: Uint8Array): number => {
  let sum = 2166136261
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 16777619)
  return sum >>> 0
}
