export type { OpenConnection } from './session.js'
export { openEndpoint } from './endpoint.js'
export type { Listening } from './endpoint.js'
