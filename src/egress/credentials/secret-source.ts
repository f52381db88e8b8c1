import { fail } from '../../errors/index.js'

/** Where the value of a credential comes from. Named by the operator, never by a policy. */
export type SecretSource =
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] }
  | { readonly kind: 'keyring'; readonly service: string; readonly account: string }
  /** The key/value store of Vault, version 2. */
  | { readonly kind: 'vault'; readonly mount: string; readonly path: string; readonly field: string }
  /** Kept by a team in its registry, sealed. */
  | { readonly kind: 'store'; readonly team: string; readonly ref: string }

/**
 * `env:NAME`, `file:PATH`, `command:PROGRAM ARGUMENTS`, `keyring:SERVICE/ACCOUNT`, `vault:MOUNT/PATH#FIELD`,
 * `store:TEAM/NAME`.
 */
export const parseSecretSource = (credential: string, text: string): SecretSource => {
  const invalid = (problem: string): Error => fail('secret-source-invalid', { credential, problem })
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? []
  switch (scheme) {
    case 'env':
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) throw invalid('env: is followed by the name of a variable')
      return { kind: 'environment', name: rest }
    case 'file':
      if (rest === '') throw invalid('file: is followed by a path')
      return { kind: 'file', path: rest }
    case 'command': {
      const argv = rest.split(/\s+/).filter((word) => word !== '')
      if (argv.length === 0) throw invalid('command: is followed by a program and its arguments')
      return { kind: 'command', argv }
    }
    case 'keyring': {
      const [, service, account] = /^([^/]+)\/(.+)$/s.exec(rest) ?? []
      if (service === undefined || account === undefined) throw invalid('keyring: is followed by SERVICE/ACCOUNT')
      return { kind: 'keyring', service, account }
    }
    case 'vault': {
      const [, mount, path, field] = /^([^/#]+)\/([^#]+)#([^#]+)$/.exec(rest) ?? []
      if (mount === undefined || path === undefined || field === undefined)
        throw invalid('vault: is followed by MOUNT/PATH#FIELD')
      return { kind: 'vault', mount, path, field }
    }
    case 'store': {
      const [, team, ref] = /^([^/]+)\/([^/]+)$/.exec(rest) ?? []
      if (team === undefined || ref === undefined) throw invalid('store: is followed by TEAM/NAME')
      return { kind: 'store', team, ref }
    }
    default:
      // The text itself may be the value that somebody wrote here by mistake.
      throw invalid('it does not begin with env:, file:, command:, keyring:, vault: or store:')
  }
}

/** A source in words that may be shown. */
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
  }
}
