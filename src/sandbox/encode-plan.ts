import { fail } from '../errors/index.js'

import { bytesOfName } from './file-names.js'
import type { Command, Plan, Stdio, Step, Stream } from './plan.js'

export const PLAN_VERSION = '1'

/** The plan as the launcher reads it: words, each ended by a NUL, the last one `end`. */
export const encodePlan = (plan: Plan): Buffer => {
  const words = [`cordon-plan-${PLAN_VERSION}`, 'form', plan.form]
  for (const step of plan.steps) words.push(...stepWords(step))
  for (const { access, path } of plan.rules) words.push('allow', access, path)
  for (const program of plan.programs ?? []) words.push('program', program)
  for (const [name, value] of Object.entries(plan.limits)) words.push('limit', name, String(Math.ceil(value)))
  for (const trap of plan.traps) words.push('trap', trap)
  words.push('cwd', plan.cwd, 'temporary', plan.temporary, 'network', plan.network, 'stdio', stdioLetters(plan.stdio))
  words.push('foreground', plan.foreground ? 'yes' : 'no', 'probe', plan.probe ? 'yes' : 'no', 'end')
  return encodeWords(words)
}

export const encodeCommand = ({ program, argv, environment }: Command): Buffer => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return encodeWords([program, String(argv.length), ...argv, String(variables.length), ...variables])
}

const STREAM_LETTERS: Readonly<Record<Stream, string>> = { direct: 'd', frames: 'f', terminal: 't' }

const stdioLetters = ({ in: input, out, err }: Stdio): string => [input, out, err].map((stream) => STREAM_LETTERS[stream]).join('')

const stepWords = (step: Step): readonly string[] => {
  switch (step.kind) {
    case 'bind':
      return ['bind', step.access, step.path]
    case 'link':
      return ['link', step.path, step.target]
    case 'file':
      return ['file', step.path, step.content]
    default:
      return [step.kind, step.path]
  }
}

const encodeWords = (words: readonly string[]): Buffer => {
  // A NUL inside a word would let its rest pass for words of their own.
  const broken = words.find((word) => word.includes('\0'))
  if (broken !== undefined) throw fail('plan-rejected', { problem: `a NUL byte in ${JSON.stringify(broken.slice(0, 80))}` })
  return bytesOfName(`${words.join('\0')}\0`)
}
