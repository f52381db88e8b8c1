export {
  consentStore,
  consentTo,
  createConsent,
  differenceOf,
  listConsents,
  namesCordon,
  warningsOf,
  writeConsent,
} from '../consent/index.js'
export type { KeptConsent } from '../consent/index.js'
export { openGateway } from './gateway.js'
export type { GatewayParts } from './gateway.js'
export type { ServerSource } from './server-run.js'
export { sharedName } from './several-servers.js'
export { CLIENT_FEATURE_NAMES } from '../wire/era-2025.js'
export type { ClientFeature } from '../wire/era-2025.js'
export { createLineReader, lineForClient } from '../wire/lines.js'
