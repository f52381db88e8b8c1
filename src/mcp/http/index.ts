export { openEndpoint } from './endpoint.js'
