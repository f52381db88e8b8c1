import { readClientCertificate } from './client-certificate.js'
import type { Valued } from './inject.js'
import { basicAuthorization } from './inject.js'
import { readAwsKeys } from './sigv4.js'

/**
 * The parts of a value that are secret and go to a server, and what is made of them: what an answer is searched for.
 */
export const sentTexts = ({ credential, value }: Valued): readonly string[] => {
  const { inject, id } = credential
  switch (inject.kind) {
    case 'basic':
      return [value, basicAuthorization(inject.user, value).slice('Basic '.length)]
    case 'aws-sigv4': {
      // The id of a key is public; the rest is not.
      const { secretAccessKey, sessionToken } = readAwsKeys(id, value)
      return [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    }
    case 'client-certificate':
      // It never leaves this process: only what it signed does.
      return []
    case 'header':
    case 'query':
    case 'placeholder':
      return [value]
  }
}

/**
 * The parts that nobody in a cell may have, sent or not. Of a key in PEM every line, because variables are often
 * written on one.
 */
export const keptTexts = (valued: Valued): readonly string[] =>
  valued.credential.inject.kind === 'client-certificate'
    ? readClientCertificate(valued.credential.id, valued.value)
        .privateKey.split(/\s+/)
        .filter((line) => line.length >= LONG_LINE)
    : sentTexts(valued)

const LONG_LINE = 48
