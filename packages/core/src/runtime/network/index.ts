// The way to granted hosts, without the rest of the runtime.
export { createCallNetworks, openNetwork } from './call-networks.js'
export type { NetworkCall } from './call-networks.js'
export { pinsOf, refuseSlips, sourcesOf } from './egress-options.js'
export { refusePassing, secretHostOf, withoutSecrets } from './secret-settings.js'
