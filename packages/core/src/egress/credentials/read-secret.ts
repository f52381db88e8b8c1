import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

import { codeOf, fail } from '../../errors/index.js'

import type { Missing, ReadSecret, SecretSource } from './secret-source.js'
import { describeSource } from './secret-source.js'
import type { VaultAccess } from './vault.js'
import { readVault } from './vault.js'

/** What sources need from the host. This room starts no processes and reads no environment. */
export interface SecretHost {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly run: (
    argv: readonly string[],
    folder: string,
  ) => Promise<
    | { readonly kind: 'exited'; readonly status: number; readonly output: Buffer }
    | { readonly kind: 'failed'; readonly problem: string }
  >
  readonly platform: string
  readonly vault: VaultAccess | undefined
  /** Opens a credential of a team's registry. Only runners can. */
  readonly stored?: ((team: string, ref: string) => Promise<Buffer>) | undefined
  readonly logins?: Logins | undefined
}

/** Logins to servers. Only commands of Cordon have them. */
export interface Logins {
  /** `rejected`: a token that the server did not accept. */
  readonly token: (server: URL, rejected: Buffer | undefined) => Promise<ReadSecret>
  /** A server answered 401 or 403. `challenge`: its header `WWW-Authenticate`. */
  readonly onRefusal: (server: URL, status: number, challenge: string | undefined) => void
}

const MAX_BYTES = 65_536

/** Reads a value. Errors contain nothing of it. `rejected`: a value that the server did not accept. */
export const readSecret = async (
  credential: string,
  source: SecretSource,
  host: SecretHost,
  rejected?: Buffer,
): Promise<ReadSecret> => {
  const missing = (problem: string, fix: string): Error => fail('credential-missing', { credential, problem, fix })
  const { bytes, expiresAt } = await readFrom(source, host, missing, rejected)
  const value = withoutLineEnd(bytes)
  if (value.length === 0) throw missing(`${describeSource(source)} is empty`, 'put the value there')
  if (value.length > MAX_BYTES)
    throw missing(`${describeSource(source)} is longer than ${MAX_BYTES} bytes`, 'name the value alone')
  return { bytes: value, expiresAt }
}

const readFrom = async (
  source: SecretSource,
  host: SecretHost,
  missing: Missing,
  rejected: Buffer | undefined,
): Promise<ReadSecret> => {
  switch (source.kind) {
    case 'environment': {
      const value = host.environment[source.name]
      if (value === undefined)
        throw missing(
          `${describeSource(source)} is not set`,
          `set ${source.name} in the environment of Cordon; createCordon() looks for it in its option environment`,
        )
      return { bytes: Buffer.from(value, 'utf8') }
    }
    case 'file':
      return { bytes: await readFile(source.path, missing) }
    case 'command':
      return { bytes: await outputOf(source.argv, source.folder, host, `${describeSource(source)} failed`, missing) }
    case 'keyring': {
      const argv =
        host.platform === 'darwin'
          ? ['security', 'find-generic-password', '-w', '-s', source.service, '-a', source.account]
          : ['secret-tool', 'lookup', 'service', source.service, 'account', source.account]
      const fix = storingCommand(source, host.platform)
      return { bytes: await outputOf(argv, '/', host, `${describeSource(source)} is not there`, missing, fix) }
    }
    case 'vault':
      if (host.vault === undefined)
        throw missing(
          'it lies in Vault, whose address is not known',
          'set VAULT_ADDR and VAULT_TOKEN in the environment of Cordon, or egress.vault of createCordon()',
        )
      return readVault(source, host.vault, missing)
    case 'store':
      if (host.stored === undefined)
        throw missing(
          'it lies in the store of a team, which only runners read',
          'run the tool by cordon runner --key FILE, or name another source',
        )
      return { bytes: await host.stored(source.team, source.ref) }
    case 'given':
      return source.read()
    case 'login':
      if (host.logins === undefined)
        throw missing('it is a login, which only commands of Cordon have', 'run the tool by cordon run or cordon mcp')
      return host.logins.token(source.server, rejected)
  }
}

/** Both commands ask for the value, so that it is in no list of commands. */
const storingCommand = ({ service, account }: Extract<SecretSource, { kind: 'keyring' }>, platform: string): string =>
  `store it: ${platform === 'darwin' ? `security add-generic-password -s ${service} -a ${account} -w` : `secret-tool store --label=${service} service ${service} account ${account}`}`

const outputOf = async (
  argv: readonly string[],
  folder: string,
  host: SecretHost,
  problem: string,
  missing: Missing,
  fix?: string,
): Promise<Buffer> => {
  const outcome = await host.run(argv, folder)
  const program = argv[0] ?? ''
  if (outcome.kind === 'failed')
    throw missing(
      `${problem}: ${program} cannot be started (${outcome.problem})`,
      `install ${program}, or name another source`,
    )
  if (outcome.status !== 0)
    throw missing(
      `${problem}: ${program} ended with status ${outcome.status}`,
      fix ?? `run ${program} by hand to see why`,
    )
  return outcome.output
}

const readFile = async (path: string, missing: Missing): Promise<Buffer> => {
  try {
    // Does not wait for a pipe. A device has no end.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile()) throw missing(`${path} is not a file`, 'name a file')
      const buffer = Buffer.alloc(MAX_BYTES + 1)
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined || code.includes('-')) throw error
    throw missing(
      code === 'ENOENT' ? `the file ${path} does not exist` : `the file ${path} cannot be read (${code})`,
      `put the value into ${path}`,
    )
  }
}

const withoutLineEnd = (bytes: Buffer): Buffer => {
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : undefined
  return bytes.subarray(0, end)
}
