// Reads a policy file, or a bundled policy, for the option `policy` of a tool.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { codeOf, fail } from '../../errors/index.js'
import { PACKAGE_FOLDER } from '../../platform/index.js'
import { loadPolicyFile, didYouMean, policyOfFile } from '../../policy/index.js'
import type { PolicyInput } from '../../policy/index.js'

const BUNDLED = join(PACKAGE_FOLDER, 'policies')

const ENDING = /\.(?:ya?ml|json)$/

/**
 * `policyFrom('github')` is a bundled policy. A word with a slash or an ending is a file. Its examples are checked, and
 * errors name the line.
 */
export const policyFrom = (word: string): PolicyInput => {
  const isFile = word.includes('/') || ENDING.test(word)
  const [source, text] = isFile ? [word, read(word)] : [`bundled:${word}`, read(bundledPath(word))]
  loadPolicyFile(text, source)
  const policy = policyOfFile(text, source)
  return isFile ? Object.assign({ ...policy }, { [POLICY_FILE]: resolve(word) }) : policy
}

/** A key that survives `{ ...policy }`. */
const POLICY_FILE = Symbol('the file of a policy')

/** The file that `policyFrom` read a policy from. */
export const policyFileOf = (policy: unknown): string | undefined => {
  const file = (policy as Readonly<Record<symbol, unknown>> | null | undefined)?.[POLICY_FILE]
  return typeof file === 'string' ? file : undefined
}

const bundledPath = (name: string): string => {
  const known = existsSync(BUNDLED) ? readdirSync(BUNDLED).filter((file) => ENDING.test(file)) : []
  const file = known.find((each) => each.replace(ENDING, '') === name)
  if (file !== undefined) return join(BUNDLED, file)
  const names = known.map((each) => each.replace(ENDING, ''))
  throw fail('option-invalid', {
    of: 'policyFrom()',
    option: 'its word',
    expected: 'the name of a bundled policy or the path of a file',
    found: JSON.stringify(name),
    fix:
      didYouMean(name, names) ?? `there are: ${names.join(', ')}; a file is named by its path, such as ./${name}.yaml`,
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
        problem: codeOf(cause) ?? String(cause),
        fix: `relative paths start at the current directory, ${process.cwd()}`,
      },
      cause,
    )
  }
}
