// Logins to remote MCP servers, for commands that use or change them. Loaded only there.
import { join } from 'node:path'

import { parseSecretSource, readSecret } from 'cordon/egress'
import type { Logins } from 'cordon/egress'
import { secretHostOf } from 'cordon/runtime'
import { consentFolderOf, homeOf, reportFailure } from 'cordon/commands'
import type { EgressOrder, Environment } from 'cordon/commands'

import { accessToken, findLogin, loginAdvice } from './index.js'
import type { LoginPlace } from './index.js'

const folderOf = (environment: Environment): string => join(consentFolderOf(environment, homeOf(environment)), 'auth')

export const hasLogin = (server: string, environment: Environment): boolean =>
  findLogin(folderOf(environment), new URL(server)) !== undefined

export const loginPlaceOf = (environment: Environment, { pins, authorities }: EgressOrder): LoginPlace => ({
  folder: folderOf(environment),
  network: { pins, authorities },
  readSource: async (text) => {
    const { bytes } = await readSecret(
      CLIENT_SECRET,
      parseSecretSource(CLIENT_SECRET, text, undefined),
      secretHostOf(environment),
    )
    return bytes.toString('utf8')
  },
})

/** As errors name it. */
export const CLIENT_SECRET = 'client-secret'

/** Tells the user once which login helps. */
export const loginsOf = (environment: Environment, order: EgressOrder): Logins => {
  const place = loginPlaceOf(environment, order)
  const told = new Set<string>()
  return {
    token: (server, rejected) => accessToken(server, place, rejected),
    onRefusal: (server, status, challenge) => {
      void loginAdvice(server, place, status, challenge).then(
        (advice) => {
          if (advice === undefined || told.has(advice.message)) return
          told.add(advice.message)
          reportFailure(advice, environment)
        },
        () => undefined,
      )
    },
  }
}
