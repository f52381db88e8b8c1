export { openGateway } from './gateway.js'
export type { GatewayParts } from './gateway.js'
export type { ServerSource } from './server-run.js'
export { sharedName } from './several-servers.js'
