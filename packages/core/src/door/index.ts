export { bodyBytes, guardRequest } from './guard-request.js'
export type { Door } from './guard-request.js'
export {
  isLoopbackHost,
  listenOnAddress,
  parseListenAddress,
  renderAddress,
  requireEncrypted,
  requireSafe,
} from './listen-address.js'
export type { ListenAddress } from './listen-address.js'
