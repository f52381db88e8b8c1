import { fail } from '../errors/index.js'

import type { LoadedPolicy } from './policy-file.js'

export const withClientHosts = (policies: readonly LoadedPolicy[], _: unknown): Promise<readonly LoadedPolicy[]> => {
  const client = policies.find(({ hostsFrom }) => hostsFrom !== undefined)?.hostsFrom
  return client === undefined ? Promise.resolve(policies) : Promise.reject(fail('client-unreadable', { client, problem: 'it cannot be asked yet', fix: 'name its hosts: --net HOST' }))
}
