// Where the gateway waits for clients over HTTP, and by which token it knows them.
import { readFileSync, statSync } from 'node:fs'

import { CordonError, messageOf } from 'cordon/errors'
import { isLoopbackHost, parseListenAddress } from 'cordon/runtime'
import { usage } from 'cordon/commands'
import type { Arguments } from 'cordon/commands'

import { fail } from '../errors/errors.js'
import type { Listening } from '../http/index.js'

const COMMAND = 'cordon mcp'

/** Undefined: the client is on stdin and stdout. */
export const listeningBy = ({ values }: Arguments): Listening | undefined => {
  const [where, token] = [values.get('listen')?.[0], values.get('token')?.[0]]
  if (where === undefined) {
    if (token !== undefined) throw usage('--token is for --listen', COMMAND, 'add --listen 127.0.0.1:PORT')
    return undefined
  }
  const address = parseListenAddress(where)
  if (!isLoopbackHost(address.host))
    throw fail('listen-refused', {
      where,
      problem: 'tokens would go over the network in the clear',
      fix: 'listen on 127.0.0.1, behind a proxy that encrypts',
    })
  if (token === undefined)
    throw usage(
      '--listen needs --token FILE, because every program of this host can connect',
      COMMAND,
      'write a long random text to FILE (mode 600), or say --token none',
    )
  return { address, token: token === 'none' ? undefined : readToken(token) }
}

const SHORTEST = 20

const readToken = (file: string): string => {
  const invalid = (problem: string) =>
    fail('usage-error', { problem: `--token ${file}: ${problem}`, fix: 'for example: openssl rand -hex 32 > FILE' })
  let token: string
  try {
    if ((statSync(file).mode & 0o077) !== 0) throw invalid('others can read it; chmod 600 it')
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw error instanceof CordonError ? error : invalid(messageOf(error))
  }
  if (token.length < SHORTEST || !/^[!-~]+$/.test(token))
    throw invalid(`it has no token of at least ${SHORTEST} letters and digits`)
  return token
}
