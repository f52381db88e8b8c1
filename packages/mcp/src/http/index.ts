export type { OpenConnection } from './session.js'
export { openEndpoint } from './endpoint.js'
