// A protected server, its authorization server, and a folder for logins.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { CordonError } from 'cordon/errors'
import { beginLogin } from '../../src/login/index.js'
import type { KeptLogin, LoginPlace, PendingLogin } from '../../src/login/index.js'
import { parseIpAddress } from 'cordon/policy'
import type { IpAddress } from 'cordon/policy'
import { serverAuthority } from '../../../core/test/egress/servers.js'

import { AUTHORITY_HOST, startAuthorizationServer } from './authorization-server.js'
import type { AuthorizationServer, Known } from './authorization-server.js'
import { browse } from './browser.js'
import { startProtectedServer } from './protected-server.js'
import type { ProtectedServer } from './protected-server.js'

export interface LoginStage {
  readonly authority: AuthorizationServer
  readonly server: ProtectedServer
  readonly place: LoginPlace
  readonly begin: (order?: Order) => Promise<PendingLogin>
  /** With a browser that agrees. */
  readonly logIn: (order?: Order) => Promise<KeptLogin>
}

type Order = Partial<Parameters<typeof beginLogin>[0]>

export const HERE = addressOf('127.0.0.1')

function addressOf(text: string): IpAddress {
  return parseIpAddress(text) ?? expect.fail(`no address: ${text}`)
}

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-logins-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

export const openLoginStage = async (
  known: Partial<Known> & { readonly timeout?: number } = {},
): Promise<LoginStage> => {
  const resources: string[] = []
  const authority = await startAuthorizationServer({ resources: () => resources, ...known })
  const server = await startProtectedServer(() => authority)
  resources.push(server.url.href)
  onTestFinished(async () => {
    await Promise.all([authority.close(), server.close()])
  })
  const place: LoginPlace = {
    folder: temporaryFolder(),
    network: {
      authorities: [serverAuthority.certificate],
      pins: new Map([AUTHORITY_HOST, 'mcp.test'].map((name) => [name, [HERE]])),
      ...(known.timeout === undefined ? {} : { timeout: known.timeout }),
    },
    readSource: (source) => Promise.reject(new Error(`nothing is read from ${source} here`)),
  }
  const begin: LoginStage['begin'] = async (order) => {
    const pending = await beginLogin({
      ...place,
      server: server.url,
      client: NO_CLIENT,
      redirect: undefined,
      scopes: [],
      ...order,
    })
    // Nobody waits for it in tests that bring the redirect themselves.
    pending.arrived.catch(() => undefined)
    onTestFinished(pending.close)
    return pending
  }
  const logIn: LoginStage['logIn'] = async (order) => {
    const pending = await begin(order)
    const [, redirected] = await Promise.all([browse(pending.url), pending.arrived])
    return pending.finish(redirected)
  }
  return { authority, server, place, begin, logIn }
}

const NO_CLIENT = { id: undefined, secretSource: undefined }

/** The code and message of a refusal. */
export const refusalOf = async (
  doing: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> => {
  const error = await doing.then(
    () => expect.fail('it was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof CordonError)) throw error
  return { code: error.code, message: error.message }
}
