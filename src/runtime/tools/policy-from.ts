// A policy file, or one that came with this package, for the option `policy` of a tool.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { fail } from '../../errors/index.js'
import { loadPolicyFile, nearestKey, policyOfFile } from '../../policy/index.js'

const BUNDLED = fileURLToPath(new URL('../../../policies/', import.meta.url))

const ENDING = /\.(?:ya?ml|json)$/

/**
 * What a tool is given as its policy: `policyFrom('github')` is the bundled one, a word with a slash or an ending is a
 * file. It is read with its examples, so that an error names the line.
 */
export const policyFrom = (word: string): Readonly<Record<string, unknown>> => {
  const isFile = word.includes('/') || ENDING.test(word)
  const [source, text] = isFile ? [word, read(word)] : [`bundled:${word}`, read(bundledPath(word))]
  const { hostsFrom } = loadPolicyFile(text, source)
  if (hostsFrom !== undefined)
    throw fail('client-unreadable', {
      client: hostsFrom,
      problem: `${source} takes its hosts from the configuration of that program, which only cordon run asks for`,
      fix: 'name the hosts in a policy of your own: network: [ registry.example.org ]',
    })
  const policy = policyOfFile(text, source)
  return isFile ? { ...policy, [POLICY_FILE]: resolve(word) } : policy
}

/** Stays with a policy that is taken apart and put together again. */
const POLICY_FILE = Symbol('the file of a policy')

/** The file that a policy was read from, where it was read by `policyFrom`. */
export const policyFileOf = (policy: unknown): string | undefined => {
  const file =
    typeof policy === 'object' && policy !== null
      ? (policy as Readonly<Record<symbol, unknown>>)[POLICY_FILE]
      : undefined
  return typeof file === 'string' ? file : undefined
}

const bundledPath = (name: string): string => {
  const known = existsSync(BUNDLED) ? readdirSync(BUNDLED).filter((file) => ENDING.test(file)) : []
  const file = known.find((each) => each.replace(ENDING, '') === name)
  if (file !== undefined) return `${BUNDLED}${file}`
  const names = known.map((each) => each.replace(ENDING, ''))
  const near = nearestKey(name, names)
  throw fail('option-invalid', {
    of: 'policyFrom()',
    option: 'its word',
    expected: 'the name of a bundled policy or the path of a file',
    found: JSON.stringify(name),
    fix:
      near === undefined
        ? `there are: ${names.join(', ')}; a file is named by its path, such as ./${name}.yaml`
        : `did you mean "${near}"?`,
  })
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fail(
      'file-unreadable',
      {
        path,
        problem: cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause),
        fix: `relative paths start at the current directory, ${process.cwd()}`,
      },
      cause,
    )
  }
}
