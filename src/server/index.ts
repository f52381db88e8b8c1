/// <reference types="node" preserve="true" />
export { isAnswered } from './listen-socket.js'
export { parseListenAddress } from './listen-address.js'
export type { ListenAddress } from './listen-address.js'
export { CONNECTIONS, MOST_ANSWER_BYTES, STATEMENT_MS, serveStore } from './serve-store.js'
export type { ServeSettings, ServedStore } from './serve-store.js'
