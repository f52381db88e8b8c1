import type { HeaderList } from '../http/header-list.js'
import { withoutHeaders } from '../http/header-list.js'

/**
 * Headers with which services identify users. A tool that sends one beside our credential would act as another user.
 */
const HEADERS = new Set([
  'authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-apikey',
  'x-auth-token',
  'x-access-token',
  'x-goog-api-key',
  'x-goog-iam-authorization-token',
  'private-token',
  'job-token',
  'deploy-token',
  'x-gitlab-token',
  'x-github-token',
  'x-vault-token',
  'x-amz-security-token',
  'x-ms-authorization-auxiliary',
  'ocp-apim-subscription-key',
  'x-functions-key',
  'x-session-token',
  'x-token',
  'x-authorization',
  'x-forwarded-authorization',
  'dpop',
])

const PARAMETERS = new Set([
  'access_token',
  'api_key',
  'apikey',
  'api-key',
  'auth_token',
  'authtoken',
  'oauth_token',
  'private_token',
  'job_token',
  'id_token',
  'client_secret',
  'x-amz-signature',
  'x-amz-credential',
  'x-amz-security-token',
  'x-amz-date',
  'x-amz-algorithm',
  'x-amz-signedheaders',
  'x-amz-expires',
  'x-goog-signature',
  'x-goog-credential',
])

/** Credentials on these hosts only. */
const PARAMETERS_OF_HOSTS: readonly (readonly [hosts: RegExp, parameter: string])[] = [
  [/(^|\.)googleapis\.com(:\d+)?$/, 'key'],
  [/\.(blob|queue|table|file)\.core\.windows\.net(:\d+)?$/, 'sig'],
]

export const withoutForeignHeaders = (headers: HeaderList): HeaderList => withoutHeaders(headers, HEADERS)

export const withoutForeignParameters = (target: string, authority: string): string =>
  filterQuery(
    target,
    (name) =>
      !PARAMETERS.has(name) &&
      !PARAMETERS_OF_HOSTS.some(([hosts, parameter]) => parameter === name && hosts.test(authority)),
  )

export const filterQuery = (target: string, isKept: (name: string) => boolean): string => {
  const mark = target.indexOf('?')
  if (mark === -1) return target
  const kept = target
    .slice(mark + 1)
    .split('&')
    .filter((part) => isKept(decodedName(part)))
  return kept.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${kept.join('&')}`
}

const decodedName = (part: string): string => {
  const name = (part.split('=')[0] ?? '').replaceAll('+', ' ')
  try {
    return decodeURIComponent(name).toLowerCase()
  } catch {
    return name.toLowerCase()
  }
}
