// The native backend as candidates of the suite: one per form.
import { readFileSync } from 'node:fs'

import type { Form } from '../../src/sandbox/index.js'
import { openSandbox } from '../../src/sandbox/index.js'

import type { Backend, Candidate } from './backend.js'

export const nativeCandidate = async (form: Form, gaps: Candidate['gaps'], launcher?: string): Promise<Candidate> => {
  const options = { form, ...(launcher === undefined ? {} : { launcher }) }
  const probe = await openSandbox(options)
  const attempt = probe.host[form]
  await probe.close()
  return {
    name: `native (${form})`,
    missing: attempt.held ? undefined : `${attempt.stage}: ${attempt.problem}`,
    gaps,
    open: async () => {
      const sandbox = await openSandbox(options)
      return { ...sandbox, cellProcesses: supervisors } satisfies Backend
    },
  }
}

/** Each cell has a supervisor, a child of the nursery that this process started. */
export const supervisors = (): readonly number[] =>
  childrenOf(process.pid)
    .filter((pid) => argumentsOf(pid).includes('nursery'))
    .flatMap(childrenOf)

export const childrenOf = (pid: number): readonly number[] =>
  textOf(`/proc/${String(pid)}/task/${String(pid)}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number)

export const argumentsOf = (pid: number): readonly string[] => textOf(`/proc/${String(pid)}/cmdline`).split('\0')

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
