import { parseAbsolutePath, parseRequestHost } from '../../src/policy/index.js'
import type { NetworkRequest, NetworkUse, RequestWitness } from '../../src/policy/index.js'

/** `GET a.org/path`, `stream a.org:22`, `direct 10.0.0.1:443` */
export const request = (text: string): NetworkRequest => {
  const {
    verb = '',
    host = '',
    port = '443',
    path = '/',
  } = /^(?<verb>\S+) (?<host>\[[^\]]*\]|[^:/]+)(:(?<port>\d+))?(?<path>\/.*)?$/.exec(text)?.groups ?? {}
  return { host: hostOf(host), port: Number(port), use: useOf(verb, path) }
}

const hostOf = (text: string): NetworkRequest['host'] => {
  const host = parseRequestHost(text)
  if (host === undefined) throw new Error(`no host: ${text}`)
  return host
}

const useOf = (verb: string, path: string): NetworkUse =>
  verb === 'stream' || verb === 'direct'
    ? { kind: verb }
    : { kind: 'http', method: verb, paths: [parseAbsolutePath(path)] }

export const requestOf = ({ host, port, use }: RequestWitness): NetworkRequest => ({
  host: hostOf(host),
  port,
  use:
    use.kind === 'http'
      ? { kind: 'http', method: use.method, paths: use.path === 'ambiguous' ? 'ambiguous' : [use.path] }
      : use,
})
