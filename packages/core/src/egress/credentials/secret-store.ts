import { inspect } from 'node:util'

import { fail } from '../../errors/index.js'
import { coversDestination, parseDestination } from '../../policy/index.js'
import type { Credential } from '../../policy/index.js'

import type { SecretHost } from './read-secret.js'
import { readSecret } from './read-secret.js'
import type { SecretSource } from './secret-source.js'

/** A value that is not printed in messages, JSON or a debugger. */
export class Secret {
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** One character per byte. The text cannot be erased: keep it no longer than one request. */
  reveal(): string {
    return this.#bytes.toString('latin1')
  }

  /** A copy, because this one may be erased. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes)
  }

  erase(): void {
    this.#bytes.fill(0)
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** Secrets by credential id, read when needed and kept for a while. */
export interface SecretStore {
  readonly get: (credential: string) => Promise<Secret>
  /** Refuses a credential that would send the token of a login to another server. */
  readonly check: (credential: Credential) => void
  /** Whether it may go to this port of a host of its policy. The token of a login goes to one port only. */
  readonly isForPort: (credential: string, port: number) => boolean
  /** The server answered 401 or 403. After 401 the value is read again next time. */
  readonly onRefusal: (credential: string, status: number, challenge: string | undefined) => void
  readonly close: () => void
}

export interface SecretStoreSettings {
  readonly sources: ReadonlyMap<string, SecretSource>
  readonly host: SecretHost
  readonly now?: () => number
  /** How long a secret is kept if its source does not say. */
  readonly freshFor?: number
}

const FIVE_MINUTES = 300_000
/** A secret could expire on its way. In milliseconds. */
export const SECRET_MARGIN = 10_000
const LEAST_AGE = 5_000

interface Kept {
  readonly secret: Secret
  readonly since: number
  readonly until: number
}

export const createSecretStore = ({
  sources,
  host,
  now = Date.now,
  freshFor = FIVE_MINUTES,
}: SecretStoreSettings): SecretStore => {
  const kept = new Map<string, Kept>()
  const reading = new Map<string, Promise<Secret>>()
  /** Values that servers did not accept. */
  const rejected = new Map<string, Secret>()
  let isClosed = false

  const forget = (credential: string): void => {
    // A tool that provokes rejections must not cause endless reads.
    const known = kept.get(credential)
    if (known === undefined || now() - known.since < LEAST_AGE) return
    // Not erased: a request may still use it.
    kept.delete(credential)
    rejected.set(credential, known.secret)
  }
  const read = async (credential: string): Promise<Secret> => {
    const source = sources.get(credential)
    if (source === undefined) {
      throw fail('credential-missing', {
        credential,
        problem: 'nobody said where it comes from',
        fix:
          `say so: --secret ${credential}=env:NAME, or egress: { secrets: { "${credential}": "env:NAME" } } of ` +
          'createCordon(); also file:PATH, command:…, keyring:… or vault:…',
      })
    }
    const before = rejected.get(credential)
    const { bytes, expiresAt } = await readSecret(credential, source, host, before?.bytes())
    const secret = new Secret(bytes)
    if (isClosed) {
      secret.erase()
      throw fail('egress-closed', {})
    }
    kept.set(credential, {
      secret,
      since: now(),
      until: Math.min(now() + freshFor, (expiresAt ?? Infinity) - SECRET_MARGIN),
    })
    return secret
  }
  return {
    get: (credential) => {
      if (isClosed) return Promise.reject(fail('egress-closed', {}))
      const known = kept.get(credential)
      if (known !== undefined && known.until > now()) return Promise.resolve(known.secret)
      const running = reading.get(credential)
      if (running !== undefined) return running
      const begun = read(credential).finally(() => reading.delete(credential))
      reading.set(credential, begun)
      return begun
    },
    check: (credential) => {
      const source = sources.get(credential.id)
      if (source?.kind === 'login') requireOwnServer(credential, source.server)
    },
    isForPort: (credential, port) => {
      const source = sources.get(credential)
      return source?.kind !== 'login' || isOwnPort(source.server, port)
    },
    onRefusal: (credential, status, challenge) => {
      if (status === 401) forget(credential)
      const source = sources.get(credential)
      if (source?.kind === 'login') host.logins?.onRefusal(source.server, status, challenge)
    },
    close: () => {
      isClosed = true
      for (const secret of [...[...kept.values()].map((each) => each.secret), ...rejected.values()]) secret.erase()
      kept.clear()
    },
  }
}

/**
 * The token of a login is for the server that it was issued for. A policy names the hosts that get a credential, so it
 * could name another one.
 */
const requireOwnServer = ({ id, hosts, inject }: Credential, server: URL): void => {
  const source = `the login to ${server.origin}`
  const [own, exact] = [server.host, `${server.hostname}:${portOf(server)}`].map((each) =>
    parseDestination(each, source),
  )
  // Without a port a host has those of the web. `isOwnPort` then keeps the token from port 80.
  const isOwn = (host: Credential['hosts'][number]): boolean => {
    const outer = host.port.kind === 'web' ? own : exact
    return outer !== undefined && coversDestination(outer, host)
  }
  if (!hosts.every(isOwn))
    throw fail('credential-unusable', {
      credential: id,
      problem: `it is a login to ${server.origin}, and its policy would send it to another host`,
      fix: `name only the host of the server: hosts: ["${server.host}"]`,
    })
  if (inject.kind !== 'header')
    throw fail('credential-unusable', {
      credential: id,
      problem: 'the token of a login goes into a header only',
      fix: 'inject it into the header Authorization, as "Bearer {value}"',
    })
}

/** Whether a request to this port of the host is one to the server. */
const isOwnPort = (server: URL, port: number): boolean => port === portOf(server)

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))
