import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

import { CordonError, fail } from '../../errors/index.js'
import { credentialsBoundTo, parseRequestHost, renderHost } from '../../policy/index.js'
import { renderEndpoint } from '../endpoint.js'
import type { ByteReader } from '../http/byte-reader.js'
import { readBytes } from '../http/byte-reader.js'
import { serveHttp1 } from '../http/serve-http1.js'
import { serveHttp2 } from '../http/serve-http2.js'
import { recordIfPossible, violationSeen } from '../record.js'
import { findAddresses } from '../rules/address-guard.js'
import type { Denial } from '../rules/denial.js'
import { EgressDenied, denial } from '../rules/denial.js'
import type { Admission } from '../rules/judge.js'
import { BUFFERED, dial } from '../upstream/dial.js'

import type { ClientHello } from './client-hello.js'
import { MAX_HELLO_BYTES, readClientHello } from './client-hello.js'
import { placeOf } from './context.js'
import type { Connection, ProxyParts } from './context.js'
import { forwarder } from './forward.js'
import type { RelayedBytes } from './relay.js'
import { relay } from './relay.js'
import type { Lookout, Patience } from './sniff.js'
import { ENDLESS, lookOut, sniff } from './sniff.js'

/**
 * How long a tool may be silent until the server may speak first, as in some protocols, and how long it may pause in
 * its first line until that is passed on.
 */
const PATIENCE: Patience = { silence: 150, hesitation: 500 }
const HELLO_TIMEOUT = 30_000

/** Serves one admitted connection until it ends. Never throws: a failure closes it. */
export const serveConnection = async (
  stream: Duplex,
  connection: Connection,
  admission: Admission,
  shared: ProxyParts,
): Promise<void> => {
  const { call, endpoint } = connection
  const place = placeOf(connection)
  const started = shared.now()
  let passed: RelayedBytes = { sent: 0, received: 0 }
  let problem: string | null = null
  stream.on('error', () => undefined)
  // A host with a credential gets no bytes that are not inspected.
  const mayBeOther =
    admission.mayBeOther && credentialsBoundTo(call.rights.credentials, endpoint.host, endpoint.port).length === 0
  try {
    await shared.record({
      type: 'egress.opened',
      ...place,
      treatment: admission.treatment === 'stream' && !mayBeOther ? 'http' : admission.treatment,
    })
    passed = (await serve(stream, { connection, shared, treatment: admission.treatment, mayBeOther })) ?? passed
  } catch (error) {
    if (error instanceof EgressDenied)
      await recordIfPossible(shared.record, violationSeen(call.rights.callId, endpoint, error.denial))
    else problem = error instanceof CordonError ? error.code : 'egress-closed'
  }
  stream.destroy()
  await recordIfPossible(shared.record, {
    type: 'egress.closed',
    ...place,
    bytes_sent: passed.sent,
    bytes_received: passed.received,
    duration_ms: shared.now() - started,
    problem,
  })
}

interface Serving {
  readonly connection: Connection
  readonly shared: ProxyParts
  readonly treatment: Admission['treatment']
  readonly mayBeOther: boolean
}

const serve = async (stream: Duplex, serving: Serving): Promise<RelayedBytes | undefined> => {
  const reader = readBytes(stream)
  const begun = await begin(stream, reader, serving, undefined)
  if (begun.kind === 'relayed') return begun.bytes
  if (begun.opening !== 'tls') return speak(stream, reader, begun.opening, 'http', serving)
  const hello = await readHello(reader)
  const stranger = serverNameProblem(hello, serving)
  if (stranger !== undefined) throw new EgressDenied(stranger)
  if (serving.treatment === 'direct') return pass(stream, reader, await reach(serving, undefined))
  const secured = await terminate(stream, reader, hello, serving)
  if (secured.alpnProtocol === 'h2') {
    await serveHttp2(secured, 'https', forwarder(serving.connection, serving.shared), tellMalformed(secured, serving))
    return undefined
  }
  const inside = readBytes(secured)
  const inner = await begin(secured, inside, serving, hello)
  return inner.kind === 'relayed' ? inner.bytes : speak(secured, inside, inner.opening, 'https', serving, hello)
}

type Begun =
  | { readonly kind: 'relayed'; readonly bytes: RelayedBytes | undefined }
  | { readonly kind: 'opening'; readonly opening: Spoken }

type Spoken = 'tls' | 'http1' | 'http2' | 'other' | 'hesitant'

/** Waits for the first bytes. In some protocols the server speaks first: then the first speaker decides. */
const begin = async (
  stream: Duplex,
  reader: ByteReader,
  serving: Serving,
  hello: ClientHello | undefined,
): Promise<Begun> => {
  const opening = await sniff(reader, serving.mayBeOther ? PATIENCE : ENDLESS)
  if (opening === 'ended') return { kind: 'relayed', bytes: undefined }
  if (opening !== 'silent') return { kind: 'opening', opening }
  const server = await reach(serving, hello)
  const spoken = await Promise.race([sniff(reader, { ...PATIENCE, silence: Infinity }), hasSpoken(server)])
  if (spoken === 'server') return { kind: 'relayed', bytes: await pass(stream, reader, server) }
  server.destroy()
  return spoken === 'ended' || spoken === 'silent'
    ? { kind: 'relayed', bytes: undefined }
    : { kind: 'opening', opening: spoken }
}

const hasSpoken = (server: Duplex): Promise<'server' | 'ended'> =>
  new Promise((resolve) => {
    const settle = (): void => {
      server.off('readable', settle).off('close', settle)
      resolve(server.readableLength > 0 ? 'server' : 'ended')
    }
    server.on('readable', settle).on('close', settle)
  })

const tellMalformed =
  (stream: Duplex, { connection, shared }: Serving) =>
  (problem: string): void => {
    const seen = violationSeen(connection.call.rights.callId, connection.endpoint, denial('malformed', problem))
    void Promise.resolve(shared.record(seen)).catch(() => stream.destroy())
  }

const speak = async (
  stream: Duplex,
  reader: ByteReader,
  opening: Spoken,
  scheme: 'http' | 'https',
  serving: Serving,
  hello?: ClientHello,
): Promise<RelayedBytes | undefined> => {
  const { connection, shared, mayBeOther } = serving
  switch (opening) {
    case 'http1':
      await serveHttp1(stream, reader, {
        scheme,
        handle: forwarder(connection, shared),
        onMalformed: tellMalformed(stream, serving),
      })
      return undefined
    case 'http2':
      reader.release()
      await serveHttp2(stream, scheme, forwarder(connection, shared), tellMalformed(stream, serving))
      return undefined
    case 'tls':
    case 'other':
    case 'hesitant':
      if (!mayBeOther || opening === 'tls')
        throw new EgressDenied(
          denial(
            'protocol',
            'only HTTP is granted here, and this is something else',
            `network: [${JSON.stringify(renderEndpoint(connection.endpoint))}]`,
          ),
        )
      return pass(stream, reader, await reach(serving, hello), opening === 'hesitant' ? lookOut() : undefined)
  }
}

const readHello = async (reader: ByteReader): Promise<ClientHello> => {
  const malformed = (): Error => new EgressDenied(denial('malformed', 'its TLS cannot be read'))
  const deadline = Date.now() + HELLO_TIMEOUT
  for (;;) {
    const reading = readClientHello(reader.peek())
    if (reading.kind === 'hello') return reading.hello
    if (reading.kind === 'malformed') throw malformed()
    // Read again only when the missing bytes may have arrived, so that many small pieces cost little.
    const enough = reader.peek().length + reading.missing
    while (reader.peek().length < enough)
      if (enough > MAX_HELLO_BYTES || Date.now() > deadline || !(await reader.more())) throw malformed()
  }
}

/** TLS has to name the host of CONNECT or of the name lookup. */
const serverNameProblem = (
  { serverName }: ClientHello,
  { connection: { endpoint }, treatment }: Serving,
): Denial | undefined => {
  if (serverName === undefined) {
    // Nothing inside is inspected, so only TLS can show the host.
    const mustName = treatment === 'direct' && endpoint.host.kind === 'name'
    return mustName
      ? denial('mismatch', `its TLS does not say that ${renderHost(endpoint.host)} is meant (no SNI)`)
      : undefined
  }
  const named = parseRequestHost(serverName)
  if (named !== undefined && renderHost(named) === renderHost(endpoint.host)) return undefined
  return denial(
    'mismatch',
    `the connection leads to ${renderHost(endpoint.host)}, but its TLS is for ` +
      JSON.stringify(serverName.slice(0, 260)),
  )
}

const REJECTION =
  /ALERT_(?<alert>UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|CERTIFICATE_REVOKED|CERTIFICATE_REQUIRED)$/

const alertIn = ({ code = '' }: Error & { readonly code?: string }): string | undefined =>
  REJECTION.exec(code)?.groups?.['alert']?.toLowerCase().replaceAll('_', ' ')

const terminate = (
  stream: Duplex,
  reader: ByteReader,
  { protocols }: ClientHello,
  { connection: { call, endpoint }, shared: { authority }, mayBeOther }: Serving,
): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    reader.release()
    // An unknown protocol is passed on if any is granted.
    const [first] = protocols
    const isWeb = protocols.length === 0 || protocols.some((protocol) => protocol === 'h2' || protocol === 'http/1.1')
    const offered = !isWeb && mayBeOther && first !== undefined ? [first] : ['h2', 'http/1.1']
    const secured = new TLSSocket(stream, {
      isServer: true,
      secureContext: authority.contextFor(endpoint.host),
      ALPNProtocols: offered,
      ...BUFFERED,
    })
    const untrusted = (problem: string): Error =>
      fail('proxy-untrusted', {
        host: renderHost(endpoint.host),
        problem,
        entry: `{ host: ${JSON.stringify(renderHost(endpoint.host))}, action: direct }`,
      })
    const refuse = (problem?: Error): void => {
      clearTimeout(timer)
      // Some clients close without an alert when they reject the certificate. A tool also closes when its call ends.
      reject(call.isOver ? fail('egress-closed', {}) : (problem ?? untrusted('it broke off the handshake')))
      secured.destroy()
    }
    const onClose = (): void => {
      refuse()
    }
    // Only reading shows an end, so that no departed client is waited for.
    const onReadable = (): void => {
      if (secured.readableLength === 0) secured.read()
    }
    const timer = setTimeout(refuse, HELLO_TIMEOUT, fail('egress-closed', {}))
    secured.once('error', (error: Error & { readonly code?: string }) => {
      const alert = alertIn(error)
      refuse(
        alert !== undefined
          ? untrusted(alert)
          : error.code?.startsWith('ERR_SSL_') === true
            ? fail('egress-closed', {})
            : undefined,
      )
    })
    secured.once('close', onClose).once('end', onClose).on('readable', onReadable)
    stream.once('close', () => {
      secured.destroy()
    })
    secured.once('secure', () => {
      clearTimeout(timer)
      secured.off('close', onClose).off('end', onClose).off('readable', onReadable)
      secured.on('error', () => undefined)
      // As Node's own server does. HTTP/2 waits for it.
      Object.assign(secured, { secureConnecting: false })
      resolve(secured)
    })
  })

/** Connects to the server for bytes that are not HTTP or not inspected. With TLS if the tool's TLS ended here. */
const reach = async (
  { connection: { call, endpoint }, shared }: Serving,
  hello: ClientHello | undefined,
): Promise<Duplex> => {
  const socket = await dial(endpoint, await findAddresses(endpoint, call.rights, shared), shared.isNested())
  return hello === undefined
    ? socket
    : shared.secure(socket, endpoint, { protocols: hello.protocols.slice(0, 1), client: undefined })
}

/** `lookout`: for a tool that paused in its first line. Otherwise a pause would get a request past all checks. */
const pass = async (stream: Duplex, reader: ByteReader, server: Duplex, lookout?: Lookout): Promise<RelayedBytes> => {
  // The tool has ended its stream, which takes nothing back.
  const last = stream.readableEnded ? reader.take(reader.peek().length) : undefined
  if (last !== undefined && lookout?.mayPass(last) !== false) server.write(last)
  reader.release()
  if (lookout?.sawRequest() === true) server.destroy()
  const { sent, received } = await relay(stream, server, { mayPass: lookout?.mayPass })
  if (lookout?.sawRequest() === true)
    throw new EgressDenied(denial('protocol', 'its first line came in pieces, and turned out to be a request of HTTP'))
  return { sent: sent + (last?.length ?? 0), received }
}
