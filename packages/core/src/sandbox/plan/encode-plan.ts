// A plan and a command as the words that the launcher reads.
import { fail } from '../../errors/index.js'

import { bytesOfName } from '../grants/file-names.js'
import { STREAM_LETTERS } from './plan.js'
import type { Brokered, Command, Plan, Step } from './plan.js'

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

const NETWORK_WORDS: Readonly<Record<Brokered['answeredBy'], string>> = {
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

const brokerWords = ({ port, token, reaches }: Brokered): readonly string[] => [
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
