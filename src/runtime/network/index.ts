// The way to granted hosts, without the rest of the runtime.
export { createCallNetworks } from './call-networks.js'
export type { CallNetworks, NetworkCall } from './call-networks.js'
export { pinsOf, refuseSlips, sourcesOf } from './egress-options.js'
export type { EgressOptions } from './egress-options.js'
export { openNetwork, withViolations } from './network.js'
export type { AdmittedCall, Admission, NetworkSettings, RuntimeNetwork } from './network.js'
export { NO_SECRETS, refusePassing, secretHostOf, withoutSecrets } from './secret-settings.js'
export type { SecretSettings } from './secret-settings.js'
