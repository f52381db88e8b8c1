// `--upstream-ca`: loaded only where it is given.

import { problemOfCertificates } from '../egress/index.js'
import { fail, reasonOf } from '../errors/index.js'
import { readFileSync } from '../platform/index.js'

export const readAuthorities = (path: string): string => {
  const text = read(path)
  const wrong = problemOfCertificates(text)
  if (wrong !== undefined)
    throw fail('usage-error', {
      problem: `--upstream-ca ${path}: ${wrong.problem}`,
      fix: wrong.fix.replaceAll('FILE', path),
    })
  return text
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fail(
      'usage-error',
      {
        problem: `--upstream-ca ${path} cannot be read: ${reasonOf(cause)}`,
        fix: 'name a file with certificates in PEM',
      },
      cause,
    )
  }
}
