import { readClientCertificate } from './client-certificate.js'
import type { Valued } from './draft.js'
import { basicAuthorization } from './inject.js'
import { readAwsKeys } from './sigv4.js'

/** The secret parts of a value that are sent to a server, and texts made of them. Answers are searched for these. */
export const sentTexts = ({ credential, value }: Valued): readonly string[] => {
  const { inject, id } = credential
  switch (inject.kind) {
    case 'basic':
      return [value, basicAuthorization(inject.user, value).slice('Basic '.length)]
    case 'aws-sigv4': {
      // The id of a key is public.
      const { secretAccessKey, sessionToken } = readAwsKeys(id, value)
      return [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    }
    case 'client-certificate':
      // The key never leaves this process.
      return []
    case 'header':
    case 'query':
    case 'placeholder':
      return [value]
  }
}

/** The parts that must not be in a cell. Of a key in PEM each line, because variables often hold it on one line. */
export const keptTexts = (valued: Valued): readonly string[] =>
  valued.credential.inject.kind === 'client-certificate'
    ? readClientCertificate(valued.credential.id, valued.value)
        .privateKey.split(/\s+/)
        .filter((line) => line.length >= LONG_LINE)
    : sentTexts(valued)

const LONG_LINE = 48
