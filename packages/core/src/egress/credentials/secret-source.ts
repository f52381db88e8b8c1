import { resolve } from 'node:path'

import { fail } from '../../errors/index.js'

/** The source of a secret. The operator names it, never a policy. */
export type SecretSource =
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  /** `folder`: in which it runs. */
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }
  | { readonly kind: 'keyring'; readonly service: string; readonly account: string }
  /** The key/value store of Vault, version 2. */
  | { readonly kind: 'vault'; readonly mount: string; readonly path: string; readonly field: string }
  /** Sealed in a team's registry. */
  | { readonly kind: 'store'; readonly team: string; readonly ref: string }
  /** Held by Cordon itself. It may be another value each time. `what`: in words that may be shown. */
  | { readonly kind: 'given'; readonly what: string; readonly read: () => Promise<ReadSecret> | ReadSecret }
  /** The token of a login to a server, for this server alone. */
  | { readonly kind: 'login'; readonly server: URL }

/**
 * `env:NAME`, `file:PATH`, `command:PROGRAM ARGUMENTS`, `keyring:SERVICE/ACCOUNT`, `vault:MOUNT/PATH#FIELD`,
 * `store:TEAM/NAME`, `login:URL`. `folder`: where relative paths begin, and where the program runs. Undefined for a
 * source that is kept: a project must not decide what it means. `place`: the line of a file that has it.
 */
export const parseSecretSource = (
  credential: string,
  text: string,
  folder: string | undefined,
  place?: string,
): SecretSource => {
  const invalid = (problem: string): Error =>
    fail('secret-source-invalid', { credential, problem: place === undefined ? problem : `${place}: ${problem}` })
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? []
  const parts = (pattern: RegExp, expected: string): readonly string[] => {
    const found = pattern.exec(rest)
    if (found === null) throw invalid(`${scheme}: is followed by ${expected}`)
    return found.slice(1)
  }
  const absolute = (path: string): string => {
    if (!path.startsWith('/') && folder === undefined)
      throw invalid(
        `it is kept for all projects, so its ${scheme === 'file' ? 'file' : 'program'} needs an absolute path`,
      )
    return resolve(folder ?? ROOT, path)
  }
  switch (scheme) {
    case 'env':
      parts(/^[A-Za-z_]\w*$/, 'the name of a variable')
      return { kind: 'environment', name: rest }
    case 'file':
      parts(/./s, 'a path')
      return { kind: 'file', path: absolute(rest) }
    case 'command': {
      parts(/\S/, 'a program and its arguments')
      const [program = '', ...words] = rest.split(/\s+/).filter((word) => word !== '')
      const argv = [program.includes('/') ? absolute(program) : program, ...words]
      return { kind: 'command', argv, folder: folder ?? ROOT }
    }
    case 'keyring': {
      const [service = '', account = ''] = parts(/^([^/]+)\/(.+)$/s, 'SERVICE/ACCOUNT')
      return { kind: 'keyring', service, account }
    }
    case 'vault': {
      const [mount = '', path = '', field = ''] = parts(/^([^/#]+)\/([^#]+)#([^#]+)$/, 'MOUNT/PATH#FIELD')
      return { kind: 'vault', mount, path, field }
    }
    case 'store': {
      const [team = '', ref = ''] = parts(/^([^/]+)\/([^/]+)$/, 'TEAM/NAME')
      return { kind: 'store', team, ref }
    }
    case 'login': {
      parts(/^https?:\/\/[^/]/, 'the URL of a server')
      if (!URL.canParse(rest)) throw invalid('login: is followed by the URL of a server')
      return { kind: 'login', server: new URL(rest) }
    }
    default:
      // The text may be the secret itself, written here by mistake.
      throw invalid('it does not begin with env:, file:, command:, keyring:, vault:, store: or login:')
  }
}

const ROOT = '/'

/** In words that may be shown. */
export const describeSource = (source: SecretSource): string => {
  switch (source.kind) {
    case 'environment':
      return `the variable ${source.name}`
    case 'file':
      return `the file ${source.path}`
    case 'command':
      // Arguments may be secret themselves.
      return `the command ${source.argv[0] ?? ''}`
    case 'keyring':
      return `the keyring entry ${source.service}/${source.account}`
    case 'vault':
      return `the field ${source.field} of ${source.mount}/${source.path} in Vault`
    case 'store':
      return `the credential ${source.ref} of ${source.team} in the store`
    case 'given':
      return source.what
    case 'login':
      return `the login to ${source.server.href}`
  }
}

export interface ReadSecret {
  readonly bytes: Buffer
  /** In milliseconds since 1970, if the source says so. */
  readonly expiresAt?: number | undefined
}

export type Missing = (problem: string, fix: string) => Error
