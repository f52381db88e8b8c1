export type { OpenConnection } from './connection.js'
export { openEndpoint } from './endpoint.js'
